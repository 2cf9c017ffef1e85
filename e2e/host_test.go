package e2e

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The host's own view of processes, from /proc.

// process is one that was seen; its start tells it from a later one with the
// same pid.
type process struct {
	pid   int
	start string // clock ticks since boot
	ppid  int
	state string
}

// processes are all that can be seen now.
func processes() []process {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var out []process
	for _, path := range stats {
		if p, ok := readProcess(path); ok {
			out = append(out, p)
		}
	}
	return out
}

// readProcess reads a /proc/PID/stat; a process that is gone is not ok.
func readProcess(path string) (process, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return process{}, false
	}
	pid, rest, _ := strings.Cut(string(text), " ")
	rest = rest[strings.LastIndexByte(rest, ')')+1:] // the name may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return process{}, false
	}
	p := process{state: fields[0], start: fields[19]}
	p.pid, _ = strconv.Atoi(pid)
	p.ppid, _ = strconv.Atoi(fields[1])
	return p, true
}

// childrenOf are the processes whose parent is pid.
func childrenOf(pid int) []process {
	var out []process
	for _, p := range processes() {
		if p.ppid == pid {
			out = append(out, p)
		}
	}
	return out
}

// anyAlive says whether one of them is still there, a zombie not counted.
func anyAlive(list []process) bool {
	for _, p := range list {
		now, ok := readProcess(filepath.Join("/proc", strconv.Itoa(p.pid), "stat"))
		if ok && now.start == p.start && now.state != "Z" {
			return true
		}
	}
	return false
}

// programs are the pids of what runs for this daemon: their command lines name
// a slot of its root, while the daemon's own names the root alone.
func (d *daemon) programs() []int {
	needle := []byte(d.root + "/slot-")
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var out []int
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, needle) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			out = append(out, pid)
		}
	}
	return out
}

// gone says whether no process has this pid.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func readText(path string) (string, error) {
	content, err := os.ReadFile(path)
	return string(content), err
}
