#!/bin/sh
# npm, in the caller's directory and with the caller's arguments:
#   packaging/npm.sh ARGUMENT...
#
# npm is a script of `env node` and takes its global configuration from beside
# that Node. The Nodes that this repository fetched are for programs: where a
# shell has one first in PATH, as README.md says, npm does not get to see it.
set -eu

nodes=$(cd "$(dirname "$0")/.." && pwd -P)/.node
path=
set -f
IFS=:
for dir in $PATH; do
	case $(cd "${dir:-.}" 2>/dev/null && pwd -P) in
	"$nodes"/*) ;;
	*) path=$path:$dir ;;
	esac
done
PATH=${path#:}
exec npm "$@"
