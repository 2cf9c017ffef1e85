#!/bin/sh
# Regenerates the code and fails when that changes a file: what is committed
# must be what openapi.yaml says.
set -eu
cd "$(dirname "$0")/.."

sums() { grep -rlZ --include='*.go' '^// Code generated' . | sort -z | xargs -0 sha256sum; }

before=$(sums)
make --no-print-directory generate
test "$before" = "$(sums)" || {
	echo "the generated code was not what openapi.yaml says; it is now: commit it" >&2
	exit 1
}
