//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// life is one daemon of the soak, with load on it.
type life struct {
	*soak
	d      *daemon
	pid    int
	ending atomic.Bool // it was told to end, or killed: it may go away from under a request

	zombies             map[process]bool // at the last look
	memory, descriptors []int            // one each second: KiB, and how many
	most                int              // processes at once
}

// oversee looks at everything each second, and says how it goes each ten.
func (l *life) oversee(t *testing.T, span time.Duration) {
	end := time.NewTimer(span)
	defer end.Stop()
	often, look, say := time.NewTicker(100*time.Millisecond), time.NewTicker(time.Second), time.NewTicker(10*time.Second)
	defer often.Stop()
	defer look.Stop()
	defer say.Stop()
	for !t.Failed() {
		select {
		case <-often.C:
			l.mustHaveFewProcesses(t)
		case <-look.C:
			l.look(t)
		case <-say.C:
			t.Logf("soak: %s, daemon %d: %d MiB resident, %d descriptors, at most %d processes; %s", time.Since(l.began).Round(time.Second), l.lives,
				l.memory[len(l.memory)-1]>>10, l.descriptors[len(l.descriptors)-1], l.most, l.counts())
		case <-end.C:
			l.look(t)
			return
		}
	}
}

func (l *life) look(t *testing.T) {
	l.mustBeUntouched(t)
	l.mustHaveNoMounts(t)
	l.mustReap(t)
	l.mustKnowItsSlots(t)
	l.d.mustFitContract(t)
	l.memory = append(l.memory, statusNumber("VmRSS")(l.pid))
	l.descriptors = append(l.descriptors, len(names(t, fmt.Sprintf("/proc/%d/fd", l.pid))))
}

// mustHaveFewProcesses: no more than workers, all of them children of the
// daemon, and none with a child of its own.
func (l *life) mustHaveFewProcesses(t *testing.T) {
	all := processes()
	ours := map[int]bool{}
	for _, p := range all {
		if p.ppid == l.pid && p.state != "Z" {
			ours[p.pid] = true
		}
	}
	l.most = max(l.most, len(ours))
	if len(ours) > soakWorkers {
		t.Errorf("%d processes at once: %v", len(ours), ours)
	}
	for _, p := range all {
		if ours[p.ppid] {
			t.Errorf("process %d is the child of a program, %d: %q", p.pid, p.ppid, titleOf(p.pid))
		}
		if !ours[p.pid] && p.pid != l.pid && p.ppid != l.pid && l.isOfTheRoot(p) {
			t.Errorf("process %d is of this daemon and not its child: %+v", p.pid, p)
		}
	}
}

// isOfTheRoot says whether a process has to do with the daemon's root: its
// arguments or its environment name it.
func (l *life) isOfTheRoot(p process) bool {
	for _, name := range []string{"cmdline", "environ"} {
		said, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.pid, name))
		if err == nil && bytes.Contains(said, []byte(l.d.root)) {
			return true
		}
	}
	return false
}

// mustHaveNoMounts: what is mounted for a run is mounted in its own namespace.
func (l *life) mustHaveNoMounts(t *testing.T) {
	for _, who := range []int{os.Getpid(), l.pid} {
		mounts, err := readText(fmt.Sprintf("/proc/%d/mountinfo", who))
		if err != nil || mounts == "" || strings.Contains(mounts, l.d.dir) {
			t.Errorf("mounts of process %d: %v\n%s", who, err, mounts)
		}
	}
}

// mustReap: no child of the daemon is a zombie for a second.
func (l *life) mustReap(t *testing.T) {
	now := map[process]bool{}
	for _, p := range childrenOf(l.pid) {
		if p.state == "Z" {
			now[p] = true
			if l.zombies[p] {
				t.Errorf("process %d stays a zombie", p.pid)
			}
		}
	}
	l.zombies = now
}

// mustKnowItsSlots: each is free or runs; nothing is quarantined or left, since
// nobody touches the root.
func (l *life) mustKnowItsSlots(t *testing.T) {
	got := l.d.slots(t)
	if got.Counted > soakWorkers {
		t.Errorf("%d slots are counted with %d workers", got.Counted, soakWorkers)
	}
	for _, s := range got.Slots {
		if s.State != "free" && s.State != "running" {
			t.Errorf("%s is %s %s: %s", s.Name, s.State, s.Reason, s.Message)
		}
	}
}

// judgeGrowth compares the second quarter of a life with its last, by medians.
// What is too short to judge is not.
func (l *life) judgeGrowth(t *testing.T) {
	for what, g := range map[string]struct {
		samples []int
		slack   int // a collected heap breathes, and connections come and go
	}{"KiB of memory": {l.memory, 16 << 10}, "descriptors": {l.descriptors, 8}} {
		n := len(g.samples)
		if n < 40 {
			continue
		}
		var medians [4]int
		for q := range medians {
			part := slices.Sorted(slices.Values(g.samples[q*n/4 : (q+1)*n/4]))
			medians[q] = part[len(part)/2]
		}
		t.Logf("soak: daemon %d, %s by quarters of its life: %v, at most %d", l.lives, what, medians, slices.Max(g.samples))
		if medians[3] > medians[1]+g.slack {
			t.Errorf("%s grow: %v", what, medians)
		}
	}
}
