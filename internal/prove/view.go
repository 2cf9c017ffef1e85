package prove

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"confined/internal/pins"
)

// view is one live process as the host sees it, and what it is to be held against.
type view struct {
	pid     int
	slot    string
	user    user
	runtime pins.Runtime
	other   int // the process of another run
}

// proc is a file of /proc/PID; one that cannot be read says why.
func (v *view) proc(name string) string {
	text, err := readText(fmt.Sprintf("/proc/%d/%s", v.pid, name))
	if err != nil {
		return err.Error()
	}
	return text
}

func (v *view) link(name string) string { return linkOf(v.pid, name) }

func linkOf(pid int, name string) string {
	to, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		return err.Error()
	}
	return to
}

// executesNode says whether what the process executes has the bytes of the pinned Node. It need not be the same file: what is executed may be a
// copy that nobody can write to.
func (v *view) executesNode() bool {
	f, err := os.Open(fmt.Sprintf("/proc/%d/exe", v.pid))
	if err != nil {
		return false
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return false
	}
	return slices.ContainsFunc(v.runtime.Files, func(file pins.RuntimeFile) bool {
		return file.Path == v.runtime.Node && file.SHA256 == [sha256.Size]byte(hash.Sum(nil))
	})
}

// status is what /proc/PID/status says after a name.
func (v *view) status(name string) string { return v.after("status", name+":") }

// limit is what /proc/PID/limits says after a name.
func (v *view) limit(name string) string { return v.after("limits", name+" ") }

// after is the rest of a line of a file of /proc/PID, its fields joined by single spaces.
func (v *view) after(file, start string) string {
	for line := range strings.Lines(v.proc(file)) {
		if value, found := strings.CutPrefix(line, start); found {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return noLine
}

// noLine is what is found where a file has no such line.
const noLine = "no such line"

// descriptorsOf are the descriptors of a process, and what they lead to.
func descriptorsOf(pid int) map[int]string {
	open := map[int]string{}
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil {
			open[fd] = linkOf(pid, "fd/"+e.Name())
		}
	}
	return open
}

// mounted is what is brought into the private root from outside.
func (v *view) mounted() []string {
	all := []string{v.slot + "/program", v.slot + "/input", v.slot + "/canary", "/dev/null", "/proc/cpuinfo", "/proc/stat", "/proc/meminfo",
		"/proc/self/stat", "/proc/self/statm", "/proc/self/status", "/proc/self/maps"}
	for _, f := range v.runtime.Files {
		all = append(all, f.Path)
	}
	return all
}

// leaves are all paths of the private root that are no plain directories.
func (v *view) leaves() []string {
	all := append(v.mounted(), v.slot+"/home", v.slot+"/preload.cjs", "/proc/self/exe", "/proc/self/cgroup")
	for _, a := range v.runtime.Aliases {
		all = append(all, a.Path)
	}
	slices.Sort(all)
	return all
}

// lookAtProcess takes the sights of a fixture: of the process that acts, before it does. Where the suite's own process is no weaker, a control
// cannot be.
func (s *fixture) lookAtProcess(p *trial) {
	for _, row := range s.sights {
		v := s.view
		v.pid = p.process.Pid
		found, weak := row.Evidence.look(&v)
		s.looked[row.Name] = sight{found, weak}
		if v.pid = os.Getpid(); row.Evidence.inherited {
			if _, weak := row.Evidence.look(&v); !weak {
				s.noControl[row.Name] = asStrict
			}
		}
	}
}

func sameFile(one, other string) bool {
	a, err1 := os.Stat(one)
	b, err2 := os.Stat(other)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}
