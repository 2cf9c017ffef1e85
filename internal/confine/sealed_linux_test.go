package confine

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"confined/internal/pins"
)

// takeSealed is the tests' Node as a sealed copy, for as long as they last.
var takeSealed = sync.OnceValues(func() (*pins.Sealed, error) {
	launcher, err := openTestLauncher()
	if err != nil {
		return nil, err
	}
	node, err := nodePath()
	if err != nil {
		return nil, err
	}
	return pins.Seal(context.Background(), node, launcher)
})

// sealedJob is a run by the sealed copy.
func (s slot) sealedJob(t testing.TB, entry string) Job {
	t.Helper()
	sealed, err := takeSealed()
	must(t, err)
	j := s.job(t, sealed.Closure, entry)
	j.Image = sealed.Image()
	return j
}

// TestSealed: what runs is the copy, by every sign that the process and the host have of it, and the program finds its Node where it expects it.
func TestSealed(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `
const fs = require('fs');
const code = fs.readFileSync('/proc/self/maps', 'latin1').split('\n').filter((line) => / r-xp .* \/memfd:/.test(line));
console.log(process.execPath, fs.readlinkSync('/proc/self/exe'), code.length, process.argv0);
setInterval(() => {}, 1000)`})
	r := start(t, instance(t, s.sealedJob(t, "main.cjs"))).open(GoByte)
	node := nodeClosure(t).Node
	// Three segments of the file, and V8's builtins once more: that they are mapped and not copied is what the link is for.
	if got, want := line(t, r.Stdout), fmt.Sprintf("%s %s 4 %s", node, node, node); got != want {
		t.Errorf("inside %q, want %q", got, want)
	}
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", r.PID)); exe != ImagePath {
		t.Errorf("outside %q, %v", exe, err)
	}
	must(t, r.Kill())
	r.finish(t)
}

// TestAnotherImage: a descriptor that is not on the profile's inode, or none, is not executed.
func TestAnotherImage(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ran')`})
	good := instance(t, s.sealedJob(t, "main.cjs"))
	if o := run(t, good); o.stdout != "ran\n" {
		t.Fatalf("the control: %+v", o)
	}
	other := good
	f, err := os.Open(good.profile.executable)
	must(t, err)
	defer f.Close()
	other.image = f
	if o := run(t, other); !strings.HasPrefix(o.stderr, "confined: executable: "+ImagePath+": is not the verified ") || o.control != "" || o.stdout != "" {
		t.Errorf("%+v", o)
	}
	other.image = nil
	if o := run(t, other); !strings.HasPrefix(o.stderr, "confined: executable: "+ImagePath+": ") || o.control != "" || o.stdout != "" {
		t.Errorf("%+v", o)
	}
}

// TestSealedOrigin: ld.so expands $ORIGIN by the alias also where the kernel's link leads to a copy without a directory.
func TestSealedOrigin(t *testing.T) {
	s := newSlot(t, nil)
	node := buildOriginNode(t)
	launcher, err := openTestLauncher()
	must(t, err)
	sealed, err := pins.Seal(t.Context(), node, launcher)
	must(t, err)
	defer sealed.Close()
	j := s.job(t, sealed.Closure, "none")
	j.Image = sealed.Image()
	if o := run(t, instance(t, j)); o.state.ExitCode() != 42 || o.stderr != "" {
		t.Errorf("%+v", o)
	}
}
