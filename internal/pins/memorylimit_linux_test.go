package pins

import (
	"errors"
	"io/fs"
	"math"
	"testing"
)

// TestNoSealBeyondTheLimitOfMemory: what the kernel would do ends the daemon.
func TestNoSealBeyondTheLimitOfMemory(t *testing.T) {
	const size = 120 << 20
	for limit, fits := range map[int64]bool{math.MaxInt64: true, size + besideImage: true, size + besideImage - 1: false, size: false, 0: false} {
		err := mayKeep(size, limit)
		var unsealable *UnsealableError
		if fits != (err == nil) || !fits && !errors.As(err, &unsealable) {
			t.Errorf("with %d bytes: %v", limit, err)
		}
	}
}

func TestLeastLimit(t *testing.T) {
	const v1 = "9:name=systemd:/\n8:pids:/a\n4:cpu,memory:/a/b\n0::/\n"
	for _, row := range []struct {
		name, groups string
		files        map[string]string
		want         int64
	}{
		{"version 2", "0::/a/b\n", map[string]string{"/sys/fs/cgroup/a/b/memory.max": "5\n"}, 5},
		{"version 2, above", "0::/a/b\n", map[string]string{"/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/memory.max": "6\n"}, 6},
		{"version 2, the least", "0::/a\n", map[string]string{"/sys/fs/cgroup/a/memory.max": "8\n", "/sys/fs/cgroup/memory.max": "7\n"}, 7},
		{"version 2, a container's own", "0::/\n", map[string]string{"/sys/fs/cgroup/memory.max": "5\n"}, 5},
		{"version 1", v1, map[string]string{"/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "5\n"}, 5},
		{"version 1, a container that is told the host's name", v1, map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "5\n"}, 5},
		{"no limit", v1, map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, math.MaxInt64 - 4095},
		{"another group's", "0::/a\n", map[string]string{"/sys/fs/cgroup/b/memory.max": "5\n", "/sys/fs/cgroup/a/b/memory.max": "5\n"}, math.MaxInt64},
		{"a group out of sight", "0::/../b\n", map[string]string{"/sys/fs/cgroup/b/memory.max": "5\n"}, math.MaxInt64},
		{"another controller's", "8:pids:/a\n", map[string]string{"/sys/fs/cgroup/a/memory.max": "5\n", "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "5\n"}, math.MaxInt64},
		{"no number", "0::/a\n", map[string]string{"/sys/fs/cgroup/a/memory.max": "much\n"}, math.MaxInt64},
		{"no groups", "", nil, math.MaxInt64},
	} {
		got := leastLimit(row.groups, func(path string) ([]byte, error) {
			if text, there := row.files[path]; there {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		})
		if got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

// TestTheHostLeavesRoom: otherwise nothing here would be sealed, and this says why.
func TestTheHostLeavesRoom(t *testing.T) {
	if err := mayKeep(int64(len(imageContent)), memoryLimit()); err != nil {
		t.Error(err)
	}
}
