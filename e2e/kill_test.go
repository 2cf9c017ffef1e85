//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The daemon dies of kill -9 at some moment of a run. The kernel then ends what
// it had started, whatever that tries; the next daemon finds what is left,
// counts it, says so, and leaves it as it is.

// endsWithin is how long a process may outlive the daemon that started it.
const endsWithin = 5 * time.Second

// moment is one point of a run: reach brings a daemon to it, and may suspend
// the daemon there to be sure of the point.
type moment struct {
	name  string
	reach func(t *testing.T, d *daemon)
	slots int // that are left then; -1 where it may be one or none
}

func moments() []moment {
	return []moment{
		{"while a request is sent", reachSending, 0},
		{"while the slot is written", reachWriting, 1},
		{"while the stage is launched", reachStage, 1},
		{"before the program is admitted", reachNode, 1},
		{"while programs run and a run waits", reachRunning, 2},
		{"while a program resists", reachResisting, 1},
		{"while a program floods its output", reachFlooding, 1},
		{"when the program has ended", reachEnded, 1},
		{"while the slot is checked again", reachChecking, 1},
		{"at its leisure", func(*testing.T, *daemon) {}, 0},
	}
}

// TestKill9 kills a daemon at each moment, and the one after it at the next.
func TestKill9(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	d := bootDaemon(t, p, nil, withFlags("--workers=2"))
	t.Cleanup(func() { d.end(t) })
	for _, m := range moments() {
		t.Run(m.name, func(t *testing.T) {
			m.reach(t, d)
			d.kill9(t)
			d = d.next(t, m.slots)
			mustRunBeside(t, d)
			d.clear(t)
		})
	}
}

// TestKill9Anytime kills daemons at random times after a run was sent.
func TestKill9Anytime(t *testing.T) {
	t.Parallel()
	d := bootDaemon(t, newPlaces(t), nil, withFlags("--workers=2"))
	t.Cleanup(func() { d.end(t) })
	at := map[int]int{}
	for range 12 {
		d.launch(t, t.Context(), d.script(t, waiting("anytime")))
		<-time.After(rand.N(800 * time.Millisecond)) // the time is what is tried here
		d.kill9(t)
		at[len(names(t, d.root))]++
		d = d.next(t, -1)
		d.clear(t)
	}
	t.Logf("kills that left no slot: %d, one slot: %d", at[0], at[1])
}

// kill9 ends the daemon, and fails unless everything that it had started ends
// too, soon.
func (d *daemon) kill9(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !d.wait(patience) {
		t.Errorf("somebody still holds the log of a dead daemon: %v", d.survivors())
	}
	d.client.CloseIdleConnections()
	if !within(endsWithin, func() bool { return len(d.survivors()) == 0 }) {
		for _, pid := range d.survivors() {
			status, _ := readText(fmt.Sprintf("/proc/%d/status", pid))
			t.Errorf("process %d outlives the daemon:\n%s", pid, status)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// survivors are the processes that were started for this daemon, or by it and
// have not become anything else yet: its root is in their arguments or in their
// environment. Titles replace arguments, but not the environment.
func (d *daemon) survivors() []int {
	var out []int
	for _, p := range processes() {
		arguments, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
		if bytes.Contains(append(arguments, environment...), []byte(d.root)) && p.state != "Z" {
			out = append(out, p.pid)
		}
	}
	return out
}

// next starts a daemon where one was killed: it reports what is left, counts
// it, and does not touch it. The number of slots left is slots, unless -1.
func (d *daemon) next(t *testing.T, slots int) *daemon {
	t.Helper()
	left := names(t, d.root)
	if slots >= 0 && len(left) != slots {
		t.Errorf("%v is left, want %d slots", left, slots)
	}
	before := tree(t, d.root)
	next := bootDaemon(t, d.places, nil, withFlags(d.args...))
	next.reports(t, left)
	mustBeUntouched(t, next, before)
	return next
}

// reports fails unless the daemon says that these slots are leftovers.
func (d *daemon) reports(t *testing.T, left []string) {
	t.Helper()
	s := d.slots(t)
	if s.Counted != len(left) || s.Free != s.MaxRetained-len(left) {
		t.Errorf("with %v left, the daemon counts %d and has %d free", left, s.Counted, s.Free)
	}
	for _, one := range s.Slots {
		want := "free"
		for _, name := range left {
			if one.Name == name {
				want = "leftover"
			}
		}
		if one.State != want {
			t.Errorf("%s is %s, want %s (%s)", one.Name, one.State, want, one.Message)
		}
	}
	for _, name := range left {
		if !within(endsWithin, func() bool { return d.logs("leftover", name) }) {
			t.Errorf("the log does not tell of the leftover %s:\n%s", name, d.log)
		}
	}
}

// logs says whether one line of the log has all these words.
func (d *daemon) logs(words ...string) bool {
	for line := range strings.Lines(d.log.String()) {
		has := true
		for _, word := range words {
			has = has && strings.Contains(line, word)
		}
		if has {
			return true
		}
	}
	return false
}

// tree is everything about every entry of a directory but the times of reading.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if path != dir {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fingerprint(paths...)
}

// fingerprint is all that can be known of files without touching them, save the
// time of the last reading.
func fingerprint(paths ...string) string {
	var all strings.Builder
	for _, path := range paths {
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); err != nil {
			fmt.Fprintln(&all, path, err)
			continue
		}
		content := ""
		if st.Mode&syscall.S_IFMT == syscall.S_IFREG {
			content, _ = readText(path)
		}
		fmt.Fprintln(&all, path, st.Ino, st.Mode, st.Nlink, st.Uid, st.Gid, st.Size, st.Mtim, st.Ctim, digestOf([]byte(content)))
	}
	return all.String()
}

func mustBeUntouched(t *testing.T, d *daemon, before string) {
	t.Helper()
	if after := tree(t, d.root); after != before {
		t.Errorf("what was left has changed. Before:\n%.2000s\nafter:\n%.2000s", before, after)
	}
}

// mustRunBeside runs a program beside what is left, which stays as it is.
func mustRunBeside(t *testing.T, d *daemon) {
	t.Helper()
	before := tree(t, d.root)
	r := d.script(t, "console.log(process.cwd())")
	got, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, got)
	free := fmt.Sprintf("%s/slot-%d/input\n", d.root, len(names(t, d.root)))
	if said := got.Process.Stdout.plain(t); said != free {
		t.Errorf("a program ran in %q, want %q", said, free)
	}
	mustBeUntouched(t, d, before)
}

// clear removes what is left, as a person would; then every slot is free.
func (d *daemon) clear(t *testing.T) {
	t.Helper()
	for _, name := range names(t, d.root) {
		if err := os.RemoveAll(filepath.Join(d.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if s := d.slots(t); s.Free != s.MaxRetained {
		t.Errorf("after everything was removed: %+v", s)
	}
}

// TestSuspendedDaemon: what happens while a daemon is stopped is told rightly
// when it goes on.
func TestSuspendedDaemon(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	run := d.live(t, d.script(t, waiting("suspended")+"console.log('before')"), "suspended")
	d.suspend(t)
	tell(t, run.pid)
	poll(t, func() bool {
		p, ok := readProcess(fmt.Sprintf("/proc/%d/stat", run.pid))
		return ok && p.state == "Z"
	}, func() string { return "the program does not end" })
	d.resume(t)
	got := run.answer(t, d).result(t)
	d.mustBeRight(t, run.r, got)
	if p := got.Process; p.Exit.Code == nil || *p.Exit.Code != 0 || p.Stopped != nil || p.KillSent {
		t.Errorf("the run is told as %+v", p)
	}
}
