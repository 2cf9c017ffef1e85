#!/bin/sh
# Holds openapi.yaml against two foreign readers, at the versions pinned here:
# a linter, with every warning an error, and a TypeScript compiler, which must
# be able to use the types generated from it (narrowing.ts). Each is then shown
# a spoilt copy that it must refuse. Needs npm; the tools go into .node/contract.
set -eu
cd "$(dirname "$0")/../.."
here=packaging/contract
tools=$PWD/.node/contract

fail() { echo "contract: $1" >&2; exit 1; }
say() { echo "contract: $1" >&2; }

packaging/fetch-tools.sh $here

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true NO_COLOR=1
bin=$tools/node_modules/.bin

# lint FILE
lint() { "$bin/redocly" lint --extends recommended-strict --format stylish "$1" >"$work/lint.log" 2>&1; }

# compile FILE: narrowing.ts with the types of FILE
compile() {
	mkdir -p "$work/types"
	cp "$here/narrowing.ts" "$work/types"
	"$bin/openapi-typescript" "$1" --output "$work/types/openapi.d.ts" >"$work/compile.log" 2>&1 &&
		(cd "$work/types" && "$bin/tsc" --noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --noUnusedLocals \
			--target es2022 --module esnext --moduleResolution bundler narrowing.ts) >>"$work/compile.log" 2>&1
}

# refuses CHECK SED: CHECK must fail on openapi.yaml as changed by SED.
refuses() {
	sed "$2" openapi.yaml >"$work/spoilt.yaml"
	! cmp -s openapi.yaml "$work/spoilt.yaml" || fail "a control changes nothing: $2"
	! "$1" "$work/spoilt.yaml" || fail "a control failed: $1 accepts the contract after: $2"
}

lint openapi.yaml || { cat "$work/lint.log" >&2; fail "openapi.yaml does not pass the linter"; }
refuses lint 's/operationId: readyz/operationId: healthz/'
refuses lint '/^      summary: The process answers/d'
compile openapi.yaml || { cat "$work/compile.log" >&2; fail "narrowing.ts does not compile with the types of openapi.yaml"; }
refuses compile 's/\[status, runId, attributable, /[status, runId, /'
refuses compile '/^    RunResult:/,/^    NotStarted:/{/discriminator:/,/unresolved:/d};s/enum: \[observed\]/minLength: 1/'
say "openapi.yaml passes the linter, and its types narrow"
