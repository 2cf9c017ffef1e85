#!/bin/sh
# Brings one Node into DIRECTORY/bin/node, a directory below .node of this
# repository:
#   packaging/keep-node.sh DIRECTORY VERSION SHA256 PACKAGE SHA512
#
# It establishes that the file there is byte for byte the one named: it counts
# only if both digests match, of the package that npm brought and of the binary.
# A file that already matches is left alone, so its inode and times do not
# change under a running daemon. Several callers at once take turns; a failure
# leaves nothing behind.
set -eu

fail() { echo "keep-node: $1" >&2; exit 1; }

cd "$(dirname "$0")/.."
dir=$1 version=$2 sha256=$3 package=$4 sha512=$5
node=$dir/bin/node

holds() { test -f "$1" && echo "$sha256  $1" | sha256sum --check --status 2>/dev/null; }
holds "$node" && exit 0

umask 022
exec 9<. # the lock is on the repository's own directory: nothing is left behind
flock 9
holds "$node" && exit 0

test -w . || fail "$(pwd) cannot be written by $(id -un 2>/dev/null || id -u): run make node tools as its owner once"

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
holds "$tmp/node" || fail "the package $package@$version holds another Node than the one that is pinned"

mkdir -p "$dir/bin"
mv -f "$tmp/node" "$node"
echo "keep-node: $node is Node $version of $package" >&2
