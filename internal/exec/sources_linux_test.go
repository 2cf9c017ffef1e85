package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// source is one thing that somebody else said must be seen: a sentence that the
// contract marks as tested, or one of the scenarios that users of such tools
// report. shown names what shows it here: rows of the fault table as
// group/name, and tests elsewhere as package.Test.
type source struct {
	number string
	says   string
	shown  []string
	design string // where the outcome here is another than the source proposes, and why
}

// reference are the sentences of the contract that end in "Tested:", by the
// number of the guarantee they stand under, and its list of what the tests prove.
var reference = []source{
	{"2", "pinned runtime or profile mismatches start nothing and create nothing",
		[]string{"before/profile pinned otherwise", "before/runtime pinned otherwise", "before/node changed since it was pinned"}, ""},
	{"2", "an aliased or shared root is refused; leftover entries count against the retained limit",
		[]string{"before/root aliased", "before/root shared", "rivals/root full", "rivals/root full of files", "ns.TestRootRefusals"}, ""},
	{"3", "controllers sharing a root cannot exceed maxRetained: a slot claimed after the count refuses the run",
		[]string{"rivals/slots taken after the count", "exec.TestMoreRunsThanSlots"}, ""},
	{"3", "two controllers that both counted an empty root cannot both run with maxRetained 1",
		[]string{"rivals/another daemon runs in the only slot", "ns.TestClaimRacesOfProcesses", "e2e.TestTwoDaemonsOneRoot"}, ""},
	{"5", "the broken, permissive and limits variants",
		[]string{"confine.TestBrokenProfiles", "exec.TestBrokenSetups", "exec.TestBrokenSeatbeltNeverRunsTheProgram", "exec.TestLyingControlPipe", "gate/another byte at the gate", "contact/a limit that cannot be had"}, ""},
	{"5", "the EX-1 abort between spawn and collection",
		[]string{"gate/cancelled before admission", "gate/cancelled when the limits are measured"}, ""},
	{"6", "control records and exit claims printed by the program are not authoritative",
		[]string{"program/program forges the control text", "program/program claims to be refused", "program/program fails"}, ""},
	{"list", "pins", []string{"before/a library changed since it was pinned", "pins.TestEveryPartMovesTheRuntimeDigest", "pins.TestEveryPartMovesTheProfileDigest"}, ""},
	{"list", "validation", []string{"exec.TestNewRequestFindsEveryFault"}, ""},
	{"list", "root", []string{"before/root shared", "before/root missing", "before/root a file"}, ""},
	{"list", "retained limit", []string{"rivals/root full", "rivals/another daemon's run was counted"}, ""},
	{"list", "abort", []string{"before/cancelled before", "setup/cancelled when counted", "setup/cancelled when written", "gate/cancelled before admission",
		"process/cancelled", "process/cancelled when collected", "process/cancelled once it is gone"}, ""},
	{"list", "timeout", []string{"process/timeout", "program/program catches every signal", "process/stopped by another until the timeout"}, ""},
	{"list", "output", []string{"process/a flood on stdout", "process/a flood on stderr", "process/a flood on both", "process/a flood where nothing is kept",
		"process/more output than is kept, of a process that is gone", "program/output is still in the pipe when it exits"}, ""},
	{"list", "CPU/descriptor limits", []string{"process/processor time used up", "contact/a limit that cannot be had", "e2e.TestBounds"}, ""},
	{"list", "forged control", []string{"gate/forged control text", "gate/too much control text", "gate/admitted by another while the gate is shut",
		"gate/refused by another while the gate is shut", "process/a byte after the record", "exec.TestLyingControlPipe"}, ""},
	{"list", "swaps", []string{"namespace/a file swapped for its like when *", "namespace/a directory swapped for its like when *",
		"namespace/the slot swapped for its like when *", "namespace/a file swapped and swapped back when *"}, ""},
	{"list", "hard links", []string{"namespace/a hard link to a file of the program when *", "namespace/a hard link to the canary when *",
		"namespace/a hard link from outside into the slot when *"}, ""},
	{"list", "attribution", []string{"runtime/node and the namespace changed", "runtime/a library replaced when *", "exec.TestFactsOfOneRun"}, ""},
	{"list", "the otool closure", []string{"pins.TestNodeAgainstLoader"}, ""},
	{"list", "filesystem, network, process, native, actual-launch limits, descriptors and environment", []string{"e2e.TestProve"}, ""},
	{"list", "controller loss", []string{"confine.TestDaemonKilled", "e2e.TestKill9"}, ""},
	{"list", "two-controller capacity", []string{"rivals/another daemon runs in the only slot", "rivals/another daemon runs in the lowest slot"}, ""},
	{"list", "broken profiles", []string{"confine.TestBrokenProfiles"}, ""},
}

// scenarios are program or host states that broke other tools, by the numbers
// of the collection they come from, which has no 4, 10, 16 or 20.
var scenarios = []source{
	{"1", "a profile that allows everything runs nothing", []string{"confine.TestBrokenProfiles"},
		"observed, admission refused: a process exists, and its preload refuses; not-started is for runs without one"},
	{"2", "partial enforcement runs nothing", []string{"confine.TestHostVerdicts", "confine.TestHostWithout", "exec.TestBrokenSetups", "confine.TestBrokenProfiles"},
		"unsupported-host, before a process; what only the launch stage is refused ends it, with exit 125 and admission absent"},
	{"3", "a service under an outer sandbox runs nothing", []string{"confine.TestHostVerdicts", "e2e.TestNoUserNamespaces", "launchers/it is in a sandbox already"}, "unsupported-host with the cure, before a process"},
	{"5", "a program cannot link to, or write through, what it can read", []string{"e2e.TestProve", "runtime/node hard-linked when admitted"}, ""},
	{"6", "SIGTERM ignored and a spin end by the wall clock", []string{"program/program catches every signal", "process/timeout"}, "stopped is timeout, and the exit is SIGKILL"},
	{"7", "forged records on descriptor 3 change nothing", []string{"program/program forges the control text"}, ""},
	{"8", "3 MiB and exit: what was read is counted, nothing is claimed of the rest", []string{"program/3 MiB", "program/3 MiB and exit"}, ""},
	{"9", "an endless flood is stopped promptly and drained", []string{"process/a flood on stdout", "program/too much output"}, "stopped is output-limit"},
	{"11", "a pipe held after the exit ends within a bound", []string{"process/stdout is held open elsewhere", "process/stderr is held open elsewhere", "launchers/it runs Node as a child, which is cancelled"},
		"unresolved with pipes-open; the pipe is held from outside, since no program can fork"},
	{"12", "a service killed in the middle bounds its program", []string{"confine.TestDaemonKilled", "e2e.TestKill9"},
		"the kernel ends the program; the slot is a leftover after the restart, and there is no result to revise"},
	{"13", "a recycled pid is never signalled", []string{"exec.TestNoStopAfterExit", "process/cancelled once it is gone"}, "there is no process group to signal: a run is one process"},
	{"14", "symlink, FIFO, socket or hard link in the input", []string{"namespace/a file swapped for a symlink to itself when *", "namespace/a file swapped for a FIFO when *",
		"namespace/a file swapped for a socket when *", "namespace/a file swapped for a hard link to another when *", "e2e.TestBadInput"},
		"a snapshot is files only, so that a request cannot hold one (422); planted later it is snapshot-mismatch or namespace-changed"},
	{"15", "one input by several aliases is one identity or a refusal", []string{"before/root aliased", "pins.TestFaults", "pins.TestResolve"}, "a root has its one canonical path; paths that differ only in case are refused"},
	{"17", "writes, renames, chmod and utimes outside are denied", []string{"e2e.TestProve"}, ""},
	{"18", "DNS and every socket fail inside", []string{"e2e.TestProve"}, ""},
	{"19", "no other process is started, seen or reached", []string{"e2e.TestProve"}, ""},
	{"21", "a library changed before or during the run", []string{"before/a library changed since it was pinned", "runtime/a library changed in place before the launch",
		"runtime/a library replaced when *", "runtime/the symlink to node retargeted when *", "runtime/node swapped and swapped back when *",
		"pins.TestNobodyChangesAnImage", "pins.TestWhatRunsIsWhatWasSealed", "exec.TestSupersededSealLastsAsLongAsItsRuns"},
		"before: runtime-mismatch; during: observed with runtime-changed, since the process is known to be gone; unresolved is for one that is not"},
	{"22", "what ordinary programs use works", []string{"e2e.TestOrdinaryPrograms", "e2e.TestOrdinaryTools"}, ""},
	{"23", "a limit that is not had is never called enforced", []string{"contact/a limit that cannot be had", "e2e.TestBigHeap"}, "limits-mismatch for the limits of a request; memory is bounded by the profile"},
	{"24", "of more requests than slots exactly as many start", []string{"exec.TestMoreRunsThanSlots", "ns.TestClaimNeverExceedsTheMax", "e2e.TestBatch"},
		"the rest is retained-limit; a daemon's own queue keeps its load from that"},
}

// TestSources: every sentence and every scenario is shown by something that is
// there.
func TestSources(t *testing.T) {
	rows := map[string]bool{}
	for _, g := range groups() {
		for _, r := range g.rows {
			if name := g.name + "/" + r.name; rows[name] {
				t.Errorf("two rows are called %s", name)
			} else {
				rows[name] = true
			}
		}
	}
	tests := testsIn(t, "../confine", "../exec", "../ns", "../pins", "../../e2e")
	for _, s := range append(reference, scenarios...) {
		if len(s.shown) == 0 {
			t.Errorf("%s (%s) is shown by nothing", s.number, s.says)
		}
		for _, name := range s.shown {
			if !tests[name] && !isRow(rows, name) {
				t.Errorf("%s (%s) is shown by %s, which is not there", s.number, s.says, name)
			}
		}
	}
}

// isRow says whether name is a row; "when *" stands for every event.
func isRow(rows map[string]bool, name string) bool {
	family, whole := strings.CutSuffix(name, "*")
	if !whole {
		return rows[name]
	}
	for _, e := range append(lateEvents, whenMaterialised) {
		if !rows[family+e.name] && (e.name != whenMaterialised.name || strings.HasPrefix(name, "namespace/")) {
			return false
		}
	}
	return true
}

// testsIn are the names of the tests in some directories, as package.Test.
func testsIn(t *testing.T, dirs ...string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, dir := range dirs {
		files, err := filepath.Glob(dir + "/*_test.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s: %v", dir, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if name, found := strings.CutPrefix(line, "func Test"); found {
					name, _, _ = strings.Cut(name, "(")
					names[filepath.Base(dir)+".Test"+name] = true
				}
			}
		}
	}
	return names
}
