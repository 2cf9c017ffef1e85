#!/bin/sh
# Brings the npm packages that DIR/package-lock.json pins into .node/NAME of this
# repository, where NAME is the last part of DIR:
#   packaging/fetch-tools.sh packaging/contract
#
# npm holds each package against the digest in the lock file, which names no
# registry: it is the one npm is configured for. No package runs a script of its
# own. What is complete is left alone; several callers at once take turns.
set -eu
cd "$(dirname "$0")/.."
pins=$1
tools=$PWD/.node/$(basename "$pins")
npm=$PWD/packaging/npm.sh

whole() { cmp -s "$pins/package-lock.json" "$tools/complete"; }
fail() { echo "fetch-tools: $1" >&2; exit 1; }

whole && exit 0
command -v npm >/dev/null || fail "npm is missing: install Node.js with npm, it only fetches the packages"
if ! mkdir -p .node 2>/dev/null || ! test -w .node; then
	fail "$(pwd)/.node cannot be written by $(id -un 2>/dev/null || id -u): run this as its owner once"
fi
exec 9<"$pins" # the lock leaves nothing behind
flock 9
whole && exit 0

echo "fetch-tools: fetching what $pins pins" >&2
rm -rf "$tools"
mkdir "$tools"
cp "$pins/package.json" "$pins/package-lock.json" "$tools"
(cd "$tools" && "$npm" ci --ignore-scripts --no-audit --no-fund --update-notifier=false --loglevel=error >&2) ||
	fail "npm could not bring the packages: see its message above"
cp "$pins/package-lock.json" "$tools/complete"
