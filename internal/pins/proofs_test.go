package pins

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// receipts is a directory of them, and what decides by it.
type receipts struct {
	t   *testing.T
	dir string
	*Proofs
}

func newReceipts(t *testing.T, only bool) receipts {
	dir := filepath.Join(t.TempDir(), "receipts")
	return receipts{t, dir, NewProofs(ProofOptions{Dir: dir, Profile: sampleDigest('b'), Suite: sampleDigest('c'), ReceiptsOnly: only})}
}

// write keeps a receipt about the sample runtime, edited, and returns its path.
func (p receipts) write(edit func(*Receipt)) string {
	p.t.Helper()
	r := sampleReceipt(sampleRuntime(unedited))
	edit(&r)
	path, _, err := WriteReceipt(p.dir, r)
	if err != nil {
		p.t.Fatal(err)
	}
	return path
}

// unproven fails unless nothing proves rt, in words that hold all of want.
func (p receipts) unproven(rt Runtime, want ...string) {
	p.t.Helper()
	proof, err := p.Of(rt)
	if err == nil {
		p.t.Fatalf("proven by %+v", proof)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			p.t.Errorf("%q does not say %q", err, w)
		}
	}
}

// TestReceiptProves: from when it is there until it is gone, without anything being made anew.
func TestReceiptProves(t *testing.T) {
	p, rt := newReceipts(t, false), sampleRuntime(unedited)
	p.unproven(rt, "no official build", "there is no receipt about it in "+p.dir)
	older := p.write(func(*Receipt) {})
	later := p.write(func(r *Receipt) { r.StartedAt = r.StartedAt.Add(time.Hour) })
	for range 2 {
		proof, err := p.Of(rt)
		if err != nil || proof.Kind != ProofReceipt || proof.File != later || !isDigest(proof.Receipt) || !proof.ProvenAt.Equal(time.Date(2026, 11, 29, 23, 15, 7, 635e6, time.UTC)) {
			t.Fatalf("%+v, %v", proof, err)
		}
	}
	for _, path := range []string{later, older} {
		if proof, err := p.Of(rt); err != nil || proof.File != path {
			t.Errorf("%+v, %v", proof, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	p.unproven(rt, "there is no receipt about it")
}

// TestReceiptsComeAndGo: whoever asks meanwhile gets a receipt that was there, or hears that there is none.
func TestReceiptsComeAndGo(t *testing.T) {
	p, rt := newReceipts(t, false), sampleRuntime(unedited)
	kept := p.write(func(*Receipt) {})
	text, err := os.ReadFile(kept)
	ok(t, err)
	away := filepath.Join(t.TempDir(), "away")
	done := make(chan struct{})
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for {
				proof, err := p.Of(rt)
				switch {
				case err == nil && (proof.File != kept || proof.Receipt != DigestOf(sha256.Sum256(text))):
					t.Errorf("%+v", proof)
				case err != nil && !strings.Contains(err.Error(), "there is no receipt about it"):
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 50 {
		ok(t, os.Rename(kept, away))
		ok(t, os.Rename(away, kept))
	}
	close(done)
	asking.Wait()
	if _, err := p.Of(rt); err != nil {
		t.Error(err)
	}
}

// TestBuiltInAndReceipts: an entry is enough unless receipts are wanted.
func TestBuiltInAndReceipts(t *testing.T) {
	entry := builtIns()[0]
	sum, err := hex.DecodeString(entry.sha256)
	if err != nil {
		t.Fatal(err)
	}
	rt := sampleRuntime(func(c *Closure, version *string, _ *[]HostFact) {
		c.Files[1].SHA256, *version = [32]byte(sum), "v"+entry.nodeVersion
	})
	rt.OS, rt.Arch = entry.os, entry.arch
	p, only := newReceipts(t, false), newReceipts(t, true)
	if proof, err := p.Of(rt); err != nil || proof != (Proof{Kind: ProofBuiltIn}) {
		t.Errorf("%+v, %v", proof, err)
	}
	only.unproven(rt, "this build's table has it, and --require-receipt wants a receipt", "no receipt about it")
	for _, one := range []Runtime{rt, sampleRuntime(unedited)} {
		if _, err := only.Of(one); !errors.Is(err, ErrReceiptsOnly) {
			t.Error(err)
		}
		if _, err := p.Of(one); errors.Is(err, ErrReceiptsOnly) {
			t.Error(err)
		}
	}
	if _, _, err := WriteReceipt(only.dir, sampleReceipt(rt)); err != nil {
		t.Fatal(err)
	}
	if proof, err := only.Of(rt); err != nil || proof.Kind != ProofReceipt {
		t.Errorf("%+v, %v", proof, err)
	}
}

// TestNearestMiss edits one part of a receipt at a time.
func TestNearestMiss(t *testing.T) {
	for name, row := range map[string]struct {
		edit func(*Receipt)
		want string
	}{
		"kernel":   {func(r *Receipt) { r.Runtime, r.OSBuild = sampleDigest('1'), "5.1" }, "is about this Node but on another kernel: then 5.1, now kernel-release 6.1, a b"},
		"library":  {func(r *Receipt) { r.Runtime, r.Closure = sampleDigest('1'), sampleDigest('2') }, "about this Node but with another library or link, or with another build of confined as launcher; where confined was updated since the daemon started, restart the daemon"},
		"path":     {func(r *Receipt) { r.Runtime, r.Closure, r.Node = sampleDigest('1'), sampleDigest('2'), "/m/node" }, "about this Node but found it at /m/node"},
		"profile":  {func(r *Receipt) { r.Profile = sampleDigest('1') }, "another boundary (profile); where confined was updated since the daemon started, restart the daemon"},
		"suite":    {func(r *Receipt) { r.Suite = sampleDigest('1') }, "another suite; where confined was updated since the daemon started, restart the daemon"},
		"user":     {func(r *Receipt) { r.UID++ }, "was written by uid"},
		"machine":  {func(r *Receipt) { r.Host = string(sampleDigest('1')) }, "was written on another machine"},
		"arch":     {func(r *Receipt) { r.Arch = "mips" }, "mips"},
		"version":  {func(r *Receipt) { r.NodeVersion = "v1.0.0" }, "for another runtime"},
		"node":     {func(r *Receipt) { r.NodeSHA256 = strings.Repeat("0", 64) }, "there is no receipt about it in "},
		"two":      {func(r *Receipt) { r.UID++; r.Suite = sampleDigest('1') }, ", and is of a build of confined with another suite"},
		"not this": {func(r *Receipt) { r.NodeSHA256 = strings.Repeat("0", 64) }, ", where 1 is about another Node"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newReceipts(t, false)
			p.write(row.edit)
			p.unproven(sampleRuntime(unedited), row.want)
		})
	}
	p := newReceipts(t, false)
	p.write(func(r *Receipt) { r.NodeSHA256 = strings.Repeat("0", 64) })
	p.write(func(r *Receipt) { r.UID++; r.Suite = sampleDigest('1') })
	p.write(func(r *Receipt) { r.UID++ })
	nearest := p.write(func(r *Receipt) { r.UID++; r.StartedAt = r.StartedAt.Add(time.Hour) })
	p.unproven(sampleRuntime(unedited), nearest)
}

// TestUnfitFiles: a file that is not what WriteReceipt made never proves, is named, and does no harm to others.
func TestUnfitFiles(t *testing.T) {
	for name, row := range map[string]struct {
		do    func(t *testing.T, path string)
		state ReceiptState
		want  string
	}{
		"a byte changed": {func(t *testing.T, path string) {
			reword(t, path, func(b []byte) []byte { return bytesReplace(b, "cc 12", "cc 13") })
		}, ReceiptDamaged, "not what its name says"},
		"truncated":    {func(t *testing.T, path string) { reword(t, path, func(b []byte) []byte { return b[:len(b)/2] }) }, ReceiptDamaged, "it is no receipt"},
		"empty":        {func(t *testing.T, path string) { reword(t, path, func([]byte) []byte { return nil }) }, ReceiptDamaged, "it is no receipt"},
		"renamed":      {func(t *testing.T, path string) { ok(t, os.Rename(path, filepath.Dir(path)+"/mine.json")) }, ReceiptDamaged, "not what its name says"},
		"no name":      {func(t *testing.T, path string) { ok(t, os.Rename(path, filepath.Dir(path)+"/README")) }, ReceiptStray, "no name of a receipt"},
		"others write": {func(t *testing.T, path string) { ok(t, os.Chmod(path, 0o666)) }, ReceiptForeign, "others may write it (mode 0666)"},
		"symlink": {func(t *testing.T, path string) {
			away := filepath.Join(t.TempDir(), "away")
			ok(t, os.Rename(path, away))
			ok(t, os.Symlink(away, path))
		}, ReceiptForeign, "no regular file (L"},
		"directory": {func(t *testing.T, path string) { ok(t, os.Remove(path)); ok(t, os.Mkdir(path, 0o700)) }, ReceiptForeign, "no regular file (d"},
	} {
		t.Run(name, func(t *testing.T) {
			p, rt := newReceipts(t, false), sampleRuntime(unedited)
			path := p.write(func(*Receipt) {})
			if _, err := p.Of(rt); err != nil {
				t.Fatal(err)
			}
			row.do(t, path)
			p.unproven(rt, row.want)
			found, err := p.Survey(rt)
			if err != nil || len(found) != 1 || found[0].State != row.state || !strings.Contains(found[0].Why, row.want) {
				t.Errorf("%+v, %v", found, err)
			}
			p.write(func(r *Receipt) { r.DurationMs++ })
			if _, err := p.Of(rt); err != nil {
				t.Errorf("a sound one beside it does not count: %v", err)
			}
		})
	}
	t.Run("the directory", func(t *testing.T) {
		p, rt := newReceipts(t, false), sampleRuntime(unedited)
		p.write(func(*Receipt) {})
		ok(t, os.Chmod(p.dir, 0o777))
		p.unproven(rt, "not this user's alone")
		if _, err := p.Survey(rt); err == nil {
			t.Error("no error")
		}
		ok(t, os.RemoveAll(p.dir))
		ok(t, os.WriteFile(p.dir, nil, 0o600))
		p.unproven(rt, p.dir)
	})
}

func TestSurvey(t *testing.T) {
	p, rt := newReceipts(t, false), sampleRuntime(unedited)
	want := map[string]ReceiptState{
		p.write(func(*Receipt) {}):                                              ReceiptProves,
		p.write(func(r *Receipt) { r.Runtime = sampleDigest('1') }):             ReceiptOther,
		p.write(func(r *Receipt) { r.NodeSHA256 = strings.Repeat("0", 64) }):    ReceiptOther,
		p.write(func(r *Receipt) { r.Suite = sampleDigest('1') }):               ReceiptStale,
		p.write(func(r *Receipt) { r.UID, r.Suite = 1<<20, sampleDigest('1') }): ReceiptForeign,
	}
	left := filepath.Join(p.dir, ".26.8.1-20260101T000000Z-0123456789abcdef.json-123")
	ok(t, os.WriteFile(left, nil, 0o600))
	want[left] = ReceiptUnfinished
	found, err := p.Survey(rt)
	if err != nil || len(found) != len(want) {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, f := range found {
		if f.State != want[f.File] || (f.Why == "") != (f.State == ReceiptProves) || isDigest(f.Digest) == (f.File == left) || f.Receipt.Rows != nil {
			t.Errorf("%+v, want %s", f, want[f.File])
		}
	}
	if none, err := NewProofs(ProofOptions{}).Survey(rt); err != nil || len(none) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func bytesReplace(b []byte, was, is string) []byte {
	return []byte(strings.Replace(string(b), was, is, 1))
}

// reword changes the content of a file in place.
func reword(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	ok(t, err)
	ok(t, os.Chmod(path, 0o600))
	ok(t, os.WriteFile(path, change(text), 0o600))
}
