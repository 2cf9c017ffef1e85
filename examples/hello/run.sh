#!/bin/sh
# Runs the program beside it on a running daemon, with curl and jq:
#   examples/hello/run.sh [SOCKET]     (default $CONFINED_SOCKET, else ~/.confined/socket)
# The result goes to stdout, what it means to stderr. The exit code is the
# program's own when its output can be credited to it; 125 when no program was
# started, 126 when the run must not be credited to what was pinned, 127 when it
# is unknown.
set -eu
S=${1:-${CONFINED_SOCKET:-$HOME/.confined/socket}}
case $S in /*) ;; *) S=$PWD/$S ;; esac
cd "$(dirname "$0")"

say() { echo "run.sh: $*" >&2; }

# digest PATH [OPTION...]: a pin, or the problem's own words when there is none.
digest() {
	path=$1 && shift
	got=$(curl -s --unix-socket "$S" "http://confined/v1/$path" "$@") || { say "no daemon listens on $S (curl: $?)"; exit 125; }
	printf "%s" "$got" | jq -er '.digest // empty' || { say "$(printf "%s" "$got" | jq -r .detail)"; exit 125; }
}
RUNTIME=$(digest runtime)
PROFILE=$(digest profile)
PROGRAM=$(digest snapshots -F main.mjs=@program/main.mjs -F lib/greet.mjs=@program/lib/greet.mjs)
INPUT=$(digest snapshots -F names.txt=@input/names.txt)

# One id for one piece of work, made once and kept in every retry: the daemon
# starts at most one program for it.
ID=hello-$(date +%s)-$$
REQUEST=$(jq --arg id "$ID" --arg r "$RUNTIME" --arg f "$PROFILE" --arg p "$PROGRAM" --arg i "$INPUT" \
	'.id = $id | .runtime = $r | .profile = $f | .program.digest = $p | .input.digest = $i' request.json)

# --retry repeats a 429 and a 503, as late as Retry-After says: then no program
# was started. It repeats a 500 too, after which there may be one: the id makes
# the daemon answer run-id-used instead of starting a second. -o, because in a
# pipe the answers before the last would stay.
ANSWER=$(mktemp)
trap 'rm -f "$ANSWER"' EXIT
HTTP=$(curl -sS --unix-socket "$S" http://confined/v1/runs --retry 5 -o "$ANSWER" -w '%{http_code}' \
	--form-string "request=$REQUEST" \
	-F program/main.mjs=@program/main.mjs -F program/lib/greet.mjs=@program/lib/greet.mjs \
	-F input/names.txt=@input/names.txt) || { say "unknown: the answer of $ID did not arrive whole"; exit 127; }

tell() { say "$1: $(jq -r '"\(.code // .reason // .problems[0].code): \(.detail // .message // .problems[0].message)"' "$ANSWER")"; }

case $HTTP-$(jq -r '.code // .status' "$ANSWER") in
200-observed)
	cat "$ANSWER"
	test "$(jq .attributable "$ANSWER")" = true || { tell "it ran, and must not be credited to what was pinned"; exit 126; }
	# A signal has a name here and no number: SIGKILL is 137 in a shell.
	exit "$(jq '.process.exit.code // 137' "$ANSWER")" ;;
200-not-started)
	cat "$ANSWER"
	tell "no program was started"
	exit 125 ;;
4*-run-id-used)
	tell "unknown: an earlier request had this id"
	exit 127 ;;
4* | 503*)
	tell "no program was started"
	exit 125 ;;
*) # unresolved, 500, and whatever is not JSON
	cat "$ANSWER"
	say "unknown: it may still be running; do not send it again under another id"
	exit 127 ;;
esac
