#!/bin/sh
# Brings a Node of internal/pins/proven.txt into .node/<version>/bin/node of
# this repository: the one that the tests run with, or the version named.
#   packaging/fetch-node.sh [VERSION]
#
# It establishes that the file there is byte for byte the official build: it
# counts only if both digests of its entry match, of the package that npm
# brought and of the binary. A file that already matches is left alone, so its
# inode and times do not change under a running daemon. Several callers at once
# take turns; a failure leaves nothing behind.
set -eu

version=${1:-26.8.1}

fail() { echo "fetch-node: $1" >&2; exit 1; }

cd "$(dirname "$0")/.."
entry=$(packaging/proven.sh "$version") || exit 1
test -n "$entry" || fail "Node $version is not in internal/pins/proven.txt; make prove-new NODE=$version tries the boundary with it and adds it"
read -r version sha256 package sha512 <<END
$entry
END
node=.node/$version/bin/node

holds() { test -f "$1" && echo "$sha256  $1" | sha256sum --check --status 2>/dev/null; }
holds "$node" && exit 0

umask 022
exec 9<. # the lock is on the repository's own directory: nothing is left behind
flock 9
holds "$node" && exit 0

test -w . || fail "$(pwd) cannot be written by $(id -un 2>/dev/null || id -u): run make node as its owner once"

made_home=
test -d .node || { mkdir .node; made_home=yes; }
tmp=
tidy() {
	test -z "$tmp" || rm -rf "$tmp"
	test -z "$made_home" || rmdir .node 2>/dev/null || true
}
trap tidy EXIT
trap 'exit 1' HUP INT TERM
tmp=$(mktemp -d .node/fetch.XXXXXX)

packaging/npm-node.sh "$package@$version" "$sha512" "$tmp"
holds "$tmp/node" || fail "the package $package@$version holds another Node than the proven one"

mkdir -p ".node/$version/bin"
mv -f "$tmp/node" "$node"
echo "fetch-node: $node is Node $version" >&2
