//go:build linux

package e2e

import (
	"net/http"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// slotDetail is what GET /v1/slots/{name} answers.
type slotDetail struct {
	Slot    slot        `json:"slot"`
	Entries []slotEntry `json:"entries"`
	Users   []int       `json:"users"`
	etag    string
}

type slotEntry struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

func (d *daemon) slot(t testing.TB, name string) slotDetail {
	t.Helper()
	a := d.get(t, "/v1/slots/"+name)
	if a.status != 200 {
		t.Fatalf("%s: %d %s", name, a.status, a.body)
	}
	detail := strict[slotDetail](t, a.body)
	detail.etag = a.header.Get("ETag")
	return detail
}

// release sends a DELETE that quotes these tags.
func (d *daemon) release(t testing.TB, name string, tags ...string) answer {
	t.Helper()
	r := d.newRequest(t, http.MethodDelete, "/v1/slots/"+name, nil)
	r.Header["If-Match"] = tags
	if len(tags) == 0 {
		r.Header.Del("If-Match")
	}
	return d.ask(t, r)
}

func (d *daemon) mustRelease(t testing.TB, name, tag string) {
	t.Helper()
	a := d.release(t, name, tag)
	if a.status != 200 {
		t.Fatalf("release of %s: %d %s", name, a.status, a.body)
	}
	if n := strict[namespace](t, a.body); n.State != "removed" || !n.Durable {
		t.Errorf("release of %s: %+v", name, n)
	}
	if _, err := os.Lstat(filepath.Join(d.root, name)); err == nil {
		t.Errorf("%s is still there", name)
	}
}

// mustRefuse fails unless a release is refused with this code and detail.
func (d *daemon) mustRefuse(t *testing.T, name, code, detail string, tags ...string) {
	t.Helper()
	before := tree(t, d.root)
	if p := d.release(t, name, tags...).problem(t); p.Code != code || !strings.Contains(p.Detail, detail) {
		t.Errorf("release of %s: %s %s, want %s: %s", name, p.Code, p.Detail, code, detail)
	}
	if after := tree(t, d.root); after != before {
		t.Errorf("a release that was refused changed the root:\n%.2000s\n%.2000s", before, after)
	}
}

// tampered leaves a quarantined slot-0 with a stranger in its home.
func (d *daemon) tampered(t *testing.T) {
	t.Helper()
	run := d.live(t, d.script(t, waiting("tampered")), "tampered")
	if err := os.WriteFile(d.root+"/slot-0/home/stranger", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tell(t, run.pid)
	if n := run.answer(t, d).result(t).Namespace; n == nil || n.Reason != "namespace-changed" {
		t.Fatalf("namespace: %+v", n)
	}
}

// TestRelease is the whole way of an operator, with every wrong turn.
func TestRelease(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	d.tampered(t)
	shown := d.slot(t, "slot-0")
	var paths []string
	for _, e := range shown.Entries {
		paths = append(paths, e.Path+" "+e.Kind)
	}
	if want := []string{"canary file", "home directory", "home/stranger file", "input directory", "program directory", "program/main.mjs file"}; !slices.Equal(paths, want) {
		t.Errorf("shown: %v", paths)
	}
	if s := shown.Slot; s.State != "quarantined" || s.Reason != "namespace-changed" || len(shown.Users) != 0 || shown.Entries[2].SHA256 != strings.TrimPrefix(digestOf([]byte("x")), "sha256:") {
		t.Errorf("%+v", shown)
	}
	head := d.ask(t, d.newRequest(t, http.MethodHead, "/v1/slots/slot-0", nil))
	if head.status != 200 || head.header.Get("ETag") != shown.etag || len(head.body) != 0 {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
	d.mustRefuse(t, "slot-0", "precondition-required", "If-Match is missing")
	d.mustRefuse(t, "slot-0", "slot-changed", "2 times", shown.etag, shown.etag)
	for tag, why := range map[string]string{"*": "quote the ETag", strings.Trim(shown.etag, `"`): "double quotes", "W/" + shown.etag: "weak", `"` + strings.Repeat("0", 64) + `"`: "no longer"} {
		d.mustRefuse(t, "slot-0", "slot-changed", why, tag)
	}

	user := osexec.Command("sleep", "3600")
	user.Dir = d.root + "/slot-0/home"
	if err := user.Start(); err != nil {
		t.Fatal(err)
	}
	pid := user.Process.Pid
	if users := d.slot(t, "slot-0").Users; !slices.Equal(users, []int{pid}) {
		t.Errorf("users %v, want %d", users, pid)
	}
	d.mustRefuse(t, "slot-0", "slot-busy", "in use by process "+strconv.Itoa(pid)+"; cure: end", shown.etag)
	_ = user.Process.Kill()
	_ = user.Wait()

	if err := os.Chmod(d.root+"/slot-0/home/stranger", 0o400); err != nil {
		t.Fatal(err)
	}
	d.mustRefuse(t, "slot-0", "slot-changed", "no longer", shown.etag)
	shown = d.slot(t, "slot-0")
	d.mustRelease(t, "slot-0", shown.etag)
	d.mustRefuse(t, "slot-0", "slot-unknown", "slot-0", shown.etag)
	if p := d.get(t, "/v1/slots/slot-0").problem(t); p.Code != "slot-unknown" || p.Status != 404 {
		t.Errorf("GET of a free slot: %+v", p)
	}
	if s := d.slots(t); s.Free != s.MaxRetained || s.Slots[0].State != "free" {
		t.Errorf("%+v", s)
	}
	if !d.logs(`"slot release"`, `"slot-0"`, `"removed"`) {
		t.Error("the log does not tell of the release")
	}
	mustRun(t, d)
}

// TestReleaseOfOthers: what a run has, here or elsewhere, and what is no slot
// can be looked at and is not released.
func TestReleaseOfOthers(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	p := newPlaces(t)
	p.root = d.root
	other := startDaemonIn(t, p, keepingRoot())
	if err := os.Symlink("slot-0", d.root+"/slot-7"); err != nil {
		t.Fatal(err)
	}
	run := d.live(t, d.script(t, waiting("others")+"process.chdir('/');"), "others")
	for state, at := range map[string]*daemon{"running": d, "elsewhere": other} {
		got := at.slot(t, "slot-0")
		if got.Slot.State != state || len(got.Entries) != 5 || !slices.Contains(got.Users, run.pid) {
			t.Errorf("%+v, want it %s with the user %d", got, state, run.pid)
		}
		at.mustRefuse(t, "slot-0", "slot-busy", "slot-0 is ", got.etag)
		link := at.slot(t, "slot-7")
		if link.Slot.State != "foreign" || len(link.Entries) != 0 {
			t.Errorf("%+v", link)
		}
		at.mustRefuse(t, "slot-7", "slot-busy", "remove it by hand", link.etag)
	}
	run.release(t)
	if err := os.Remove(d.root + "/slot-7"); err != nil {
		t.Fatal(err)
	}
}

// TestReleaseIsStopped: what the system does not let go of is quarantined anew,
// also for the next daemon, and can be released later.
func TestReleaseIsStopped(t *testing.T) {
	t.Parallel()
	d := bootDaemon(t, newPlaces(t), nil)
	d.tampered(t)
	free := obstruct(t, d.root+"/slot-0/program")
	a := d.release(t, "slot-0", d.slot(t, "slot-0").etag)
	n := strict[namespace](t, a.body)
	if a.status != 200 || n.State != "quarantined" || n.Reason != "removal-failed" || n.Path != d.root+"/slot-0" || !strings.Contains(n.Message, "program/main.mjs") {
		t.Errorf("%d %s", a.status, a.body)
	}
	free()
	if code := d.stop(t); code != 0 {
		t.Errorf("the daemon ended with %d", code)
	}
	d = startDaemonIn(t, d.places)
	shown := d.slot(t, "slot-0")
	if shown.Slot.Reason != "removal-failed" || shown.Slot.Message != n.Message || shown.Slot.RunID == "" {
		t.Errorf("%+v", shown.Slot)
	}
	d.mustRelease(t, "slot-0", shown.etag)
}

// obstruct makes the kernel refuse to delete what is in a directory: by its
// mode, or for root, whom no mode binds, by making it immutable.
func obstruct(t *testing.T, dir string) (free func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		return func() { _ = os.Chmod(dir, 0o700) }
	}
	const immutable = 0x10 // FS_IMMUTABLE_FL
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags|immutable)
	}
	if err != nil {
		t.Fatalf("root cannot make %s immutable: run the test with CAP_LINUX_IMMUTABLE: %v", dir, err)
	}
	free = func() {
		if f, err := os.Open(dir); err == nil {
			_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags)
			f.Close()
		}
	}
	t.Cleanup(free)
	return free
}

// TestReleaseByCurl: the lines that the contract shows, as they stand but for
// the socket.
func TestReleaseByCurl(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	d.tampered(t)
	operation := shared.contract.Doc.Paths.Find("/v1/slots/{name}").Delete.Description
	var lines []string
	for line := range strings.Lines(operation) {
		if strings.Contains(line, "curl ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if len(lines) != 2 {
		t.Fatalf("the contract shows %q", lines)
	}
	sh := osexec.Command("sh", "-euc", strings.ReplaceAll(strings.Join(lines, "\n"), "~/.confined/socket", d.socket))
	sh.Dir = d.dir
	out, err := sh.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != `{"durable":true,"state":"removed"}` {
		t.Errorf("%v %s", err, out)
	}
}
