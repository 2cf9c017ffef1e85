package pins

import (
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// besideImage is how much memory is left to the daemon and its runs, at the least, beside a copy of Node.
const besideImage = 64 << 20

// mayKeep refuses a copy of a size that memory of the control group, limit bytes, has no room for: the kernel would not refuse
// to write it, but end the daemon.
func mayKeep(size, limit int64) error {
	need := size + besideImage
	if limit >= need {
		return nil
	}
	return &UnsealableError{fmt.Sprintf("the daemon's control group may use %d MiB of memory, which has no room for a copy of Node", limit>>20),
		fmt.Sprintf("let it use %d MiB (MemoryMax=, memory.max)", need>>20+1)}
}

// memoryLimit is how much memory the control groups of the daemon, and those above them, may use.
func memoryLimit() int64 {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return math.MaxInt64
	}
	return leastLimit(string(groups), os.ReadFile)
}

// leastLimit reads the limits of groups, which is what /proc/self/cgroup says. One that cannot be read says nothing: a
// container often sees nothing of its group but the limit, at the top, which is therefore looked at too.
func leastLimit(groups string, read func(path string) ([]byte, error)) int64 {
	least := int64(math.MaxInt64)
	for line := range strings.Lines(groups) {
		for _, file := range limitFiles(strings.TrimSuffix(line, "\n")) {
			text, err := read(file)
			if err != nil {
				continue
			}
			if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // "max" is no limit
				least = min(least, limit)
			}
		}
	}
	return least
}

// limitFiles are where the limits of a group and of those above it are, by its line in /proc/self/cgroup: none, if memory is
// not limited by it.
func limitFiles(line string) []string {
	fields := strings.SplitN(line, ":", 3)                       // number of the hierarchy, its controllers, path
	if len(fields) != 3 || strings.HasPrefix(fields[2], "/..") { // a group above what this process may see
		return nil
	}
	mount, name := "/sys/fs/cgroup", "memory.max"
	switch {
	case slices.Contains(strings.Split(fields[1], ","), "memory"): // version 1
		mount, name = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
	case fields[0] != "0":
		return nil
	}
	files := []string{path.Join(mount, name)}
	for group := path.Clean(fields[2]); path.Dir(group) != group; group = path.Dir(group) {
		files = append(files, path.Join(mount, group, name))
	}
	return files
}
