//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// scene is one place to act in: the layout of a slot and, around it, throw-away
// things of the host that the acts aim at. Each belongs to the user of the
// process that acts, so that ordinary permissions never are what stops it.
type scene struct {
	user
	t      *testing.T
	slot   string            // holds program, input, home and canary
	dir    string            // of the test, open to everybody
	w      map[string]any    // what the acts know: world.json
	expect map[string]string // what the host knows of the same
	addon  string            // native code of the program's own
	*ends                    // of connections and processes

	pid           int // of the process that acts
	before, after map[string]string
	lines         map[string]line
	noise         string // its other output
}

// newScene makes a scene for a user; an empty slot means one of the scene's own.
func newScene(t *testing.T, slot string, u user, addon string) *scene {
	t.Helper()
	s := &scene{t: t, user: u, slot: slot, addon: addon, dir: openDir(t, ""), expect: map[string]string{}}
	if slot == "" {
		s.slot = filepath.Join(s.dir, "slot-1")
	}
	s.ends = newEnds(t, s.dir, u)
	s.w = map[string]any{
		"slot": s.slot, "program": s.slot + "/program", "input": s.slot + "/input", "home": s.slot + "/home",
		"outside": openDir(t, ""), "tmp": openDir(t, "/tmp"), "shm": openDir(t, "/dev/shm"), "hollow": openDir(t, ""),
		"secret": s.dir + "/secret.txt", "module": s.dir + "/secret.mjs", "settings": s.dir + "/.env", "marker": s.dir + "/marker.cjs",
	}
	maps.Copy(s.w, s.ends.world())
	s.secret("file", s.dir+"/secret.txt", "%s")
	s.secret("module", s.dir+"/secret.mjs", "export default '%s';\n")
	s.secret("settings", s.dir+"/.env", "WORD=%s\n")
	s.put(s.dir+"/marker.cjs", "require('node:fs').writeFileSync(process.argv[2], ''); process.exit()\n")
	for _, spot := range spots() {
		if spot.given {
			s.lay(t, spot)
		}
	}
	for _, tree := range []string{"outside", "tmp", "shm", "hollow"} {
		s.give(t, s.w[tree].(string))
	}
	s.give(t, s.dir)
	return s
}

// openDir makes a directory that every user can reach.
func openDir(t *testing.T, under string) string {
	t.Helper()
	dir, err := os.MkdirTemp(under, "cfscene")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// secret writes a word that only the named file holds.
func (s *scene) secret(name, path, form string) {
	s.expect[name] = random()
	s.put(path, fmt.Sprintf(form, s.expect[name]))
}

func (s *scene) put(path, content string) {
	s.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// give makes trees belong to the scene's user.
func (s *scene) give(t *testing.T, trees ...string) {
	t.Helper()
	for _, tree := range trees {
		err := filepath.WalkDir(tree, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, s.uid, s.gid))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// program is the program of a scene: the acts of a table, and a native addon.
func (s *scene) program(t *testing.T, table []probe) files {
	t.Helper()
	var acts strings.Builder
	acts.WriteString(testdata(t, "imports.mjs") + "\nexport const acts = [\n")
	for _, p := range table {
		fmt.Fprintf(&acts, "[%q, async (w) => { %s }],\n", p.name, p.act)
	}
	acts.WriteString("];\n")
	f := files{"runner.mjs": testdata(t, "runner.mjs"), "acts.mjs": acts.String(), "addon.node": s.addon}
	return addTargets(f, "program")
}

// input is the input of a scene.
func (s *scene) input(t *testing.T) files {
	t.Helper()
	return addTargets(files{"world.json": text(t, s.w), "own.txt": "mine", "addon.node": s.addon, "extension.so": s.addon}, "input")
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(shared.repo, "e2e", "testdata", "boundary", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// nativeAddon compiles testdata/boundary/addon.c.
func nativeAddon(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "addon.node")
	cc := osexec.Command("cc", "-shared", "-fPIC", "-O1", "-o", out, filepath.Join(shared.repo, "e2e", "testdata", "boundary", "addon.c"), "-ldl")
	if said, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("no C compiler made the native addon: install gcc (%v)\n%s", err, said)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// furnish lays the slot of an unconfined scene out like a run's. Its files may
// be written by their owner: nothing but the boundary is to make the difference.
func (s *scene) furnish(t *testing.T, program, input files) {
	t.Helper()
	for name, f := range map[string]files{"program": program, "input": input} {
		for path, content := range f {
			s.put(s.slot+"/"+name+"/"+path, content)
		}
	}
	s.put(s.slot+"/canary", "canary\n")
	if err := os.Mkdir(s.slot+"/home", 0o700); err != nil {
		t.Fatal(err)
	}
	node := s.dir + "/node" // where this user can reach it
	copyNode(t, node)
	s.give(t, s.slot, node)
}

func copyNode(t *testing.T, to string) {
	t.Helper()
	in, err := os.Open(shared.node)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err == nil {
		_, err = io.Copy(out, in)
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// plainRun is a Node.js that runs unconfined.
type plainRun struct {
	pid    int
	cmd    *osexec.Cmd
	output bytes.Buffer
}

// plain starts the program of a furnished scene unconfined: as the scene's
// user and laid out as a run, but with what a careless parent leaves to it.
func (s *scene) plain(t *testing.T, entry string) *plainRun {
	t.Helper()
	cmd := as(s.user, osexec.Command(s.dir+"/node", s.slot+"/program/"+entry))
	cmd.Dir = s.slot + "/input"
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "HOME=" + s.slot + "/home", "TMPDIR=" + s.slot + "/home", "OPENSSL_CONF=/dev/null", "SECRET=" + s.expect["surroundings"]}
	inherited, err := os.Open(s.dir + "/inherited")
	if err != nil {
		t.Fatal(err)
	}
	defer inherited.Close()
	cmd.ExtraFiles = []*os.File{inherited}
	r := &plainRun{cmd: cmd}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(""), &r.output, &r.output
	cmd.WaitDelay = patience
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the unconfined program wrote:\n%.20000s", r.output.String())
		}
	})
	r.pid = cmd.Process.Pid
	return r
}

// release lets the program end and returns what it wrote.
func (r *plainRun) release(t *testing.T) string {
	t.Helper()
	tell(t, r.pid)
	if err := r.cmd.Wait(); err != nil {
		t.Fatalf("the unconfined program: %v\n%s", err, r.output.String())
	}
	return r.output.String()
}
