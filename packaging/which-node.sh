#!/bin/sh
# Prints the absolute path of the Node that `make demo` runs programs with:
#   packaging/which-node.sh
#
# On Linux it is the pinned one, which `make node` brings. No Node is pinned for
# macOS: there it is the caller's own, CONFINED_NODE or else node in PATH, and
# the demo has `confined prove` try the boundary with it first.
set -eu

fail() { echo "which-node: $1" >&2; exit 1; }

if test "$(uname -s)" != Darwin; then
	echo "$(cd "$(dirname "$0")/.." && pwd -P)/.node/26.8.1/bin/node"
	exit
fi
node=$(command -v -- "${CONFINED_NODE:-node}") ||
	fail "there is no ${CONFINED_NODE:-node in PATH}: unpack nodejs.org's Node 26.8.1 for macOS (arm64), and name it, as in CONFINED_NODE=\$HOME/node-v26.8.1-darwin-arm64/bin/node make demo"
case $node in
/*) echo "$node" ;;
*) echo "$PWD/$node" ;;
esac
