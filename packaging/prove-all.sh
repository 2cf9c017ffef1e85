#!/usr/bin/env bash
# Runs the whole boundary suite with every Node of internal/pins/proven.txt that
# is for this machine, fetching those that are not here, and prints one line
# for each. Expects bin/confined. It fails if any of them does, and tries the
# others all the same.
set -euo pipefail
cd "$(dirname "$0")/.."
trap 'exit 1' HUP INT TERM # else the next one would be tried

entries=$(packaging/proven.sh)
failed=0
while read -r version _ <&3; do
	packaging/fetch-node.sh "$version" && packaging/prove-node.sh "$version" ".node/$version/bin/node" || failed=1
done 3<<<"$entries"
exit $failed
