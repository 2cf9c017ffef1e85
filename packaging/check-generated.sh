#!/bin/sh
# Regenerates what is generated and fails when that changes a file: what is
# committed must be what openapi.yaml and the boundary suite say.
set -eu
cd "$(dirname "$0")/.."

# By options and tools that macOS has too.
sums() { grep -rlE --include='*.go' --include='*.md' '^(//|<!--) Code generated' . | LC_ALL=C sort | tr '\n' '\0' | xargs -0 cksum; }

before=$(sums)
make --no-print-directory generate
test "$before" = "$(sums)" || {
	echo "what is generated was not what its sources say; it is now: commit it" >&2
	exit 1
}
