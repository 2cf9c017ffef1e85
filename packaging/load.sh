#!/usr/bin/env bash
# Runs e2e/load on a daemon of its own, with whatever flags it is given.
set -euo pipefail
cd "$(dirname "$0")/.."

place=$(mktemp -d "$(packaging/fit-dir.sh load)/confined-load.XXXXXX")
trap 'rm -rf "$place"' EXIT
trap 'exit 1' HUP INT TERM

(cd e2e/load && go build -o "$place/load" .)
"$place/load" -binary "$PWD/bin/confined" -node "$PWD/.node/26.8.1/bin/node" -place "$place" "$@"
