#!/bin/sh
# Says in one sentence what is missing for a make target:
#   packaging/need.sh host go cc npm curl jq python3 dash
# `host` asks for a system on which programs can run.
set -eu
cd "$(dirname "$0")/.."

missing=0
need() { echo "$1" >&2 && missing=1; }

for what in "$@"; do
	case $what in
	host) test "$(uname -s)" = Linux || need "this needs Linux: the macOS boundary comes with later work, and nothing runs on $(uname -s) yet." ;;
	go) go list -m >/dev/null 2>&1 || need "Go 1.26 or newer is missing: install it from your system or go.dev, and have go in PATH." ;;
	cc) command -v cc >/dev/null || need "a C compiler is missing (the race detector and the native probes need one): install gcc." ;;
	npm) command -v npm >/dev/null || need "npm is missing (it fetches the official Node): install Node.js with npm." ;;
	*) command -v "$what" >/dev/null || need "$what is missing: install it with your system's packages." ;;
	esac
done
exit $missing
