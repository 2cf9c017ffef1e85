#!/bin/sh
# Prints a directory in which a root of confined may live: on ext4, xfs or
# btrfs (macOS: APFS), writable, its canonical path made of characters a root
# may have and short enough for a socket below it. Temporary directories come
# first, as many systems keep /tmp on tmpfs, where a root is refused.
set -eu
export LC_ALL=C # ranges of characters below mean ASCII
repository=$(cd "$(dirname "$0")/.." && pwd -P)

# The name of the file system that a directory is on. The stat of macOS does not
# tell it, its mount does: /dev/disk3s5 on /System/Volumes/Data (apfs, local)
if test "$(uname -s)" = Darwin; then
	fits="APFS"
	file_system() {
		device=$(df -P "$1" | awk 'NR == 2 { print $1 }')
		mount | sed -n "s|^$device on .* (\([a-z0-9]*\)[,)].*|\1|p"
	}
else
	fits="ext4, xfs or btrfs"
	file_system() { stat -f -c %T "$1"; }
fi

fit() {
	test -n "$1" && test -d "$1" && test -w "$1" || return 1
	dir=$(cd "$1" 2>/dev/null && pwd -P) || return 1
	case $dir in *[!A-Za-z0-9._@+/-]* | /) return 1 ;; esac
	test ${#dir} -le 60 || return 1
	case $(file_system "$dir") in ext2/ext3 | xfs | btrfs | apfs) ;; *) return 1 ;; esac
	echo "$dir"
}

for candidate in "${TMPDIR-}" /tmp /var/tmp "$repository" "${HOME-}"; do
	fit "$candidate" && exit 0
done
echo "no writable directory on $fits was found: name one, as in TMPDIR=/path make ${1-demo}" >&2
exit 1
