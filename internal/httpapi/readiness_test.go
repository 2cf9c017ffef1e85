package httpapi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"confined/internal/exec"
	"confined/internal/pins"
)

// runtimeFile is path as pins would have found it.
func runtimeFile(t *testing.T, path string) pins.RuntimeFile {
	t.Helper()
	id, err := pins.LookAt(path)
	if err != nil {
		t.Fatal(err)
	}
	return pins.RuntimeFile{Path: path, Size: id.Size, ID: id}
}

// TestProbesDoNotHash: the runtime is described again exactly when a file or a
// symlink of it looks different, or nothing proves it any more.
func TestProbesDoNotHash(t *testing.T) {
	dir := t.TempDir()
	node, link := filepath.Join(dir, "node"), filepath.Join(dir, "link")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(node, []byte("a"), 0o755))
	must(os.Symlink("node", link))
	described, unproven := 0, error(nil)
	w := newRuntimeWatch(func(context.Context) (exec.Description, error) {
		described++
		target, err := os.Readlink(link)
		must(err)
		return exec.Description{Runtime: pins.Runtime{Closure: pins.Closure{
			Node: node, Files: []pins.RuntimeFile{runtimeFile(t, node)}, Aliases: []pins.Alias{{Path: link, Target: target}},
		}}}, unproven
	}, func(pins.Runtime) (pins.Proof, error) { return pins.Proof{}, unproven })
	changes := []func(){
		func() {}, // the first look
		func() { must(os.WriteFile(node, []byte("ab"), 0o755)) },
		func() { must(os.Chtimes(node, time.Time{}, time.Unix(1, 0))) },
		func() {
			must(os.Rename(node, node+".old"))
			must(os.WriteFile(node, []byte("ab"), 0o755))
			must(os.Chtimes(node, time.Time{}, time.Unix(1, 0)))
		},
		func() { must(os.Remove(link)); must(os.Symlink("./node", link)) },
	}
	for i, change := range changes {
		change()
		for range 3 {
			must(w.check(t.Context()))
		}
		if described != i+1 {
			t.Fatalf("after change %d the runtime was described %d times", i, described)
		}
	}
	if _, err := w.recompute(t.Context()); err != nil || described != len(changes)+1 {
		t.Errorf("GET /v1/runtime must recompute: %v, %d", err, described)
	}
	unproven = errors.New("the receipt is gone")
	for range 3 {
		if err := w.check(t.Context()); !errors.Is(err, unproven) || described != len(changes)+2 {
			t.Errorf("without its receipt: %v, %d", err, described)
		}
	}
}

// TestFailuresAreLookedAtAgain: but not for every probe.
func TestFailuresAreLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		described, failure := 0, errors.New("no Node")
		w := newRuntimeWatch(func(context.Context) (exec.Description, error) {
			described++
			return exec.Description{}, failure
		}, func(pins.Runtime) (pins.Proof, error) { return pins.Proof{}, nil })
		for range 5 {
			if err := w.check(t.Context()); !errors.Is(err, failure) {
				t.Error(err)
			}
			pass(describeAgain / 5)
		}
		if described != 1 {
			t.Errorf("described %d times", described)
		}
		failure = nil
		if err := w.check(t.Context()); err != nil || described != 2 {
			t.Errorf("%v, described %d times", err, described)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.check(ctx); err != nil {
			t.Errorf("what is known needs no look: %v", err)
		}
		if _, err := w.recompute(ctx); !errors.Is(err, context.Canceled) || w.err != nil {
			t.Errorf("a client that went away must not become the outcome: %v, %v", err, w.err)
		}
	})
}

// TestHooksAreCalled: each for its own event.
func TestHooksAreCalled(t *testing.T) {
	var events []string
	var bytes int64
	r := newRig(t, func(o *Options) {
		o.Trace = &Trace{
			Refused:     func(code string) { events = append(events, code) },
			QueueWait:   func(time.Duration) { events = append(events, "wait") },
			UploadBytes: func(n int64) { bytes = n; events = append(events, "upload") },
		}
	})
	body, contentType := helloForm(nil)
	r.post(t, "/v1/runs", body, contentType)
	r.get(t, "/nothing")
	if want := []string{"upload", "wait", "not-found"}; !slices.Equal(events, want) || bytes != int64(len(body)) {
		t.Errorf("%v, %d bytes of %d", events, bytes, len(body))
	}
}

func TestOptionsAreJudged(t *testing.T) {
	good := newRig(t, nil).opts
	for name, spoil := range map[string]func(*Options){
		"executor": func(o *Options) { o.Executor = nil }, "metrics": func(o *Options) { o.Metrics = nil }, "workers": func(o *Options) { o.Workers = 0 },
		"queue": func(o *Options) { o.Queue = -1 }, "memory": func(o *Options) { o.UploadMemory = 1 },
	} {
		o := good
		spoil(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
