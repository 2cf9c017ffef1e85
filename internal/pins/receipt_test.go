package pins

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func sampleDigest(c byte) Digest { return Digest(digestPrefix + strings.Repeat(string(c), 64)) }

// sampleReceipt is a receipt about rt as this user could have got it here.
func sampleReceipt(rt Runtime) Receipt {
	took, refused := &Outcome{Took: true, Said: "made <it> & é"}, &Outcome{Code: "EPERM"}
	r := Receipt{
		Format: ReceiptFormat, StartedAt: time.Date(2026, 11, 29, 22, 15, 0, 123e6, time.UTC), DurationMs: 7512, Host: HostID(), UID: os.Geteuid(),
		OS: rt.OS, Arch: rt.Arch, OSBuild: rt.OSBuild(), Node: rt.Node, NodeVersion: rt.NodeVersion, NodeSHA256: rt.NodeSHA256(),
		Runtime: rt.Digest, Closure: rt.ClosureDigest, Profile: sampleDigest('b'), Suite: sampleDigest('c'), Compiler: "cc 12",
		Rows: []Row{
			{Family: "writes", Name: "write a file", Kind: "javascript", Control: took, Confined: refused, Evidence: "the file", Verdict: Denied},
			{Family: "writes", Name: "mount", Kind: "native", NoControl: "needs rights", Confined: refused, Evidence: "the mounts", Verdict: Denied},
			{Family: "reads", Name: "read the input", Kind: "javascript", Control: took, Confined: took, Evidence: "its bytes", Verdict: Allowed},
			{Family: "state", Name: "descriptors", Kind: "look", NoControl: "nobody acts", Confined: &Outcome{}, Evidence: "/proc", Verdict: Denied},
		},
	}
	r.Counts = Count(r.Rows)
	return r
}

func encoded(t testing.TB, r Receipt) []byte {
	t.Helper()
	text, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestReceiptRoundTrip(t *testing.T) {
	r := sampleReceipt(sampleRuntime(unedited))
	text := encoded(t, r)
	again, err := ParseReceipt(text)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%+v", again.Counts) != "{Denied:1 DeniedUnmatched:2 Allowed:1 Failed:0 NotShown:0 Untried:0}" || !again.Passed() || again.Rows[0].Control.Said != "made <it> & é" {
		t.Errorf("%+v", again)
	}
	local := r
	local.StartedAt = r.StartedAt.In(time.FixedZone("x", 3600)).Add(999)
	if !bytes.Equal(encoded(t, local), text) || !again.EndedAt().Equal(r.StartedAt.Add(7512*time.Millisecond)) {
		t.Error("the zone or the nanoseconds are in the text")
	}
}

// TestReceiptTextIsStrict: every other spelling, and everything that disagrees with itself, is refused.
func TestReceiptTextIsStrict(t *testing.T) {
	good := string(encoded(t, sampleReceipt(sampleRuntime(unedited))))
	swap := func(was, is string) string {
		if !strings.Contains(good, was) {
			t.Fatalf("no %q in %s", was, good)
		}
		return strings.Replace(good, was, is, 1)
	}
	for name, text := range map[string]string{
		"empty": "", "half": good[:len(good)/2], "a byte less": good[:len(good)-1], "a byte more": good + "\n", "something after it": good + "{}",
		"too long": good + strings.Repeat(" ", maxReceipt), "null": "null\n", "compact": strings.ReplaceAll(good, "\n", ""),
		"unknown field": swap(`"uid":`, "\"more\": 1,\n  \"uid\":"), "field twice": swap(`"uid": `, "\"uid\": 1,\n  \"uid\": "), "another case": swap(`"uid"`, `"UID"`),
		"field left out": swap("  \"compiler\": \"cc 12\",\n", ""), "escaped": swap("cc 12", `cc\u002012`), "another order": swap("\"os\": \"", "\"arch\": \""),
		"format": swap("receipt/1", "receipt/2"), "time zone": swap(".123Z", ".123+00:00"), "microseconds": swap(".123Z", ".1234Z"), "no time": swap("2026-11-29T22:15:00.123Z", "0001-01-01T00:00:00Z"),
		"duration": swap("7512", "-1"), "host": swap(`"host": "`, `"host": "x`), "uid": swap(`"uid": `, `"uid": -1`), "version": swap(`"v26.8.1"`, `"../x"`),
		"node": swap(`"/n/node"`, `"n/node"`), "sha256": swap(`"nodeSha256": "`, `"nodeSha256": "A`), "runtime": swap(`"runtime": "sha256:`, `"runtime": "sha512:`),
		"profile": swap(string(sampleDigest('b')), ""), "suite": swap(string(sampleDigest('c')), "none"), "no os": swap(`"os": "linux"`, `"os": ""`),
		"counts": swap(`"denied": 1`, `"denied": 2`), "unmatched counted as matched": swap(`"deniedWithoutControl": 2`, `"deniedWithoutControl": 1`),
		"verdict unknown": swap(`"verdict": "denied"`, `"verdict": "fine"`), "verdict better than the outcome": swap(`"verdict": "allowed"`, `"verdict": "denied"`),
		"failed without why": swap(`"verdict": "allowed"`, `"verdict": "failed"`), "kind": swap(`"kind": "look"`, `"kind": "gaze"`), "name twice": swap(`"mount"`, `"write a file"`),
		"no name": swap(`"mount"`, `""`), "control that did not": swap(`"took": true`, `"took": false`), "no control and no reason": swap("      \"noControl\": \"needs rights\",\n", ""),
		"rows null": good[:strings.Index(good, `"rows"`)] + "\"rows\": null\n}\n",
	} {
		if r, err := ParseReceipt([]byte(text)); err == nil || r.Format != "" || r.Rows != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// FuzzReceipt: what is read as a receipt is exactly what would be written for it.
func FuzzReceipt(f *testing.F) {
	r := sampleReceipt(sampleRuntime(unedited))
	f.Add(encoded(f, r))
	r.Host, r.Rows = "", append(r.Rows, Row{Family: "f", Name: "n", Kind: "native", Evidence: "e", Verdict: Untried}, Row{Family: "f", Name: "m", Kind: "look", Evidence: "e", Verdict: Failed, Why: "w"})
	r.Counts = Count(r.Rows)
	f.Add(encoded(f, r))
	f.Add([]byte(`{"format":"confined-receipt/1","rows":[{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseReceipt(text)
		if err != nil {
			return
		}
		if !bytes.Equal(encoded(t, r), text) || r.Counts != Count(r.Rows) || r.problem() != "" {
			t.Errorf("%q is read as %+v", text, r)
		}
	})
}

func TestWriteReceipt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "receipts")
	r := sampleReceipt(sampleRuntime(unedited))
	path, d, err := WriteReceipt(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(text, encoded(t, r)) {
		t.Errorf("%q, %v", text, err)
	}
	if want := "26.8.1-20261129T221507Z-" + string(d[len(digestPrefix):][:16]) + ".json"; filepath.Base(path) != want || filepath.Dir(path) != dir {
		t.Errorf("%s, want %s", path, want)
	}
	for name, mode := range map[string]os.FileMode{dir: 0o700, path: 0o400} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if _, _, err := WriteReceipt(dir, r); err == nil {
		t.Error("the same receipt was written over itself")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
	for name, edit := range map[string]func(*Receipt){
		"failed": func(r *Receipt) { r.Rows[0].Verdict, r.Rows[0].Why = Failed, "it did" }, "not shown": func(r *Receipt) { r.Rows[0].Verdict, r.Rows[0].Why = NotShown, "no room" }, "untried": func(r *Receipt) {
			r.Rows[1] = Row{Family: "f", Name: "n", Kind: "native", Evidence: "e", Verdict: Untried}
		},
		"nothing": func(r *Receipt) { r.Rows = nil },
	} {
		bad := sampleReceipt(sampleRuntime(unedited))
		edit(&bad)
		bad.Counts = Count(bad.Rows)
		if path, _, err := WriteReceipt(dir, bad); err == nil {
			t.Errorf("%s was written to %s", name, path)
		}
	}
	for name, spoil := range map[string]func(dir string) error{
		"others may write in it": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o770)) },
		"it leads nowhere":       func(dir string) error { return os.Symlink("nowhere", dir) },
		"it is a file":           func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
	} {
		unfit := filepath.Join(t.TempDir(), "receipts")
		ok(t, spoil(unfit))
		if path, _, err := WriteReceipt(unfit, r); err == nil {
			t.Errorf("%s, and %s was written", name, path)
		}
	}
	noise := sampleReceipt(sampleRuntime(unedited))
	noise.Compiler = `\ufffd` + "\xff"
	path, _, err = WriteReceipt(dir, noise)
	if err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(path)
	if read, parsed := ParseReceipt(text); err != nil || parsed != nil || read.Compiler != `\ufffd`+"\uFFFD" {
		t.Errorf("%q, %v, %v", read.Compiler, err, parsed)
	}
}

func TestHostID(t *testing.T) {
	one, other := hostIDOf(strings.Repeat("a", 32)+"\n"), hostIDOf(strings.Repeat("b", 32))
	if !isDigest(Digest(one)) || one == other || one != hostIDOf(strings.Repeat("a", 32)) {
		t.Errorf("%q, %q", one, other)
	}
	for _, none := range []string{"", "uninitialized\n", strings.Repeat("a", 31), strings.Repeat("a", 33), strings.Repeat("A", 32)} {
		if id := hostIDOf(none); id != "" {
			t.Errorf("%q is the id %s", none, id)
		}
	}
	if id := HostID(); id != hostIDOf(machineID()) {
		t.Error(id)
	}
}
