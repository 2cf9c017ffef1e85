#!/bin/sh
# Brings bin/node of an npm package into a directory of the caller's:
#   packaging/npm-node.sh PACKAGE@VERSION SHA512 DIRECTORY
#
# It establishes that DIRECTORY/node is from the package with that digest: npm
# brings it from whatever registry npm is configured for, and nothing is
# unpacked before the digest of the whole package was compared.
set -eu

fail() { echo "npm-node: $1" >&2; exit 1; }

package=$1 sha512=$2
packaging=$(cd "$(dirname "$0")" && pwd)
cd "$3"
command -v npm >/dev/null || fail "npm is missing: install Node.js with npm, it only fetches the package"
command -v tar >/dev/null || fail "tar is missing"

echo "npm-node: fetching $package" >&2
"$packaging/npm.sh" pack "$package" --silent --cache "$PWD/cache" --update-notifier=false --loglevel=error >name ||
	fail "npm could not bring $package: see its message above, and check that npm view $package works"
tarball=$(tail -n 1 name)
echo "$sha512  $tarball" | sha512sum --check --status 2>/dev/null ||
	fail "what npm brought for $package is not the package that was named: its sha512 differs, nothing was unpacked"
tar -xzf "$tarball" --no-same-owner package/bin/node || fail "$package holds no bin/node"
chmod 0755 package/bin/node
mv package/bin/node node
rm -rf cache package name "$tarball"
