package confine

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"confined/internal/pins"
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

// TestSeatbeltVariants: what comes of each way in which the last launcher behaves. Only one that denies leads to a program, or one that
// says so itself, which the host sees by the order.
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

// TestSeatbeltGate: anything but the one byte, and the program does not load.
func TestSeatbeltGate(t *testing.T) {
	i := standin(t, "DENYING").of(t, hello(t))
	for name, b := range map[string]byte{"end of file": 0, "another byte": 'G'} {
		t.Run(name, func(t *testing.T) {
			o := start(t, i).open(b).finish(t)
			if o.control != limitLines("20", "64")+refusedRecord || o.state.ExitCode() != RefusalCode || o.stdout+o.stderr != "" {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestSeatbeltCanaryGone: what is not there is not denied.
func TestSeatbeltCanaryGone(t *testing.T) {
	j := hello(t)
	i := standin(t, "PLAIN").of(t, j)
	must(t, os.Remove(j.Canary.Path))
	if o := run(t, i); o.control != limitLines("20", "64")+refusedRecord || o.stdout != "" || o.stderr != "confined: preload: reading the canary met ENOENT instead of EPERM\n" {
		t.Errorf("%+v", o)
	}
}

func TestSeatbeltVersionRun(t *testing.T) {
	j := hello(t)
	j.Version, j.Args = true, nil
	o := start(t, standin(t, "PLAIN").of(t, j)).open(0).finish(t)
	if o.control != limitLines("20", "64") || o.stdout != "v26.8.1\n" || o.stderr != "" || !o.state.Success() {
		t.Errorf("%+v", o)
	}
}

// TestSeatbeltLimitRefused: a limit that cannot be set, and nothing runs. The number is above fs.nr_open, which binds root too.
func TestSeatbeltLimitRefused(t *testing.T) {
	j := hello(t)
	j.Limits.Descriptors = 1 << 30
	o := run(t, standin(t, "DENYING").of(t, j))
	if o.control != "" || o.state.ExitCode() != RefusalCode || o.stdout != "" || !strings.Contains(o.stderr, "confined: descriptors: refused by the host\n") {
		t.Errorf("%+v", o)
	}
}

// TestSeatbeltOtherLimit: a shell that sets another limit than it was asked for is seen in the report.
func TestSeatbeltOtherLimit(t *testing.T) {
	s := standin(t, "DENYING")
	text, err := os.ReadFile("testdata/otherlimit.dash")
	must(t, err)
	s.Tools.Dash = filepath.Join(t.TempDir(), "dash")
	must(t, os.WriteFile(s.Tools.Dash, text, 0o755))
	if o := start(t, s.of(t, hello(t))).open(0).finish(t); o.control != limitLines("21", "64")+refusedRecord {
		t.Errorf("%+v", o)
	}
}

// TestSeatbeltProcessorTime: the limits are in force in the program, not only reported.
func TestSeatbeltProcessorTime(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `for (;;);`})
	j := s.job(t, nodeClosure(t), "main.cjs")
	j.Limits.CPUSeconds = 1
	if o := run(t, standin(t, "DENYING").of(t, j)); o.status().Signal() != syscall.SIGKILL { // on macOS it is SIGXCPU
		t.Errorf("%+v", o)
	}
}

func TestSeatbeltInstantiate(t *testing.T) {
	s, good := Seatbelt{AppleTools()}, hello(t)
	for name, row := range map[string]struct {
		edit func(*Job)
		says string
	}{
		"sealed copy":      {func(j *Job) { j.Image = &pins.Image{} }, "no sealed copy"},
		"too long":         {func(j *Job) { j.Args = append(j.Args, strings.Repeat("x", argMax)) }, "and an exec passes 1048576"},
		"relative entry":   {func(j *Job) { j.Args = []string{"main.mjs"} }, "absolute path of the entry"},
		"NUL":              {func(j *Job) { j.Args = append(j.Args, "\x00") }, "NUL"},
		"no slot":          {func(j *Job) { j.Home = "/elsewhere/home" }, "not in the slot"},
		"version and args": {func(j *Job) { j.Version = true }, "no arguments"},
		"no limit":         {func(j *Job) { j.Limits.CPUSeconds = 0 }, "out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			j := good
			row.edit(&j)
			if i, err := s.Instantiate(j); err == nil || !strings.Contains(err.Error(), row.says) || i.start != nil {
				t.Errorf("%v", err)
			}
		})
	}
	if i := s.of(t, good); i.node != good.Runtime.Node || i.start == nil {
		t.Errorf("%+v", i)
	}
}

// TestSeatbeltProfileParts: every fixed part moves the digest.
func TestSeatbeltProfileParts(t *testing.T) {
	s := Seatbelt{AppleTools()}
	for _, other := range []Tools{{"/x", s.Tools.Env, s.Tools.SandboxExec}, {s.Tools.Dash, "/x", s.Tools.SandboxExec}, {s.Tools.Dash, s.Tools.Env, "/x"}} {
		if (Seatbelt{other}).Profile().Digest == s.Profile().Digest {
			t.Errorf("%+v has the digest of Apple's tools", other)
		}
	}
	for name, file := range map[string]string{"script": "launch.dash", "preload": "preload.mjs"} {
		text, err := os.ReadFile(file)
		must(t, err)
		if !slices.ContainsFunc(s.parts(), func(p pins.ProfilePart) bool { return p.Name == name && string(p.Content) == string(text) }) {
			t.Errorf("%s is not a part of the profile", file)
		}
	}
	if p := s.Profile(); p.Name != "confined-macos/1" || p.Template != seatbeltTemplate || !slices.Equal(p.Environment, environmentNames()) {
		t.Errorf("%+v", p)
	}
}

// TestArgSize: each exec of the launch passes no more than what argSize says.
func TestArgSize(t *testing.T) {
	j := hello(t)
	argv, err := Seatbelt{AppleTools()}.argv(j, strings.Repeat("x", 10_000))
	must(t, err)
	node, err := j.nodeArgs("--import", preloadURL())
	must(t, err)
	bytes := func(words []string) (n int) {
		for _, w := range words {
			n += len(w) + 1 + 8
		}
		return n
	}
	environment := []string{"LC_ALL=C", "TZ=UTC", "HOME=" + j.Home, "TMPDIR=" + j.Home, "OPENSSL_CONF=/dev/null"}
	env := slices.Concat([]string{argv[4], "-i"}, environment, []string{argv[5], "-p", argv[9]}, node)
	sandbox := append([]string{argv[5], "-p", argv[9]}, node...)
	largest := max(bytes(argv), bytes(env), bytes(sandbox)+bytes(environment))
	if size := argSize(argv, j.Home); size < largest+argReserve || size > largest+2*argReserve+len(launchScript) {
		t.Errorf("%d bytes are said, and %d are passed", size, largest)
	}
}
