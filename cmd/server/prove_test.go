package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"confined/internal/confine"
	"confined/internal/pins"
	"confined/internal/prove"
)

// madeUp is a receipt that no suite wrote: the sample rows, edited.
func madeUp(edit func(*pins.Receipt)) pins.Receipt {
	took, refused := &pins.Outcome{Took: true}, &pins.Outcome{Code: "EPERM"}
	hex := strings.Repeat("a", 64)
	digest := pins.Digest("sha256:" + hex)
	r := pins.Receipt{
		Format: pins.ReceiptFormat, StartedAt: time.Date(2026, 11, 29, 22, 15, 0, 0, time.UTC), DurationMs: 7512, UID: os.Geteuid(),
		OS: "linux", Arch: "amd64", OSBuild: "6.1", Node: "/opt/node", NodeVersion: "v26.8.1", NodeSHA256: hex,
		Runtime: digest, Closure: digest, Profile: confine.Here().Profile().Digest, Suite: prove.Suite(), Compiler: "cc",
		Rows: []pins.Row{
			{Family: "writes", Name: "truncate a file of the input", Kind: "javascript", Control: took, Confined: refused, Evidence: "its size and content", Verdict: pins.Denied},
			{Family: "reads", Name: "read the input", Kind: "javascript", Control: took, Confined: took, Evidence: "its bytes, as printed", Verdict: pins.Allowed},
			{Family: "writes", Name: "mount", Kind: "native", NoControl: "it needs rights", Confined: &pins.Outcome{Code: prove.Nothing}, Evidence: "the mounts", Verdict: pins.Denied},
			{Family: "writes", Name: "unmount", Kind: "native", NoControl: "it needs rights", Confined: refused, Evidence: "the mounts", Verdict: pins.Denied},
			{Family: "state", Name: "descriptors", Kind: "look", NoControl: "nobody acts", Confined: &pins.Outcome{}, Evidence: "/proc/PID/fd", Verdict: pins.Denied},
		},
	}
	edit(&r)
	r.Counts = pins.Count(r.Rows)
	return r
}

func asMadeUp(*pins.Receipt) {}

func fails(r *pins.Receipt) {
	r.Rows[0].Verdict, r.Rows[0].Why, r.Rows[0].Confined = pins.Failed, "it took\x1b[31m place", &pins.Outcome{Took: true, Code: "EIO"}
}

func cannotShow(r *pins.Receipt) {
	r.Rows[0].Verdict, r.Rows[0].Why, r.Rows[0].Control = pins.NotShown, "no room; cure: make some", &pins.Outcome{Code: "ENOSPC"}
}

func lacksCompiler(r *pins.Receipt) {
	r.Rows[2] = pins.Row{Family: "writes", Name: "mount", Kind: "native", Evidence: "the mounts", Verdict: pins.Untried}
}

const passedText = `    verdict  probe                         by      unconfined  confined     evidence
writes
  ✓ denied   truncate a file of the input  js      took place  EPERM        its size and content
  ✓ denied   mount                         native  not done    nothing      the mounts
  ✓ denied   unmount                       native  not done    EPERM        "
reads
  ✓ allowed  read the input                js      took place  took place   its bytes, as printed
state
  ✓ holds    descriptors                   look    not done    as promised  /proc/PID/fd

` + legend + `    1 denied or held; each took place, or was weaker, unconfined
    3 denied or held without such a comparison, since
        2  it needs rights
        1  nobody acts
    1 allowed
    0 untried
    0 not shown
    0 failed

The boundary holds with Node 26.8.1 (/n/node), for uid UID on this host: proven in 7.5s.
receipt: /s/receipts/r.json
`

const narrowTable = `    verdict  probe         by      unconfined  confined
writes
  ✓ denied   truncate a …  js      took place  EPERM
  ✓ denied   mount         native  not done    nothing
  ✓ denied   unmount       native  not done    EPERM
reads
  ✓ allowed  read the in…  js      took place  took place
state
  ✓ holds    descriptors   look    not done    as promised

`

func TestProveForPeople(t *testing.T) {
	r := madeUp(asMadeUp)
	r.UID = 7
	var out bytes.Buffer
	p, err := newProved(r)
	if err != nil {
		t.Fatal(err)
	}
	p.File = "/s/receipts/r.json"
	if err := p.print(&out, "/n/node"); err != nil || out.String() != strings.Replace(passedText, "UID", "7", 1) {
		t.Errorf("%v\n got\n%s\nwant\n%s", err, out.String(), passedText)
	}
	for width, want := range map[int]string{1: narrowTable, 58: narrowTable} {
		var b strings.Builder
		writeTable(&b, r.Rows, width)
		if b.String() != want {
			t.Errorf("%d characters wide\n got\n%s\nwant\n%s", width, b.String(), want)
		}
	}
	for width := 58; width < 110; width++ {
		var b strings.Builder
		writeTable(&b, r.Rows, width)
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d characters on a terminal of %d: %s", n, width, line)
			}
		}
	}
}

// TestProveVerdicts: what is printed, what is written and how the command ends, for each thing a suite can come to.
func TestProveVerdicts(t *testing.T) {
	for name, row := range map[string]struct {
		edit    func(*pins.Receipt)
		verdict string
		err     error
		says    []string
	}{
		"passed":      {asMadeUp, provePassed, nil, []string{"The boundary holds with", "receipt: "}},
		"failed":      {fails, proveFailed, errSaid, []string{"✗ failed", "took place, EIO", "✗ failed: writes, truncate a file of the input: it took^[[31m place\n", "does NOT hold", "    1 failed"}},
		"no compiler": {lacksCompiler, proveUntried, errSaid, []string{"· untried", "Nothing is proven", "1 rows were not tried", "gcc libc6-dev"}},
		"not shown":   {cannotShow, proveNotShown, errSaid, []string{"? not-shown", "? not-shown: writes, truncate a file of the input: no room; cure: make some\n", "Nothing is proven", "1 rows could not be shown here", "    1 not shown"}},
		"neither":     {func(r *pins.Receipt) { cannotShow(r); lacksCompiler(r) }, proveNotShown, errSaid, []string{"could not be shown here"}},
		"both":        {func(r *pins.Receipt) { fails(r); lacksCompiler(r) }, proveFailed, errSaid, []string{"does NOT hold"}},
		"nothing":     {func(r *pins.Receipt) { r.Rows = nil }, proveFailed, errSaid, []string{"does NOT hold"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := proveFlags{config: config{state: t.TempDir(), node: "/opt/node"}}
			var out bytes.Buffer
			err := p.conclude(surroundings{stdout: &out, stderr: io.Discard}, madeUp(row.edit))
			if !errors.Is(err, row.err) {
				t.Errorf("%v, want %v", err, row.err)
			}
			for _, want := range row.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
			written, _ := filepath.Glob(filepath.Join(p.state, "receipts", "*"))
			if (len(written) == 1) != (row.verdict == provePassed) {
				t.Errorf("receipts %v", written)
			}
			checkProveJSON(t, p, madeUp(row.edit), row.verdict)
		})
	}
}

// checkProveJSON fails unless --json says the same, in one document, with the receipt as its file has it.
func checkProveJSON(t *testing.T, p proveFlags, r pins.Receipt, verdict string) {
	t.Helper()
	p.json = true
	r.StartedAt = r.StartedAt.Add(1001001) // another one, in nanoseconds
	var out bytes.Buffer
	_ = p.conclude(surroundings{stdout: &out, stderr: io.Discard}, r)
	var got struct {
		Verdict, ReceiptFile, ReceiptDigest string
		Receipt                             json.RawMessage
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Verdict != verdict || (got.ReceiptFile != "") != (verdict == provePassed) {
		t.Fatalf("%v: %s", err, out.String())
	}
	if verdict != provePassed {
		return
	}
	text, err := os.ReadFile(got.ReceiptFile)
	if err != nil {
		t.Fatal(err)
	}
	var inFile, inAnswer bytes.Buffer
	if json.Compact(&inFile, text) != nil || json.Compact(&inAnswer, got.Receipt) != nil || inFile.String() != inAnswer.String() {
		t.Errorf("the file has\n%s\nand the answer\n%s", text, got.Receipt)
	}
}

// TestReceiptIsNotWritten: a suite that passed is no success without its receipt.
func TestReceiptIsNotWritten(t *testing.T) {
	p := proveFlags{config: config{state: t.TempDir() + "/none", node: "/opt/node"}}
	var out bytes.Buffer
	err := p.conclude(surroundings{stdout: &out, stderr: io.Discard}, madeUp(asMadeUp))
	if err == nil || !strings.Contains(err.Error(), p.state) || !strings.Contains(out.String(), "there is no receipt of it") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestProveRefuses(t *testing.T) {
	places, shared := newPlaces(t), newPlaces(t)
	if err := errors.Join(os.MkdirAll(shared.state()+"/receipts", 0o700), os.Chmod(shared.state()+"/receipts", 0o770)); err != nil {
		t.Fatal(err)
	}
	inTmpfs := tmpfsDir(t) + "/made/state"
	for name, row := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"operand":  {[]string{"x"}, exitUsage, []string{"unexpected argument"}},
		"flag":     {[]string{"--root", "/r", "--state", "/s"}, exitUsage, []string{"-root"}},
		"no node":  {[]string{"--state", places.state(), "--node", "no-such-node"}, exitNo, []string{"no such program in PATH"}},
		"tmpfs":    {[]string{"--state", inTmpfs, "--node", places.node}, exitNo, []string{"--state: the suite makes its roots in it", "tmpfs", "cure: give --state", "as in --state /var/"}},
		"receipts": {[]string{"--state", shared.state(), "--node", shared.node}, exitNo, []string{"not this user's alone", "cure: chmod 700 " + shared.state() + "/receipts"}},
		"not ours": {[]string{"--state", "/tmp", "--node", places.node}, exitNo, []string{"--state: /tmp is everybody's"}},
	} {
		code, out := confined(t, append([]string{"prove"}, row.args...)...)
		if _, err := os.Stat(filepath.Dir(inTmpfs)); err == nil {
			t.Errorf("%s: a state made in vain is left", name)
		}
		for _, want := range row.says {
			if code != row.code || !strings.Contains(out, want) {
				t.Errorf("%s: exit code %d, no %q in %s", name, code, want, out)
			}
		}
	}
}

func TestProgress(t *testing.T) {
	var lines, line bytes.Buffer
	plain, terminal := &progress{to: &lines}, &progress{to: &line, terminal: true, width: func() int { return 10 }}
	for _, step := range []prove.Progress{{Phase: "a", Total: 2}, {Phase: "a", Row: &pins.Row{}, Done: 1, Total: 2}, {Phase: "below", Done: 2, Total: 2}} {
		plain.tell(step)
		terminal.tell(step)
	}
	plain.end()
	terminal.end()
	if want := "confined prove: a\nconfined prove: below\n"; lines.String() != want {
		t.Errorf("%q", lines.String())
	}
	if want := "\r\x1b[K0 of 2  a\r\x1b[K1 of 2  a\r\x1b[K2 of 2  …\r\x1b[K"; line.String() != want {
		t.Errorf("%q", line.String())
	}
}

// TestLookAtReceipts: doctor counts them and names the unfit.
func TestLookAtReceipts(t *testing.T) {
	c := config{state: t.TempDir()}
	proofs := newProofs(c)
	if found := lookAtReceipts(c, proofs, pins.Runtime{}); len(found) != 0 {
		t.Errorf("%+v", found)
	}
	path, _, err := pins.WriteReceipt(receiptsDir(c), madeUp(func(r *pins.Receipt) { r.Host = pins.HostID() }))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = pins.WriteReceipt(receiptsDir(c), madeUp(func(r *pins.Receipt) { r.Host, r.Suite = pins.HostID(), r.Runtime })); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(receiptsDir(c)+"/x.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := lookAtReceipts(c, proofs, pins.Runtime{})
	if len(found) != 2 || found[0].Detail != filepath.Dir(path)+": 1 about another Node, library or kernel, 1 of another build's boundary or suite, 1 damaged" ||
		!strings.HasPrefix(found[1].Detail, "x.json is damaged: ") || found[1].Verdict != verdictNote {
		t.Errorf("%+v", found)
	}
}
