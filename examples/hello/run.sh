#!/bin/sh
# Runs examples/hello on a running daemon and prints the result:
#   examples/hello/run.sh [SOCKET]          (default ~/.confined/socket)
# It needs curl and jq. Below the marked line it is what README.md shows.
set -eu
S=${1:-$HOME/.confined/socket}
case $S in /*) ;; *) S=$PWD/$S ;; esac
cd "$(dirname "$0")/../.."

# --- README.md, Walkthrough
RUNTIME=$(curl -sS --unix-socket "$S" http://confined/v1/runtime | jq -er '.digest // error(.detail)')
PROFILE=$(curl -sS --unix-socket "$S" http://confined/v1/profile | jq -er '.digest // error(.detail)')
cd examples/hello
PROGRAM=$(curl -sS --unix-socket "$S" http://confined/v1/snapshots \
  -F main.mjs=@program/main.mjs -F lib/greet.mjs=@program/lib/greet.mjs | jq -er '.digest // error(.detail)')
INPUT=$(curl -sS --unix-socket "$S" http://confined/v1/snapshots \
  -F names.txt=@input/names.txt | jq -er '.digest // error(.detail)')
jq --arg r "$RUNTIME" --arg f "$PROFILE" --arg p "$PROGRAM" --arg i "$INPUT" \
  '.runtime = $r | .profile = $f | .program.digest = $p | .input.digest = $i' request.json |
curl -sS --unix-socket "$S" http://confined/v1/runs -F 'request=<-' \
  -F program/main.mjs=@program/main.mjs -F program/lib/greet.mjs=@program/lib/greet.mjs \
  -F input/names.txt=@input/names.txt | jq .
