#!/bin/sh
# Brings a Node of internal/pins/proven.txt into .node/<version>/bin/node of
# this repository: the one that the tests run with, or the version named.
#   packaging/fetch-node.sh [VERSION]
#
# keep-node.sh says what is established of the file there.
set -eu

version=${1:-26.8.1}

fail() { echo "fetch-node: $1" >&2; exit 1; }

cd "$(dirname "$0")/.."
entry=$(packaging/proven.sh "$version") || exit 1
test -n "$entry" || fail "Node $version is not in internal/pins/proven.txt; make prove-new NODE=$version tries the boundary with it and adds it"
read -r version sha256 package sha512 <<END
$entry
END
exec packaging/keep-node.sh ".node/$version" "$version" "$sha256" "$package" "$sha512"
