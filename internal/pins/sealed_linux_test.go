package pins

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func mustSeal(t testing.TB, node string, launcher []Launcher) *Sealed {
	t.Helper()
	s, err := Seal(context.Background(), node, launcher)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// seal seals bin/node of the tree until the test ends.
func (tr *tree) seal() *Sealed {
	tr.t.Helper()
	s, err := tr.subject("bin/node").seal(context.Background())
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			tr.t.Error(err)
		}
	})
	return s
}

// TestUnchangedSealed: a sealed runtime sees every change that hashing everything sees, in the same words.
func TestUnchangedSealed(t *testing.T) {
	seeChanges(t, func(tr *tree) (Closure, func() (Closure, error)) {
		s := tr.seal()
		return s.Closure, func() (Closure, error) { return s.Again(context.Background()) }
	})
}

// TestSealIsWhatTakeClosureTakes, of the pinned Node and this host.
func TestSealIsWhatTakeClosureTakes(t *testing.T) {
	node, launcher := pinnedNode(t), openLauncher(t)
	before := countDescriptors(t)
	s := mustSeal(t, node, launcher)
	hashed, err := TakeClosure(context.Background(), node, launcher)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Unchanged(hashed); err != nil {
		t.Error(err)
	}
	again, err := s.Again(context.Background())
	if err != nil || hashed.Unchanged(again) != nil {
		t.Errorf("%v, %v", err, hashed.Unchanged(again))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if after := countDescriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

// TestAgainReadsWhatIsNotSteadfast: every file whose mode lets others than root write, and none besides. What is read shows
// by what is remembered being wrong.
func TestAgainReadsWhatIsNotSteadfast(t *testing.T) {
	tr := newTree(t)
	for path, mode := range map[string]os.FileMode{"usr/lib/x/libb.so": 0o666, "usr/lib/x/liba.so.1.2": 0o644, "opt/bin/node": 0o777} {
		if err := os.Chmod(tr.at(path), mode); err != nil {
			t.Fatal(err)
		}
	}
	s := tr.seal()
	for path, known := range s.memory.files {
		known.file.SHA256[0]++
		s.memory.files[path] = known
	}
	s.memory.launchers[0].SHA256[0]++
	again := tr.must(s.Again(context.Background()))
	ours := os.Geteuid() != 0 // then the files are ours, and nothing but Node is known
	want := map[string]bool{tr.at("opt/bin/node"): false, tr.at("usr/lib/x/libb.so"): true,
		tr.at("usr/lib/x/liba.so.1.2"): ours, tr.at("usr/lib/x/ld-linux-x86-64.so.2"): ours}
	for i, f := range again.Files {
		if read := f.SHA256 == s.Files[i].SHA256; read != want[f.Path] {
			t.Errorf("%s was read again: %v", f.Path, read)
		}
	}
	if again.Launchers[0] == s.Launchers[0] {
		t.Error("the launcher was read again")
	}
}

// TestTheHostsLibrariesAreSteadfast: whoever the daemon is, root alone writes to them.
func TestTheHostsLibrariesAreSteadfast(t *testing.T) {
	s := mustSeal(t, pinnedNode(t), openLauncher(t))
	defer s.Close()
	held := 0
	for path, known := range s.memory.files {
		if known.held != nil {
			held++
		} else if !known.image {
			t.Errorf("%s would be hashed before and after each run", path)
		}
	}
	if held < 4 {
		t.Errorf("%d libraries are held", held)
	}
}

func TestSteadfast(t *testing.T) {
	for _, row := range []struct {
		name  string
		owner int
		mode  os.FileMode
		tells bool
		want  bool
	}{
		{"root's", 0, 0o755, true, true},
		{"root's, read-only", 0, 0o444, true, true},
		{"root's, with a set-id bit", 0, 0o755 | os.ModeSetuid, true, true},
		{"its group writes", 0, 0o775, true, false},
		{"all write", 0, 0o646, true, false},
		{"a user's", 1000, 0o755, true, false},
		{"a user's, read-only", 1000, 0o444, true, false},
		{"a directory", 0, 0o755 | os.ModeDir, true, false},
		{"where change times do not tell", 0, 0o755, false, false},
	} {
		if got := steadfast(row.owner, row.mode, row.tells); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}

// TestChangeTimesOnMemory: on tmpfs they do not tell, here they do.
func TestChangeTimesOnMemory(t *testing.T) {
	for file, want := range map[*os.File]bool{contentFile(t): true, unsealed(t): false} {
		if got := tellsChanges(file); got != want {
			t.Errorf("%s: %v", file.Name(), got)
		}
	}
}

// TestSealFailsWhole: whatever is wrong beside Node, nothing stays open.
func TestSealFailsWhole(t *testing.T) {
	for name, spoil := range map[string]func(tr *tree){
		"a library is missing": func(tr *tree) { tr.remove("usr/lib/x/libb.so") },
		"a library is none":    func(tr *tree) { tr.elf("usr/lib/x/libb.so", elfSpec{kind: elfExec}) },
		"Node is none":         func(tr *tree) { tr.write("opt/bin/node", "text") },
		"no loader":            func(tr *tree) { tr.remove("usr/lib64") },
	} {
		tr := newTree(t)
		spoil(tr)
		subject := tr.subject("bin/node")
		before := countDescriptors(t)
		_, err := subject.seal(context.Background())
		var unavailable *UnavailableError
		if !errors.As(err, &unavailable) {
			t.Errorf("%s: %v", name, err)
		}
		_, hashed := subject.take(context.Background(), nil, nil)
		if hashed == nil || err == nil || err.Error() != hashed.Error() {
			t.Errorf("%s: %v, and without a seal %v", name, err, hashed)
		}
		if after := countDescriptors(t); after != before {
			t.Errorf("%s: %d descriptors, %d before", name, after, before)
		}
	}
}

// TestWhatRunsIsWhatWasSealed: whatever is at Node's path by then, and it is told.
func TestWhatRunsIsWhatWasSealed(t *testing.T) {
	c := compile(t)
	program := filepath.Join(c.dir, "node")
	c.cc("-o", program, c.object)
	s := mustSeal(t, program, openLauncher(t))
	defer s.Close()
	other, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(program, program+".old"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, content, 0o700); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, exec.Command(program)); code != 0 {
		t.Errorf("the control: what is at the path ends with %d", code)
	}
	sealed := exec.Command("/proc/self/fd/3")
	sealed.ExtraFiles = []*os.File{s.Image().File()}
	if code := exitCode(t, sealed); code != 42 {
		t.Errorf("the copy ends with %d, what was sealed with 42", code)
	}
	now, err := s.Again(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Unchanged(now); err == nil {
		t.Error("the swap is not told")
	}
}

func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// TestNoSealedImageNoRuntime: an image that is no longer what was hashed ends the runtime, in words for a run's result.
func TestNoSealedImageNoRuntime(t *testing.T) {
	s := newTree(t).seal()
	image := s.memory.image.file
	s.memory.image.file = unsealed(t)
	_, err := s.Again(context.Background())
	var changed *ChangedError
	if !errors.As(err, &changed) || changed.Path != s.Node {
		t.Errorf("%v", err)
	}
	s.memory.image.file = image
	if _, err := s.Again(context.Background()); err != nil {
		t.Errorf("the control: %v", err)
	}
}
