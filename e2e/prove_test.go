package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// suitePatience bounds one run of the boundary suite.
const suitePatience = 2 * time.Minute

// actOutcome is what came of one act of the suite in one place.
type actOutcome struct {
	Took bool
	Code string
}

// proved is what `confined prove --json` prints, as far as it is judged here.
type proved struct {
	Verdict, ReceiptFile, ReceiptDigest string
	Receipt                             struct {
		StartedAt                                             time.Time
		DurationMs                                            int64
		UID                                                   int
		Node, NodeSha256, Runtime, Profile, Host, NodeVersion string
		Counts                                                map[string]int
		Rows                                                  []struct {
			Family, Name, Kind, NoControl, Verdict, Evidence, Why string
			Control, Confined                                     *actOutcome
		}
	}
}

// proving is one `confined prove` on its way.
type proving struct {
	cmd    *osexec.Cmd
	out    *logBuffer // stdout
	err    *logBuffer // stderr
	exited chan struct{}
}

// startProve starts one with the state of p and a TMPDIR of its own, which must
// be empty in the end, as must be what the suite made in the state.
func startProve(t *testing.T, p places, args ...string) *proving {
	t.Helper()
	return startProveOf(t, shared.binary, p, args...)
}

// startProveOf is startProve of another binary than the usual one.
func startProveOf(t *testing.T, binary string, p places, args ...string) *proving {
	t.Helper()
	temp, err := os.MkdirTemp("", "cft") // short, for the sockets in it
	must(t, err)
	must(t, os.Chmod(temp, 0o755)) // as the users of a root daemon's runs need it
	ctx, cancel := context.WithTimeout(t.Context(), suitePatience)
	r := &proving{out: &logBuffer{}, err: &logBuffer{}, exited: make(chan struct{})}
	r.cmd = osexec.CommandContext(ctx, binary, append([]string{"prove", "--state=" + p.state}, args...)...)
	r.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + temp}
	r.cmd.Dir, r.cmd.Stdout, r.cmd.Stderr = p.dir, r.out, r.err
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.exited)
		_ = r.cmd.Wait() // its outcome is in ProcessState
	}()
	t.Cleanup(func() {
		cancel()
		<-r.exited
		if left := names(t, temp); len(left) != 0 {
			t.Errorf("prove left in TMPDIR: %v", left)
		}
		must(t, os.RemoveAll(temp))
	})
	return r
}

// end waits for it and returns what it said.
func (r *proving) end() ended {
	<-r.exited
	return ended{r.cmd.ProcessState.ExitCode(), r.out.String(), r.err.String()}
}

// receiptFiles are the receipts in the state of p.
func receiptFiles(t *testing.T, p places) []string {
	t.Helper()
	found, err := filepath.Glob(p.state + "/receipts/*")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// nothingOfSuites fails where a suite left something in the state of p, or a
// process that names it.
func nothingOfSuites(t *testing.T, p places) {
	t.Helper()
	for _, name := range names(t, p.state) {
		if name != "receipts" && name != "quarantine.jsonl" {
			t.Errorf("left in the state: %s", name)
		}
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(p.state)) && !bytes.Contains(text, []byte("\x00serve\x00")) {
			t.Errorf("a process is left: %q", text)
		}
	}
}

// TestProve runs the suite with the pinned Node and, at the same time and in the
// same state, with one that no table knows, beside two daemons.
func TestProve(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	other := p
	other.root, other.socket = p.dir+"/root-2", p.dir+"/s2"
	must(t, os.Mkdir(other.root, 0o700))
	unofficial := strangeNode(t, p.dir)
	d, strange := startDaemonIn(t, p), startDaemonIn(t, other, withNode(unofficial), unready())
	cure := "`confined prove --node " + unofficial + " --state " + p.state + "`"
	says := []string{"it is no official build of this build's table", "there is no receipt about it in " + p.state + "/receipts", cure}
	strange.saysEverywhere(t, "runtime-unproven", says, confined(t, other, nil, doctorArgs(other, "--node="+unofficial)...))

	first := startProve(t, p, "--json", "--node="+shared.node)
	second := startProve(t, p, "--if-needed", "--node="+unofficial)
	mustRun(t, d)
	mustPass(t, p, first.end())
	e := second.end()
	if e.code != 0 || !strings.Contains(e.stdout, "The boundary holds with Node "+nodeVersion) || !strings.Contains(e.stderr, "needed: it is no official build") {
		t.Fatalf("with an unofficial Node: %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	nothingOfSuites(t, p)
	if got := receiptFiles(t, p); len(got) != 2 {
		t.Fatalf("receipts: %v", got)
	}
	_, file, _ := strings.Cut(strings.TrimSpace(e.stdout), "\nreceipt: ")
	strange.followsItsReceipt(t, file, cure)
	t.Run("needless", func(t *testing.T) { proveNeedless(t, p) })
	t.Run("interrupted", func(t *testing.T) { proveInterrupted(t, p) })
	t.Run("receipts", func(t *testing.T) { unfitReceipts(t, p) })
}

// strangeNode is a Node that works as the pinned one does, and is not it.
func strangeNode(t *testing.T, at string) string {
	t.Helper()
	node := filepath.Join(at, "strange-node")
	content, err := os.ReadFile(shared.node)
	must(t, err)
	must(t, os.WriteFile(node, append(content, 0), 0o755))
	return node
}

// mustPass judges the JSON of a suite from outside.
func mustPass(t *testing.T, p places, e ended) {
	t.Helper()
	if e.code != 0 || !strings.Contains(e.stderr, "confined prove: ") {
		for _, row := range decode[proved](t, []byte(e.stdout)).Receipt.Rows {
			if row.Verdict != "denied" && row.Verdict != "allowed" {
				t.Errorf("%s, %s: %s: %s", row.Family, row.Name, row.Verdict, row.Why)
			}
		}
		t.Fatalf("prove ended with %d\n%s", e.code, e.stderr)
	}
	got := decode[proved](t, []byte(e.stdout))
	r := got.Receipt
	text, err := os.ReadFile(got.ReceiptFile)
	must(t, err)
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(text)); got.Verdict != "passed" || got.ReceiptDigest != sum || filepath.Dir(got.ReceiptFile) != p.state+"/receipts" {
		t.Errorf("%s, %s, digest %s, it is %s", got.Verdict, got.ReceiptFile, got.ReceiptDigest, sum)
	}
	whole := decode[struct{ Receipt json.RawMessage }](t, []byte(e.stdout))
	var inFile, inAnswer bytes.Buffer
	if json.Compact(&inFile, text) != nil || json.Compact(&inAnswer, whole.Receipt) != nil || inFile.String() != inAnswer.String() {
		t.Error("the file holds another receipt than was printed")
	}
	node, err := os.ReadFile(shared.node)
	must(t, err)
	if r.NodeSha256 != fmt.Sprintf("%x", sha256.Sum256(node)) || r.Node != shared.node || r.UID != os.Geteuid() || r.NodeVersion != nodeVersion {
		t.Errorf("it is about %s %s %s of uid %d", r.Node, r.NodeVersion, r.NodeSha256, r.UID)
	}
	if took := time.Duration(r.DurationMs) * time.Millisecond; took <= 0 || took > suitePatience || time.Since(r.StartedAt) < took {
		t.Errorf("started at %s, took %s", r.StartedAt, took)
	}
	mustBeWhole(t, got)
}

// mustBeWhole fails unless every row says what its outcomes do, and the counts
// are those of the rows.
func mustBeWhole(t *testing.T, got proved) {
	t.Helper()
	counts, kinds, seen := map[string]int{"failed": 0, "notShown": 0, "untried": 0}, map[string]int{}, map[string]bool{}
	for _, row := range got.Receipt.Rows {
		denied := row.Verdict == "denied" && row.Confined != nil && !row.Confined.Took && (row.Confined.Code != "" || row.Kind == "look")
		allowed := row.Verdict == "allowed" && row.Confined != nil && row.Confined.Took && row.Confined.Code == ""
		compared := row.Control != nil && row.Control.Took && row.NoControl == ""
		if !denied && !allowed || !compared && (row.Control != nil || row.NoControl == "") || row.Evidence == "" || row.Family == "" || seen[row.Name] {
			t.Errorf("%+v, confined %+v, control %+v", row, row.Confined, row.Control)
		}
		seen[row.Name] = true
		kinds[row.Kind]++
		if denied && !compared {
			counts["deniedWithoutControl"]++
		} else {
			counts[row.Verdict]++
		}
	}
	if fmt.Sprint(counts) != fmt.Sprint(got.Receipt.Counts) || counts["denied"] == 0 || counts["allowed"] == 0 {
		t.Errorf("counted %v, the receipt says %v", counts, got.Receipt.Counts)
	}
	for _, kind := range []string{"javascript", "native", "look"} {
		if kinds[kind] == 0 {
			t.Errorf("no row of kind %s: %v", kind, kinds)
		}
	}
}

// followsItsReceipt fails unless the daemon, which was started before it was
// written, admits its Node by the receipt and no longer once that is gone.
func (d *daemon) followsItsReceipt(t *testing.T, file, cure string) {
	t.Helper()
	d.mustBeProvenBy(t, file)
	d.mustBeReady(t, nil)
	mustRun(t, d)
	r := goodRun(t, d)
	must(t, os.Rename(file, d.dir+"/away"))
	d.mustNotStart(t, r, "unsupported-host", "there is no receipt about it", cure)
	d.mustBeReady(t, map[string][]string{"runtime-unproven": {cure}})
	must(t, os.Rename(d.dir+"/away", file))
	got, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, got)
	if said := strings.Count(d.log.String(), `"the boundary is proven with this Node"`); said != 2 {
		t.Errorf("the proof came twice, and the log says so %d times", said)
	}
	if said := strings.Count(d.log.String(), `"the boundary is no longer proven with this Node"`); said != 1 {
		t.Errorf("the proof went once, and the log says so %d times", said)
	}
}

// mustBeProvenBy fails unless /v1/runtime names this receipt, by the digest of
// the file, and the log names the file.
func (d *daemon) mustBeProvenBy(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	proof := decode[struct {
		Proof struct {
			Kind, Receipt string
			ProvenAt      time.Time
		}
	}](t, d.get(t, "/v1/runtime").body).Proof
	at := endedAt(t, string(text))
	if proof.Kind != "receipt" || proof.Receipt != fmt.Sprintf("sha256:%x", sha256.Sum256(text)) || !proof.ProvenAt.Equal(at) {
		t.Errorf("proof %+v, want %s of %s", proof, file, at)
	}
	poll(t, func() bool {
		said := d.log.String()
		return strings.Contains(said, `"the boundary is proven with this Node"`) && strings.Contains(said, `"file":"`+file+`"`)
	}, func() string { return "the log does not name " + file + ": " + d.log.tail() })
}

// proveNeedless: --if-needed does nothing where serve would admit the Node.
func proveNeedless(t *testing.T, p places) {
	before := receiptFiles(t, p)
	for _, flags := range [][]string{{"--if-needed"}, {"--if-needed", "--require-receipt"}} {
		e := startProve(t, p, append(flags, "--node="+shared.node)...).end()
		want := map[int]string{1: "(built-in)", 2: "(receipt of "}[len(flags)]
		if e.code != 0 || !strings.HasPrefix(e.stdout, "not needed: ") || !strings.Contains(e.stdout, want) {
			t.Errorf("%v: %+v", flags, e)
		}
	}
	e := startProve(t, p, "--if-needed", "--require-receipt", "--json", "--node="+shared.node).end()
	got := decode[proved](t, []byte(e.stdout))
	if e.code != 0 || got.Verdict != "not-needed" || !strings.Contains(strings.Join(before, " "), got.ReceiptFile) || got.ReceiptDigest == "" {
		t.Errorf("%+v", e)
	}
	if after := receiptFiles(t, p); len(after) != len(before) {
		t.Errorf("receipts: %v, before %v", after, before)
	}
}

// proveInterrupted: SIGINT in the middle of the suite leaves nothing.
func proveInterrupted(t *testing.T, p places) {
	p.state += "-interrupted"
	r := startProve(t, p, "--node="+shared.node)
	poll(t, func() bool { return strings.Contains(r.err.String(), "acting in JavaScript") }, func() string { return "the suite does not act: " + r.err.String() })
	must(t, r.cmd.Process.Signal(syscall.SIGINT))
	if e := r.end(); e.code != 1 || e.stdout != "" || !strings.HasSuffix(e.stderr, "confined prove: interrupted: nothing was proven, no receipt was written, and nothing is left\n") {
		t.Errorf("%+v", e)
	}
	if left := receiptFiles(t, p); len(left) != 0 {
		t.Errorf("receipts: %v", left)
	}
	nothingOfSuites(t, p)
}
