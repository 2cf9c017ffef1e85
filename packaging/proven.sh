#!/bin/sh
# Prints the entries of internal/pins/proven.txt for this machine, or the one
# of a version, and nothing where there is none:
#   packaging/proven.sh [VERSION]
# Each is a line: VERSION SHA256-OF-BIN/NODE NPM-PACKAGE SHA512-OF-THE-PACKAGE
set -eu
cd "$(dirname "$0")/.."

fail() { echo "proven: $1" >&2; exit 1; }

case "$(uname -sm)" in
"Linux x86_64") here="linux amd64" ;;
Linux*) fail "the proven Nodes are linux-x64 builds and this machine is $(uname -m); running there comes with later work" ;;
Darwin*) fail "no Node is built in for macOS, since nobody has proven one there: unpack nodejs.org's Node 26.8.1 for macOS (arm64), then see docs/prove-on-mac.md" ;;
*) fail "the proven Nodes are Linux builds, and nothing runs on $(uname -s)" ;;
esac

while read -r os arch version rest; do
	test "$os $arch" = "$here" || continue
	test "${1-$version}" = "$version" || continue
	echo "$version $rest"
done <internal/pins/proven.txt
