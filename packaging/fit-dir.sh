#!/bin/sh
# Prints a directory in which a root of confined may live: on ext4, xfs or
# btrfs, writable, its canonical path made of characters a root may have and
# short enough for a socket below it. Temporary directories come first, as
# many systems keep /tmp on tmpfs, where a root is refused.
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd -P)

fit() {
	test -n "$1" && test -d "$1" && test -w "$1" || return 1
	dir=$(cd "$1" 2>/dev/null && pwd -P) || return 1
	case $dir in *[!A-Za-z0-9._@+/-]* | /) return 1 ;; esac
	test ${#dir} -le 60 || return 1
	case $(stat -f -c %T "$dir") in ext2/ext3 | xfs | btrfs) ;; *) return 1 ;; esac
	echo "$dir"
}

for candidate in "${TMPDIR-}" /tmp /var/tmp "$repository" "${HOME-}"; do
	fit "$candidate" && exit 0
done
echo "no writable directory on ext4, xfs or btrfs was found: name one, as in TMPDIR=/path make ${1-demo}" >&2
exit 1
