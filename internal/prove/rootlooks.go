package prove

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// rootLooks: the tree under its root is what the profile names, and so are its mounts.
func rootLooks() []Probe {
	return []Probe{
		{Name: "a root that holds what the profile names", Evidence: Evidence{Text: "the whole tree under /proc/PID/root", look: tree}},
		{Name: "its own program, input and canary", NoControl: "the unconfined process has a slot of the same form", Evidence: Evidence{Text: "the files of the slot against those under /proc/PID/root", look: ownFiles}},
		{Name: "mounts that the profile names", Evidence: Evidence{Text: "/proc/PID/mountinfo", look: mounts}},
		{Name: "mounts that are read-only", Evidence: Evidence{Text: "the flags in /proc/PID/mountinfo", look: mountFlags}},
		{Name: "mounts that nothing passes through", Evidence: Evidence{Text: "the peer groups in /proc/PID/mountinfo", look: propagation, inherited: true}},
		{Name: "a root that is read-only as a whole", Evidence: Evidence{Text: "statfs of /proc/PID/root", look: rootFlags, inherited: true}},
	}
}

// tree stops at the first thing that is not to be there: the root of the host is large.
func tree(v *view) (found string, weak bool) {
	want := v.leaves()
	root := fmt.Sprintf("/proc/%d/root", v.pid)
	surprise := ""
	var got []string
	err := filepath.WalkDir(root+"/", func(path string, e fs.DirEntry, err error) error {
		inside := strings.TrimPrefix(path, root)
		leaf := slices.Contains(want, inside)
		above := inside == "/" || slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(w, inside+"/") })
		switch {
		case err != nil || !leaf && (!above || !e.IsDir()):
			surprise = inside
			return fs.SkipAll
		case leaf:
			got = append(got, inside)
			if e.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	slices.Sort(got)
	switch {
	case err != nil:
		return err.Error(), true
	case surprise != "":
		return "it holds " + surprise, true
	case !slices.Equal(got, want):
		return fmt.Sprintf("it holds %d of %d paths", len(got), len(want)), true
	}
	return fmt.Sprintf("%d paths", len(got)), false
}

func ownFiles(v *view) (found string, weak bool) {
	for name, there := range map[string]string{"cwd": "/input", "root" + v.slot + "/program": "/program", "root" + v.slot + "/canary": "/canary"} {
		if !sameFile(fmt.Sprintf("/proc/%d/%s", v.pid, name), v.slot+there) {
			return "its " + name + " is another", true
		}
	}
	left, err := os.ReadDir(fmt.Sprintf("/proc/%d/root%s/home", v.pid, v.slot))
	if err != nil || len(left) > 0 {
		return fmt.Sprintf("its home holds %v, %v", left, err), true
	}
	return "they are the same; home is empty", false
}

// mountLine is a line of mountinfo.
type mountLine struct {
	at      string
	options []string
	rest    string // peer groups, and from " - " on the file system
}

func (v *view) mountLines() []mountLine {
	var all []mountLine
	for line := range strings.Lines(v.proc("mountinfo")) {
		f := strings.Fields(line)
		if len(f) < 7 || !slices.Contains(f[6:], "-") {
			return nil // no mountinfo, but why it cannot be read
		}
		all = append(all, mountLine{strings.ReplaceAll(f[4], `\040`, " "), strings.Split(f[5], ","), strings.Join(f[6:], " ")})
	}
	return all
}

func mounts(v *view) (found string, weak bool) {
	want, got := append(v.mounted(), "/"), []string(nil)
	for _, m := range v.mountLines() {
		got = append(got, m.at)
	}
	slices.Sort(want)
	slices.Sort(got)
	for _, at := range got {
		if !slices.Contains(want, at) {
			return "a mount at " + at, true
		}
	}
	return fmt.Sprintf("%d mounts", len(got)), !slices.Equal(got, want)
}

func mountFlags(v *view) (found string, weak bool) {
	data := []string{v.slot + "/program", v.slot + "/input", v.slot + "/canary", "/"}
	lines := v.mountLines()
	for _, m := range lines {
		needs := []string{"ro", "nosuid"}
		if slices.Contains(data, m.at) {
			needs = append(needs, "noexec", "nodev")
		}
		for _, need := range needs {
			if !slices.Contains(m.options, need) {
				return m.at + " is not " + need, true
			}
		}
	}
	return "ro and nosuid; root and snapshots noexec and nodev", len(lines) == 0
}

func propagation(v *view) (found string, weak bool) {
	lines := v.mountLines()
	for _, m := range lines {
		if strings.Contains(m.rest, "shared:") || strings.Contains(m.rest, "master:") {
			return m.at + " is " + m.rest, true
		}
	}
	return "private", len(lines) == 0
}

func rootFlags(v *view) (found string, weak bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(fmt.Sprintf("/proc/%d/root", v.pid), &st); err != nil {
		return err.Error(), true
	}
	const readOnly = 1 // ST_RDONLY
	return fmt.Sprintf("flags %#x", st.Flags), st.Flags&readOnly == 0
}
