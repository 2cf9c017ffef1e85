package confine

import (
	"fmt"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"confined/internal/pins"

	"golang.org/x/sys/unix"
)

// buildProbe compiles the probe, static, so that its closure is itself.
func buildProbe(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	path := filepath.Join(dir, "probe")
	if out, err := osexec.Command("gcc", "-std=gnu17", "-O1", "-Wall", "-static", "-pthread", "-o", path, "testdata/probe.c").CombinedOutput(); err != nil {
		t.Fatalf("the probe cannot be built; install gcc and the static C library (Debian: libc6-dev): %v\n%s", err, out)
	}
	return path
}

// probe is a slot together with the program that takes Node's place in it.
type probe struct {
	slot
	path string
}

func newProbe(t testing.TB) probe {
	t.Helper()
	return probe{newSlot(t, map[string]string{"input/data": strings.Repeat("data\n", 1000)}), buildProbe(t)}
}

func (p probe) instance(t testing.TB, words ...string) Instance {
	t.Helper()
	source := sourceAt(t, p.path)
	closure := pins.Closure{Node: p.path, Files: []pins.RuntimeFile{{Path: p.path, ID: pins.FileID{Dev: source.Dev, Ino: source.Ino}}}}
	return instance(t, p.job(t, closure, "none", words...))
}

func (p probe) confined(t *testing.T, words ...string) outcome {
	t.Helper()
	return run(t, p.instance(t, words...))
}

// free does the same outside of the boundary.
func (p probe) free(t *testing.T, words ...string) string {
	t.Helper()
	cmd := osexec.CommandContext(t.Context(), p.path, append([]string{"-", "-", "-"}, words...)...)
	cmd.Env = []string{"HOME=" + p.dir + "/home"}
	stdin, err := cmd.StdinPipe()
	must(t, err)
	defer stdin.Close()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("unconfined %v: %v", words, err)
	}
	return string(out)
}

// TestProbe tries natively what the boundary denies, and its allowed twins, and each once more without the boundary.
func TestProbe(t *testing.T) {
	p := newProbe(t)
	t.Run("acts", p.acts)
	t.Run("exec lock", p.execLock)
	t.Run("foreign architecture", p.foreignArchitecture)
	t.Run("threads", p.threads)
	t.Run("signals", p.signals)
	t.Run("descriptors and environment", p.descriptorsAndEnvironment)
}

// verdicts reads lines of a name and a number.
func verdicts(t *testing.T, text string) map[string]syscall.Errno {
	t.Helper()
	got := map[string]syscall.Errno{}
	for line := range strings.Lines(text) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(number)
		must(t, err)
		got[name] = syscall.Errno(n)
	}
	return got
}

// acts: every denial, its allowed twins (the zeros), and each act once more without the boundary, where all succeed.
func (p probe) acts(t *testing.T) {
	want := map[string]syscall.Errno{}
	for errno, names := range map[syscall.Errno]string{
		0: "prlimit_self_read kill_self tgkill_self nonblock_flag lock_file thread_clock thread_name scheduler futex_wake thread map_private map_3g map_exec map_input " +
			"map_input_shared advise_dontneed read_input list_input open_null stat_input proc_status plain_pipe terminal",
		unix.EPERM: "prlimit_parent prlimit_parent_read prlimit_self_set kill_parent kill_group tgkill_parent pidfd_parent own async_flag pipe_size lease capget_init " +
			"deathsig dumpable priority peek fork_child clone_userns vfork_child unshare_user unshare_files map_shared map_locked map_growsdown map_input_exec lock_memory " +
			"memory_file evict unlink_home make_dir make_link change_mode change_times stat_filesystem handle tcp tcp6 udp unix_socket netlink socket_pair",
		unix.EACCES: "read_canary list_slot list_root write_null protect_input_exec",
		unix.EROFS:  "create_home",
		unix.ENOMEM: "map_5g",
		unix.ENOENT: "read_passwd proc_fd proc_ns proc_mem proc_root proc_cwd proc_task proc_net proc_environ proc_init",
		unix.EINVAL: "parent_clock advise_cold advise_pageout packet_pipe",
		unix.ENOSYS: "futex_pi raw_clone3",
	} {
		for _, name := range strings.Fields(names) {
			want[name] = errno
		}
	}
	want["create_tmp"] = unix.ENOENT
	if strings.HasPrefix(p.dir, "/tmp/") {
		want["create_tmp"] = unix.EROFS // then there is a /tmp in the private root
	}
	o := p.confined(t, "acts")
	confined, free := verdicts(t, o.stdout), verdicts(t, p.free(t, "acts"))
	if !o.state.Success() || o.stderr != "" || len(confined) != len(want) {
		t.Errorf("%d acts, want %d: %+v", len(confined), len(want), o)
	}
	for name, errno := range want {
		if got, done := confined[name]; got != errno || !done {
			t.Errorf("confined %s: %v, want %v", name, got, errno)
		}
		// The scheduler of no process can be asked after inside only, where the answer is invented.
		if got, done := free[name]; (got != 0) != (name == "scheduler") || !done {
			t.Errorf("unconfined %s: %v", name, got)
		}
	}
}

// execLock: one exec in the life of a process, and the stage has spent it.
func (p probe) execLock(t *testing.T) {
	for way, want := range map[string]syscall.Errno{
		"descriptor": unix.ENOSYS, "path": unix.ENOSYS, "unused": unix.ENOSYS, "low": unix.ENOSYS, "thread": unix.ENOSYS, "execve": unix.EPERM,
	} {
		t.Run(way, func(t *testing.T) {
			if o := p.confined(t, "exec", way); o.stdout != fmt.Sprintf("%d\n", want) {
				t.Errorf("%+v, want %d", o, want)
			}
			if got := p.free(t, "exec", way); got != "executed\n" {
				t.Errorf("unconfined: %q", got)
			}
		})
	}
}

func (p probe) foreignArchitecture(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		return // there is no second way into the kernel to try
	}
	if o := p.confined(t, "int80"); o.status().Signal() != unix.SIGSYS || o.stdout != "" {
		t.Errorf("%+v", o)
	}
}

// threads counts how many threads a run can have, the first included.
func (p probe) threads(t *testing.T) {
	if o := p.confined(t, "threads"); o.stdout != fmt.Sprintf("128 %d\n", unix.EAGAIN) {
		t.Errorf("%+v", o)
	}
	if got := p.free(t, "threads"); got != "300 0\n" {
		t.Errorf("unconfined: %q", got)
	}
}

// signals counts how many signals wait for a program that takes none. They are counted for the daemon's user, too.
func (p probe) signals(t *testing.T) {
	if o := p.confined(t, "signals"); o.stdout != "128\n" {
		t.Errorf("%+v", o)
	}
	got, err := strconv.Atoi(strings.TrimSpace(p.free(t, "signals")))
	if err != nil || got < 300 {
		t.Errorf("unconfined: %d, %v", got, err)
	}
}

// descriptorsAndEnvironment looks at a process that has not done anything yet, from inside and from outside.
func (p probe) descriptorsAndEnvironment(t *testing.T) {
	t.Setenv("CONFINE_SECRET", "must not be seen")
	inherited, err := os.Open("/dev/null") // close-on-exec by Go, but see below
	must(t, err)
	defer inherited.Close()
	_, err = unix.FcntlInt(inherited.Fd(), unix.F_SETFD, 0)
	must(t, err)
	signal.Ignore(unix.SIGUSR2) // as nohup does: a child inherits it, also across an exec
	defer signal.Reset(unix.SIGUSR2)
	r := start(t, p.instance(t, "wait"))
	want := fmt.Sprintf("0 1 2 3 LC_ALL=C TZ=UTC HOME=%[1]s/home TMPDIR=%[1]s/home OPENSSL_CONF=/dev/null ", p.dir)
	if got := line(t, r.Stdout); got != want {
		t.Errorf("inside: %q, want %q", got, want)
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.PID))
	must(t, err)
	for i, fd := range fds {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", r.PID, fd.Name()))
		if err != nil || len(fds) != 4 || fd.Name() != strconv.Itoa(i) || !strings.HasPrefix(target, "pipe:") {
			t.Errorf("outside: descriptor %s is %s, %v", fd.Name(), target, err)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.PID))
	must(t, err)
	for _, want := range []string{"\nSigBlk:\t0000000000000000\n", "\nSigIgn:\t0000000000000000\n", "\nThreads:\t1\n"} {
		if !strings.Contains(string(status), want) {
			t.Errorf("status is without %q:\n%s", want, status)
		}
	}
	if personality := readWord(fmt.Sprintf("/proc/%d/personality", r.PID)); personality != "00000000" {
		t.Errorf("personality %s", personality)
	}
	r.open(0)
	if o := r.finish(t); !o.state.Success() {
		t.Errorf("%+v", o)
	}
}

// TestOrigin: a runtime whose libraries are found by $ORIGIN starts, for which ld.so reads /proc/self/exe.
func TestOrigin(t *testing.T) {
	s := newSlot(t, nil)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	write := func(name, text string) string {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return filepath.Join(dir, name)
	}
	library, program := write("library.c", `int answer(void) { return 42; }`), write("program.c", "int answer(void);\nint main(void) { return answer(); }")
	for _, words := range [][]string{
		{"-shared", "-fPIC", "-o", filepath.Join(dir, "libanswer.so"), library},
		{"-o", filepath.Join(dir, "node"), program, "-L" + dir, "-lanswer", "-Wl,-rpath,$ORIGIN"},
	} {
		if out, err := osexec.Command("gcc", words...).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
	}
	launcher, err := openTestLauncher()
	must(t, err)
	closure, err := pins.TakeClosure(t.Context(), filepath.Join(dir, "node"), launcher)
	must(t, err)
	i := instance(t, s.job(t, closure, "none"))
	if o := run(t, i); o.state.ExitCode() != 42 || o.stderr != "" {
		t.Errorf("%+v", o)
	}
	without := i
	without.text = strings.Replace(i.text, fmt.Sprintf("alias \"/proc/self/exe\" %q\n", closure.Node), "", 1)
	if o := run(t, without); without.text == i.text || !strings.Contains(o.stderr, "libanswer.so") || o.state.ExitCode() != 127 {
		t.Errorf("without the alias: %+v", o)
	}
}
