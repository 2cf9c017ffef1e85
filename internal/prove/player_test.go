package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"confined/internal/confine"
)

func TestMain(m *testing.M) {
	confine.Stage(os.Args)
	if os.Getenv(startsAVictim) != "" {
		startVictim()
	}
	os.Exit(m.Run())
}

// startsAVictim lets this test binary start one and wait to be killed.
const startsAVictim = "PROVE_TEST_STARTS_A_VICTIM"

func startVictim() {
	runtime.LockOSThread()
	v, err := newVictim(us())
	if err == nil {
		err = syscall.Kill(v.pid, syscall.SIGSTOP)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(v.pid)
	select {}
}

// TestPrinted: the words are lines of their own, however the output arrives.
func TestPrinted(t *testing.T) {
	for _, row := range []struct {
		output      string
		ready, done bool
	}{
		{"ready\n", true, false},
		{"\nready\n{}\n\ndone\n", true, true},
		{"already\n", false, false},
		{"ready", false, false},
		{"x\nready\ndone \n", true, false},
	} {
		for step := 1; step <= len(row.output); step++ {
			p := newPlayer()
			for end := step; end < len(row.output); end += step {
				p.printed([]byte(row.output[:end]))
			}
			p.printed([]byte(row.output))
			if closed(p.ready) != row.ready || closed(p.done) != row.done {
				t.Errorf("%q in steps of %d: ready %v, done %v", row.output, step, closed(p.ready), closed(p.done))
			}
		}
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestAwait: a word that came counts, also of a process that has ended since; an end or a cancellation without it ends the wait.
func TestAwait(t *testing.T) {
	p := newPlayer()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.await(ctx, p.ready); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	close(p.ready)
	close(p.over)
	if err := p.await(t.Context(), p.ready); err != nil {
		t.Errorf("said, and over: %v", err)
	}
	if err := p.await(t.Context(), p.done); !errors.Is(err, errOver) {
		t.Errorf("over without a word: %v", err)
	}
}

// TestCarelessness: what the suite does to its own process is taken back.
func TestCarelessness(t *testing.T) {
	t.Setenv("NODE_OPTIONS", "--title=mine")
	before := os.Environ()
	var undo cleanup
	d, err := newDaemon(t.TempDir(), &undo)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("SECRET") != d.secrets["surroundings"] || os.Getenv("NODE_OPTIONS") == "--title=mine" {
		t.Error("the environment is as before")
	}
	undo.now()
	after := os.Environ()
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		t.Errorf("the environment was %q and is %q", before, after)
	}
}

// TestCleanup: the newest first, and once.
func TestCleanup(t *testing.T) {
	var undo cleanup
	var order []int
	for i := range 3 {
		undo.later(func() { order = append(order, i) })
	}
	undo.now()
	undo.now()
	if !slices.Equal(order, []int{2, 1, 0}) {
		t.Errorf("taken back in the order %v", order)
	}
}

// TestReaches: a directory that is closed to others is in the way of another user, and not of its owner.
func TestReaches(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "closed")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	stranger := user{us().uid + 1, us().gid + 1}
	if !us().reaches(inner + "/x") {
		t.Error("its owner cannot reach it")
	}
	if stranger.reaches(inner + "/x") {
		t.Error("a stranger can reach it")
	}
	unnoted := func(string) error { return nil }
	if got, err := openDir(stranger, unnoted, inner); err == nil {
		t.Errorf("a directory for everybody is made in %s", got)
	}
}

// TestPlainWorld: the world as the native probe reads it.
func TestPlainWorld(t *testing.T) {
	got := plainWorld(map[string]any{"slot": "/s", "daemon": 7, "names": map[string]string{"abstract": "\x00x"}, "victims": map[string]int{"read": 8}})
	if want := "daemon\t7\nnames.abstract\t@x\nslot\t/s\nvictims.read\t8\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
