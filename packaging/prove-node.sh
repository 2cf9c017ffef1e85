#!/usr/bin/env bash
# Runs the whole boundary suite with one Node and prints the verdict as a line:
#   packaging/prove-node.sh VERSION NODE
#
# It is run as the user who calls and, when that is root, as an ordinary user
# too: a daemon of root makes the boundary in another way. What the suite
# printed is shown where it failed. Expects bin/confined; the receipts are
# thrown away.
set -euo pipefail
cd "$(dirname "$0")/.."

nobody=65534
version=$1 node=$2

place=$(mktemp -d "$(packaging/fit-dir.sh prove-all)/confined-prove.XXXXXX")
trap 'rm -rf "$place"' EXIT
trap 'exit 1' HUP INT TERM
chmod 0711 "$place"
install -m 0755 bin/confined "$node" "$place" # where every user can reach them

# proves USER COMMAND...: the suite, started by COMMAND, in an environment that
# holds nothing of the caller's but PATH.
proves() {
	local uid=$1 home=$place/$1 log=$place/log
	shift
	install -d -m 0700 "$home" "$home/state" "$home/tmp"
	chown -R "$uid" "$home"
	echo "prove-node: Node $version as uid $uid" >&2
	(cd "$place" && "$@" env -i PATH="$PATH" HOME="$home" TMPDIR="$home/tmp" LANG=C.UTF-8 \
		"$place/confined" prove --node "$place/node" --state "$home/state") >"$log" 2>&1 </dev/null && return
	cat "$log" >&2
	failed+=("$uid")
}

failed=()
users=("$(id -u)")
proves "${users[0]}"
if test "${users[0]}" = 0; then
	users+=("$nobody")
	proves "$nobody" setpriv --reuid="$nobody" --regid="$nobody" --clear-groups
fi
joined() { local IFS=,; echo "$*"; }
test "${#failed[@]}" = 0 || { echo "Node $version: FAILED as uid $(joined "${failed[@]}"), see above"; exit 1; }
echo "Node $version: passed as uid $(joined "${users[@]}") ($SECONDS s)"
