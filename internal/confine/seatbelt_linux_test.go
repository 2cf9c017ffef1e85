package confine

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// build compiles one of testdata's C files into a directory of the test's and returns the result's path.
func build(t testing.TB, source, name string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args := append([]string{"-Wall", "-Werror", "-O1", "-o", path, filepath.Join("testdata", source)}, flags...)
	if out, err := osexec.Command("cc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%s cannot be built; install gcc: %v\n%s", source, err, out)
	}
	return path
}

// standin is a boundary whose sandbox-exec is a variant of testdata/standin.c.
func standin(t testing.TB, variant string, flags ...string) Seatbelt {
	t.Helper()
	if _, err := os.Stat(AppleTools().Dash); err != nil {
		t.Fatalf("the launch stage of macOS is tried with the real shell; install dash: %v", err)
	}
	library := build(t, "deny.c", "deny.so", "-shared", "-fPIC", "-ldl")
	flags = append(flags, "-DVARIANT="+variant, fmt.Sprintf("-DLIBRARY=%q", library))
	tools := AppleTools()
	tools.SandboxExec = build(t, "standin.c", "sandbox-exec", flags...)
	return Seatbelt{tools}
}

// of is an instance of a job on this boundary.
func (s Seatbelt) of(t testing.TB, j Job) Instance {
	t.Helper()
	i, err := s.Instantiate(j)
	must(t, err)
	return i
}

// hello is a job whose program says that it ran.
func hello(t testing.TB) Job {
	t.Helper()
	s := newSlot(t, map[string]string{"program/main.mjs": `console.log('ran')`})
	return s.job(t, nodeClosure(t), "main.mjs")
}

const refusedRecord = "sf-confined/1 refused\n"

// TestSeatbeltVariants: what comes of each way in which the last launcher behaves. Only one that denies leads to a program, or one that says
// so itself, which the host sees by the order.
func TestSeatbeltVariants(t *testing.T) {
	limits := limitLines("20", "64")
	for variant, want := range map[string]struct {
		control, stdout, stderr string
		code                    int
		signal                  syscall.Signal
	}{
		"DENYING":      {control: limits + admittedRecord, stdout: "ran\n"},
		"PLAIN":        {control: limits + refusedRecord, stderr: "confined: preload: reading the canary met nothing instead of EPERM\n", code: RefusalCode},
		"USAGE":        {control: limits, stderr: "Usage: sandbox-exec [options] command [args]\n", code: 64},
		"REFUSING":     {control: limits, stderr: "sandbox-exec: unbound variable:  at <input string>, line 7\n", code: 65},
		"NESTED":       {control: limits, stderr: "sandbox-exec: sandbox_apply: Operation not permitted\n", code: 71},
		"UNEXECUTABLE": {control: limits, stderr: "sandbox-exec: execvp() of '" + nodeClosure(t).Node + "' failed: Operation not permitted\n", code: 71},
		"KILLED":       {control: limits, code: -1, signal: syscall.SIGKILL},
		"ABORTED":      {control: limits, code: -1, signal: syscall.SIGABRT},
		"TRAPPED":      {control: limits, code: -1, signal: syscall.SIGTRAP},
		"LYING":        {control: limits + admittedRecord + admittedRecord, stdout: "ran\n"},
		"PARENT":       {control: limits + admittedRecord, stdout: "ran\n"},
		"LOWERING":     {control: limits + admittedRecord, stdout: "ran\n"},
	} {
		t.Run(variant, func(t *testing.T) {
			o := run(t, standin(t, variant).of(t, hello(t)))
			if o.control != want.control || o.stdout != want.stdout || o.stderr != want.stderr || o.state.ExitCode() != want.code ||
				want.signal != 0 && o.status().Signal() != want.signal {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestSeatbeltStays: a launcher that never goes on is ended by the host, as any process.
func TestSeatbeltStays(t *testing.T) {
	r := start(t, standin(t, "STAYING").of(t, hello(t)))
	for range strings.Count(limitLines("", ""), "\n") {
		line(t, r.Control)
	}
	must(t, r.Kill())
	if o := r.open(GoByte).finish(t); o.control != "" || o.status().Signal() != syscall.SIGKILL {
		t.Errorf("%+v", o)
	}
}
