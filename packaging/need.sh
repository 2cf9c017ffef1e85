#!/bin/sh
# Says in one sentence each what is missing for a make target:
#   packaging/need.sh linux host go cc npm curl jq python3
# `host` asks for a system on which programs can run, `linux` for Linux, and
# `node` for what brings, or is, the Node of the demo.
set -eu
cd "$(dirname "$0")/.."

missing=0
need() { echo "$1" >&2 && missing=1; }
system=$(uname -s)

# An installation of macOS has a cc, git and make that only ask for these tools.
apple_tools() { xcode-select -p >/dev/null 2>&1; }

need_host() {
	case "$system $(uname -m)" in
	Linux*) ;;
	"Darwin arm64") test "$(id -u)" != 0 || need "this needs an ordinary user: on macOS a run of a root daemon would be root, so confined refuses." ;;
	Darwin*) need "this needs a Mac with Apple silicon, and uname -m says $(uname -m) (it does so in a Terminal under Rosetta, too)." ;;
	*) need "this needs Linux, or a Mac with Apple silicon: nothing runs on $system." ;;
	esac
}

need_cc() {
	case $system in
	Darwin) apple_tools || need "Apple's command line tools are missing (clang builds the native probes): xcode-select --install." ;;
	*) command -v cc >/dev/null || need "a C compiler is missing (the race detector and the native probes need one): install gcc." ;;
	esac
}

need_npm() { command -v npm >/dev/null || need "npm is missing (it fetches the official Node): install Node.js with npm."; }

need_node() {
	case $system in
	Darwin) need_cc; packaging/which-node.sh >/dev/null || missing=1 ;;
	*) need_npm ;;
	esac
}

for what in "$@"; do
	case $what in
	linux) test "$system" = Linux || need "this is for Linux. On a Mac there are make build and make demo, and docs/prove-on-mac.md." ;;
	host) need_host ;;
	go) go list -m >/dev/null 2>&1 || need "Go 1.26 or newer is missing: install it from your system or go.dev, and have go in PATH." ;;
	cc) need_cc ;;
	npm) need_npm ;;
	node) need_node ;;
	*) command -v "$what" >/dev/null || need "$what is missing: install it with your system's packages." ;;
	esac
done
exit $missing
