#!/usr/bin/env bash
# The whole of confined once, on this machine: a daemon of its own on a private
# socket, examples/hello submitted to it with curl, the result judged, the
# daemon stopped, nothing left. Expects bin/confined and, on Linux, the pinned
# Node, as `make demo` brings them. Where no entry is built in for the Node, as
# on every Mac, the boundary is proven with it first. It runs with the bash 3.2
# and the tools that macOS has.
set -euo pipefail
export LC_ALL=C # ranges of characters below mean ASCII
cd "$(dirname "$0")/.."

say() { echo "demo: $1" >&2; }
fail() { say "$1"; exit 1; }

base=$(packaging/fit-dir.sh demo)
place=$(mktemp -d "$base/confined-demo.XXXXXX")
daemon=
stop() {
	test -z "$daemon" || { kill -TERM "$daemon" 2>/dev/null && wait "$daemon"; } || true
	rm -rf "$place"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM

# A profile can name printable ASCII only; a copy of Node stands in where this
# repository's own path has more.
node=$(packaging/which-node.sh) || exit 1
case $node in *[!\ -~]*) cp "$node" "$place/node" && node=$place/node ;; esac

root=$place/root socket=$place/socket
mkdir -m 0700 "$root" "$place/state"
bin/confined prove --if-needed --node "$node" --state "$place/state" >&2 ||
	fail "the boundary was not shown to hold here with $node, see above; on a Mac, docs/prove-on-mac.md says what to send"
bin/confined serve --root "$root" --socket "$socket" --state "$place/state" --node "$node" --log-format text 2>"$place/log" &
daemon=$!

for _ in {1..100}; do
	test -S "$socket" && break
	kill -0 "$daemon" 2>/dev/null || { cat "$place/log" >&2; fail "the daemon did not start, see above"; }
	sleep 0.1
done
curl -sS --fail-with-body --unix-socket "$socket" http://confined/readyz >"$place/ready" || {
	cat "$place/log" "$place/ready" >&2
	fail "no run can start on this host, see above; bin/confined doctor says more"
}

say "examples/hello/run.sh, on a daemon of this demo's own"
examples/hello/run.sh "$socket" >"$place/result" || { cat "$place/log" >&2; fail "the run was not answered, see above"; }
jq . "$place/result"

check() { jq -e --slurpfile asked examples/hello/request.json "$2" "$place/result" >/dev/null || fail "not as expected: $1"; }
check "status is observed" '.status == "observed"'
check "attributable is true, with no problems" '.attributable == true and .problems == []'
check "admission is admitted" '.process.admission == "admitted"'
check "measured limits are those asked for" '$asked[0] as $a | .process.limits == {
	cpuSeconds: {soft: $a.cpuSeconds, hard: $a.cpuSeconds},
	descriptors: {soft: $a.maxDescriptors, hard: $a.maxDescriptors},
	coreBlocks: {soft: 0, hard: 0}, fileBlocks: {soft: 0, hard: 0}}'
check "exit code is 0, nothing stopped it" '.process.exit == {code: 0, signal: null} and .process.stopped == null'
check "stdout is the greeting" '.process.stdout == {encoding: "utf-8", data: "Hello, Ada, Grace, and Edsger.\n"}'
check "stderr is empty" '.process.stderr.data == ""'
check "the namespace was removed, durably" '.namespace == {state: "removed", durable: true}'
test -z "$(ls -A "$root")" || fail "the root is not empty: $(ls -A "$root")"

kill -TERM "$daemon"
wait "$daemon" || fail "the daemon ended with code $?"
daemon=
test ! -e "$socket" || fail "the socket is still there after the daemon stopped"
say "passed: observed, attributable, removed; the root is empty and the daemon has stopped"
