#!/usr/bin/env bash
# Measures confined programs against plain Node, and prints tables in Markdown:
#   packaging/bench.sh full    everything, in three minutes or so
#   packaging/bench.sh quick   what CI makes of it: fails beyond a bound, in less than one
#   packaging/bench.sh docs    everything, into docs/performance.md
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
full | docs) which=BenchmarkAgainstPlain ;;
quick) which=BenchmarkGate ;;
*) echo "bench: BENCH is \"${1-}\"; it must be full, quick or docs" >&2; exit 2 ;;
esac

TMPDIR=$(packaging/fit-dir.sh bench)
export TMPDIR
tables=$(mktemp)
trap 'rm -f "$tables"' EXIT
trap 'exit 1' HUP INT TERM

BENCH_TABLES=$tables CGO_ENABLED=0 go test -trimpath -run='^$' -bench="^$which\$" -benchtime=1x -timeout=30m ./e2e >&2 || failed=1
cat "$tables"
test -z "${failed-}" || exit 1
test "$1" = docs || exit 0

page=docs/performance.md
new=$(awk -v tables="$tables" '
	/^<!-- end of the tables -->/ { inside = 0; ended = 1 }
	!inside
	/^<!-- tables of make bench/ { inside = 1; begun = 1; print ""; while ((getline line < tables) > 0) print line; print "" }
	END { exit !(begun && ended) }' "$page") || { echo "bench: $page has no place for the tables" >&2; exit 1; }
printf '%s\n' "$new" >"$page"
