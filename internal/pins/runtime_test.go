package pins

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// sampleClosure is a closure with two of everything, in the order TakeClosure would give.
func sampleClosure() Closure {
	file := func(path string, size int64) RuntimeFile {
		return RuntimeFile{Path: path, Size: size, SHA256: sha256.Sum256([]byte(path)), ID: FileID{Dev: 1, Ino: 2, UID: 3, Size: size, MtimeNs: 4, CtimeNs: 5}}
	}
	return Closure{
		Node: "/n/node", Interpreter: "/lib64/ld.so",
		Files:     []RuntimeFile{file("/lib/ld.so", 1), file("/n/node", 22)},
		Aliases:   []Alias{{"/l", "n"}, {"/lib64", "lib"}},
		Launchers: []RuntimeFile{file("/c", 3), file("/d", 4)},
	}
}

func sampleRuntime(edit func(c *Closure, version *string, host *[]HostFact)) Runtime {
	c, version, host := sampleClosure(), "v26.8.1", []HostFact{{"kernel-release", "6.1"}, {"a", "b"}}
	edit(&c, &version, &host)
	return NewRuntime(c, version, host)
}

func unedited(*Closure, *string, *[]HostFact) {}

// TestRuntimeText writes the text of the digests out.
func TestRuntimeText(t *testing.T) {
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	closure := []string{
		"alias\t/l\tn\n", "alias\t/lib64\tlib\n", "file\t/lib/ld.so\t1\t" + sum("/lib/ld.so") + "\n", "file\t/n/node\t22\t" + sum("/n/node") + "\n",
		"launcher\t/c\t3\t" + sum("/c") + "\n", "launcher\t/d\t4\t" + sum("/d") + "\n", "node\tv26.8.1\n",
	}
	host := []string{"os\ta\tb\n", "os\tkernel-release\t6.1\n"}
	digest := func(lines ...string) Digest {
		return Digest("sha256:" + sum("sf-confined-runtime/1\n"+strings.Join(lines, "")))
	}
	rt := sampleRuntime(unedited)
	if want := digest(closure...); rt.ClosureDigest != want {
		t.Errorf("closure digest %s, want %s", rt.ClosureDigest, want)
	}
	if want := digest(append(closure, host...)...); rt.Digest != want {
		t.Errorf("digest %s, want %s", rt.Digest, want)
	}
	if rt.OS != runtime.GOOS || rt.Arch != runtime.GOARCH || rt.NodeVersion != "v26.8.1" || rt.Node != "/n/node" {
		t.Errorf("%+v", rt)
	}
}

// TestEveryPartMovesTheRuntimeDigest edits each part of a runtime.
func TestEveryPartMovesTheRuntimeDigest(t *testing.T) {
	closureParts := map[string]func(c *Closure, version *string, host *[]HostFact){
		"file path":     func(c *Closure, _ *string, _ *[]HostFact) { c.Files[0].Path += "x" },
		"file size":     func(c *Closure, _ *string, _ *[]HostFact) { c.Files[0].Size++ },
		"file content":  func(c *Closure, _ *string, _ *[]HostFact) { c.Files[1].SHA256[31]++ },
		"a file more":   func(c *Closure, _ *string, _ *[]HostFact) { c.Files = append(c.Files, RuntimeFile{Path: "/z"}) },
		"a file less":   func(c *Closure, _ *string, _ *[]HostFact) { c.Files = c.Files[1:] },
		"a file twice":  func(c *Closure, _ *string, _ *[]HostFact) { c.Files = append(c.Files, c.Files[0]) },
		"launcher path": func(c *Closure, _ *string, _ *[]HostFact) { c.Launchers[0].Path += "x" },
		"launcher size": func(c *Closure, _ *string, _ *[]HostFact) { c.Launchers[0].Size++ },
		"launcher":      func(c *Closure, _ *string, _ *[]HostFact) { c.Launchers[1].SHA256[0]++ },
		"no launcher":   func(c *Closure, _ *string, _ *[]HostFact) { c.Launchers = nil },
		"alias path":    func(c *Closure, _ *string, _ *[]HostFact) { c.Aliases[0].Path += "x" },
		"alias target":  func(c *Closure, _ *string, _ *[]HostFact) { c.Aliases[1].Target += "/" },
		"an alias less": func(c *Closure, _ *string, _ *[]HostFact) { c.Aliases = c.Aliases[:1] },
		"version":       func(_ *Closure, v *string, _ *[]HostFact) { *v = "v26.8.2" },
		"launcher a file": func(c *Closure, _ *string, _ *[]HostFact) {
			c.Files, c.Launchers = append(c.Files, c.Launchers...), nil
		},
	}
	hostParts := map[string]func(c *Closure, version *string, host *[]HostFact){
		"fact key":    func(_ *Closure, _ *string, h *[]HostFact) { (*h)[0].Key += "x" },
		"fact value":  func(_ *Closure, _ *string, h *[]HostFact) { (*h)[1].Value += "x" },
		"a fact less": func(_ *Closure, _ *string, h *[]HostFact) { *h = (*h)[1:] },
		"no facts":    func(_ *Closure, _ *string, h *[]HostFact) { *h = nil },
	}
	was := sampleRuntime(unedited)
	seen := map[Digest]string{was.Digest: "nothing"}
	moved := func(name string, d Digest) {
		if other, again := seen[d]; again {
			t.Errorf("editing %s gives the digest of editing %s", name, other)
		}
		seen[d] = name
	}
	for name, edit := range closureParts {
		now := sampleRuntime(edit)
		moved(name, now.Digest)
		if now.ClosureDigest == was.ClosureDigest {
			t.Errorf("%s does not move the closure digest", name)
		}
	}
	for name, edit := range hostParts {
		now := sampleRuntime(edit)
		moved(name, now.Digest)
		if now.ClosureDigest != was.ClosureDigest {
			t.Errorf("%s moves the closure digest", name)
		}
	}
}

// TestWhatDoesNotMoveTheRuntimeDigest: the order of lists and the times of files.
func TestWhatDoesNotMoveTheRuntimeDigest(t *testing.T) {
	was := sampleRuntime(unedited)
	now := sampleRuntime(func(c *Closure, _ *string, h *[]HostFact) {
		slices.Reverse(c.Files)
		slices.Reverse(c.Aliases)
		slices.Reverse(c.Launchers)
		slices.Reverse(*h)
		c.Files[0].ID = FileID{}
	})
	if now.Digest != was.Digest || now.ClosureDigest != was.ClosureDigest {
		t.Error("the digests depend on the order of the lists or on times")
	}
}

// TestRuntimeTextHasOneReading: a field that holds the separators cannot pass for several.
func TestRuntimeTextHasOneReading(t *testing.T) {
	sneaky := NewRuntime(Closure{}, "v1\nos\tk\tv", nil)
	plain := NewRuntime(Closure{}, "v1", []HostFact{{"k", "v"}})
	quoted := NewRuntime(Closure{}, `"v1\nos\tk\tv"`, nil)
	if sneaky.Digest == plain.Digest || sneaky.Digest == quoted.Digest {
		t.Error("two runtimes share a digest")
	}
	if NewRuntime(Closure{}, "v1", []HostFact{{"k\tv", ""}}).Digest == NewRuntime(Closure{}, "v1", []HostFact{{"k", "v\t"}}).Digest {
		t.Error("a tab moves from one field to another")
	}
}

func TestOSBuild(t *testing.T) {
	if got := sampleRuntime(unedited).OSBuild(); got != "kernel-release 6.1, a b" {
		t.Errorf("%q", got)
	}
	if got := (Runtime{Host: []HostFact{{"kern.osversion", "24A335"}}}).OSBuild(); got != "24A335" {
		t.Errorf("%q", got)
	}
}

func TestHostFacts(t *testing.T) {
	facts, err := HostFacts()
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, f := range facts {
		keys = append(keys, f.Key)
		if f.Value == "" || hasControl(f.Value) {
			t.Errorf("%s is %q", f.Key, f.Value)
		}
	}
	want := map[string][]string{"linux": {"kernel-release", "kernel-version", "landlock-abi"}, "darwin": {"kern.osversion"}}[runtime.GOOS]
	if !slices.Equal(keys, want) {
		t.Errorf("facts %q, want %q", keys, want)
	}
	if runtime.GOOS == "linux" {
		release, err := os.ReadFile("/proc/sys/kernel/osrelease")
		if err != nil || facts[0].Value+"\n" != string(release) {
			t.Errorf("kernel release %q, the kernel says %q, %v", facts[0].Value, release, err)
		}
	}
}
