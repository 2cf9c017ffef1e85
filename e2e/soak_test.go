//go:build linux

package e2e

import (
	secret "crypto/rand"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	osexec "os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// soak is one long run of good, dying and hostile programs, sent by clients good
// and bad to daemons that are told to end or killed, one after the other in the
// same places. What must never be is looked for from outside all the time.
type soak struct {
	began  time.Time
	length time.Duration
	seed   uint64

	marks     string // a directory that is open to everybody, and that nobody may change
	untouched string // what it was before
	host      []string
	stamps    string // of host
	bystander *osexec.Cmd
	visits    atomic.Int64 // to the socket in marks
	hostile   string       // source
	addon     string       // a shared library of the host
	aims      string       // what the hostile program knows of all this

	spans *rand.Rand // of the daemons' lives
	lives int

	mu      sync.Mutex // guards what follows
	errands *rand.Rand
	deck    []deed
	drawn   int
	tally   map[string]int
}

// The daemon of the soak: with fewer places than it has clients.
const (
	soakWorkers = 2
	soakSlots   = 8
	soakClients = 7
)

// TestSoak lasts CONFINE_SOAK (`make soak` has it last ten minutes) and draws by
// CONFINE_SOAK_SEED. The same seed draws the same errands and lives in the same
// order; what coincides with what is up to the machine. The first daemon lives half of the time, the others for
// seconds. The first thing that is not as it must be ends it.
func TestSoak(t *testing.T) {
	s := newSoak(t)
	d := bootDaemon(t, newPlaces(t), nil, withFlags(fmt.Sprintf("--workers=%d", soakWorkers), fmt.Sprintf("--max-retained=%d", soakSlots), "--queue=3"))
	t.Cleanup(func() { d.endIfAlive() })
	s.watchOver(t, d)
	defer s.report(t)
	span := s.length / 2
	for left := s.length; left > 0 || s.lives < 2; left = s.length - time.Since(s.began) {
		killed := s.lives%2 == 1 // every other, the second one at least
		if s.live(t, d, min(max(left, time.Second), span), killed); t.Failed() {
			return
		}
		d = s.next(t, d, killed)
		span = between(s.spans, 3*time.Second, 20*time.Second)
	}
	d.end(t)
}

// newSoak draws a seed and lays out what hostile programs aim at.
func newSoak(t *testing.T) *soak {
	s := &soak{began: time.Now(), length: 6 * time.Second, seed: rand.Uint64(), tally: map[string]int{}}
	var err error
	if text := os.Getenv("CONFINE_SOAK"); text != "" {
		if s.length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("CONFINE_SOAK: %v", err)
		}
	}
	if text := os.Getenv("CONFINE_SOAK_SEED"); text != "" {
		if s.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("CONFINE_SOAK_SEED: %v", err)
		}
	}
	s.errands, s.spans = rand.New(rand.NewPCG(s.seed, 0)), rand.New(rand.NewPCG(s.seed, 1))
	t.Logf("soak: %s, CONFINE_SOAK_SEED=%d", s.length, s.seed)
	s.aim(t)
	return s
}

// aim makes what hostile programs are after. All of it may be written, read,
// reached and killed by the users that they are.
func (s *soak) aim(t *testing.T) {
	t.Helper()
	var err error
	if s.marks, err = os.MkdirTemp("", "cfmarks"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(s.marks) })
	socket := s.marks + "/there"
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go s.receive(l)
	for path, mode := range map[string]os.FileMode{s.marks: 0o777, socket: 0o777, s.marks + "/secret": 0o666} {
		if path == s.marks+"/secret" {
			err = os.WriteFile(path, []byte(secret.Text()), mode)
		}
		if err == nil {
			err = os.Chmod(path, mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.bystander = osexec.Command("sleep", "3600")
	if os.Geteuid() == 0 { // whom the program in slot-0 belongs to
		s.bystander.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 61000, Gid: 61000}}
	}
	if err := s.bystander.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.bystander.Process.Kill()
		_ = s.bystander.Wait()
	})
	s.untouched = tree(t, s.marks)
	s.aims = text(t, map[string]any{"marks": s.marks, "socket": socket, "bystander": s.bystander.Process.Pid})
	if s.hostile, err = readText(shared.repo + "/e2e/testdata/soak/hostile.mjs"); err != nil {
		t.Fatal(err)
	}
}

// receive counts who comes.
func (s *soak) receive(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.visits.Add(1)
		c.Close()
	}
}

// watchOver notes the files of the host that every run has in its root, and has
// the hostile program bring one of them as native code of its own.
func (s *soak) watchOver(t *testing.T, d *daemon) {
	t.Helper()
	runtime := decode[struct{ Files []struct{ Path string } }](t, d.get(t, "/v1/runtime").body)
	for _, f := range runtime.Files {
		s.host = append(s.host, f.Path)
	}
	s.addon = d.library(t)
	s.host = append(s.host, shared.binary, "/etc/passwd", "/etc", "/dev/null", "/")
	s.stamps = stamps(s.host)
}

// stamps are the files' inodes with the times at which they were last changed.
// Of the places where the host itself makes files, only the inode counts.
func stamps(paths []string) string {
	var out strings.Builder
	for _, path := range paths {
		var st syscall.Stat_t
		err := syscall.Lstat(path, &st)
		if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
			st.Ctim, st.Size = syscall.Timespec{}, 0
		}
		fmt.Fprintln(&out, path, st.Ino, st.Mode, st.Uid, st.Gid, st.Size, st.Ctim, err)
	}
	return out.String()
}

// live sends load to a daemon for a while, and then ends it in the middle of
// that, with SIGTERM or SIGKILL.
func (s *soak) live(t *testing.T, d *daemon, span time.Duration, kill bool) {
	s.lives++
	d.pins(t)
	l := &life{soak: s, d: d, pid: d.cmd.Process.Pid}
	var clients sync.WaitGroup
	for range soakClients {
		clients.Go(func() { l.client(t) })
	}
	l.oversee(t, span)
	l.ending.Store(true)
	if kill {
		d.kill9(t)
	} else {
		d.end(t)
	}
	clients.Wait()
	d.mustFitContract(t)
	s.mustBeUntouched(t)
	l.judgeGrowth(t)
}

// next is the daemon after one that ended. What a killed one left is told to be
// that, and released, as an operator does it.
func (s *soak) next(t *testing.T, d *daemon, killed bool) *daemon {
	t.Helper()
	if !killed {
		return bootDaemon(t, d.places, nil, withFlags(d.args...))
	}
	d = d.next(t, -1)
	for _, name := range d.rootEntries(t) {
		d.mustRelease(t, name, d.slot(t, name).etag)
		s.count("released")
	}
	if got := d.slots(t); got.Free != soakSlots {
		t.Errorf("when all is released: %+v", got)
	}
	return d
}

// endIfAlive is for a test that failed on its way.
func (d *daemon) endIfAlive() {
	_ = d.cmd.Process.Kill()
	<-d.exited
}

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

func (s *soak) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally[what]++
}

// counts is what came so far.
func (s *soak) counts() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, what := range slices.Sorted(maps.Keys(s.tally)) {
		out = append(out, fmt.Sprintf("%s %d", what, s.tally[what]))
	}
	return strings.Join(out, ", ")
}

// mustBeUntouched: nothing that hostile programs are after has changed.
func (s *soak) mustBeUntouched(t *testing.T) {
	t.Helper()
	if now := tree(t, s.marks); now != s.untouched {
		t.Errorf("what everybody may write was written:\n%s\nbefore:\n%s", now, s.untouched)
	}
	if now := stamps(s.host); now != s.stamps {
		t.Errorf("files of the host have changed:\n%s\nbefore:\n%s", now, s.stamps)
	}
	if n := s.visits.Load(); n != 0 {
		t.Errorf("%d connections came from inside", n)
	}
	if p, ok := readProcess(fmt.Sprintf("/proc/%d/stat", s.bystander.Process.Pid)); !ok || p.state == "Z" {
		t.Error("the bystander was killed")
	}
}

func (s *soak) report(t *testing.T) {
	t.Helper()
	verdict := "nothing was otherwise than it must be"
	if t.Failed() {
		verdict = "FAILED, see above"
	}
	t.Logf("soak: %s, %d daemons, seed %d: %s\n%s", time.Since(s.began).Round(time.Second), s.lives, s.seed, verdict, s.counts())
}
