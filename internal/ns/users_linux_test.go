package ns

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestUsers: a process that has anything of a slot, in any way, is its user, and the slot is not released; when it lets go, it is.
func TestUsers(t *testing.T) {
	for how, path := range map[string]string{
		"descriptor": "/input/data.txt", "path descriptor": "/home", "FIFO": "/home/pipe", "map": "/program/main.mjs", "working directory": "/input",
		"thread's directory": "", "thread without a leader": "/program", "root": "/program", "mount": "/program", "mount of a file": "/canary", "mount of all": "",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 8)
			s := w.filled()
			must(t, unix.Mkfifo(s.Path()+"/home/pipe", 0o600))
			s.Quarantine(Unresolved, "x")
			w.filled().Quarantine(Unresolved, "x")
			cmd := helperCommand(t, "use", w.root, w.state, how, s.Path()+path)
			if strings.HasPrefix(how, "mount") || how == "root" {
				inUserNamespace(cmd)
			}
			stdin, err := cmd.StdinPipe()
			must(t, err)
			stdout, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			said, err := bufio.NewReader(stdout).ReadString('\n')
			must(t, err)
			c, before := w.show("slot-0"), tree(t, s.Path())
			if said != "holding\n" || !slices.Equal(c.Users, []int{cmd.Process.Pid}) {
				t.Errorf("it says %q; users %v, want %d", said, c.Users, cmd.Process.Pid)
			}
			w.mustRefuse("slot-0", c.Tag, "slot-0 is in use by process "+strconv.Itoa(cmd.Process.Pid)+"; cure: end what uses it")
			if after := tree(t, s.Path()); len(after) != len(before) {
				t.Errorf("touched: %v", after)
			}
			if other := w.show("slot-1"); len(other.Users) != 0 {
				t.Errorf("of another slot too: %v", other.Users)
			}
			must(t, stdin.Close())
			cmd.Wait()
			w.mustRelease("slot-0", c.Tag)
		})
	}
}

// helpUse holds a path in one way until its standard input ends.
func helpUse(how, path string) error {
	take := map[string]func(string) error{
		"descriptor":      func(p string) error { _, err := unix.Open(p, unix.O_RDONLY, 0); return err },
		"path descriptor": func(p string) error { _, err := unix.Open(p, unix.O_PATH, 0); return err },
		"FIFO":            func(p string) error { _, err := unix.Open(p, unix.O_RDWR, 0); return err },
		"map":             useMap, "working directory": unix.Chdir, "root": useRoot,
		"thread's directory": func(p string) error { return useThread(p, false) }, "thread without a leader": func(p string) error { return useThread(p, true) },
		"mount": useMount, "mount of a file": useMount, "mount of all": useMount, "in passing": usePassing,
	}[how]
	if err := take(path); err != nil {
		return err
	}
	fmt.Println("holding")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func useMap(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Mmap(fd, 0, 1, unix.PROT_READ, unix.MAP_PRIVATE)
	return err
}

func useRoot(path string) error { return unix.Chroot(path) }

// useMount mounts the path beside the root, in a mount namespace that nobody else is in.
func useMount(path string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	root, _, _ := strings.Cut(path, "/root/slot-")
	target := root + "/state"
	if strings.HasSuffix(path, "canary") {
		target += "/file"
		if err := os.WriteFile(target, nil, 0o600); err != nil {
			return err
		}
	}
	return unix.Mount(path, target, "", unix.MS_BIND, "")
}

// useThread has a thread that is not the first one enter the path. The process ends when its standard input does, also after its first thread
// has ended.
func useThread(path string, endLeader bool) error {
	entered := make(chan error)
	go func() {
		runtime.LockOSThread()
		entered <- errors.Join(unix.Unshare(unix.CLONE_FS), unix.Chdir(path))
		if !endLeader {
			select {}
		}
		for leader := "/proc/" + strconv.Itoa(os.Getpid()) + "/cwd"; ; {
			if _, err := os.Readlink(leader); err != nil {
				break
			}
		}
		fmt.Println("holding")
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	err := <-entered
	if err == nil && endLeader {
		unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
	}
	return err
}

// A helper begins on the first thread of its process and stays there.
func init() {
	if len(os.Args) > 1 && os.Args[1] == "ns-helper" {
		runtime.LockOSThread()
	}
}

// TestOwnHandlesAreNoUse: what this process has open is no reason to refuse its own release, and is one for another daemon's.
func TestOwnHandlesAreNoUse(t *testing.T) {
	w := newWorld(t, 8)
	s := w.filled()
	s.Quarantine(NamespaceChanged, "x")
	f, err := os.Open(s.Path() + "/canary")
	must(t, err)
	defer f.Close()
	if c := w.show("slot-0"); len(c.Users) != 0 {
		t.Errorf("users %v", c.Users)
	}
	cmd := helperCommand(t, "release", w.root, w.state, "slot-0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), "in use by process "+strconv.Itoa(os.Getpid())) {
		t.Errorf("another daemon: %v, %s", err, stderr.String())
	}
	w.mustRelease("slot-0", w.show("slot-0").Tag)
}

// TestDeadUsersAreNone: a process that has ended and was not reaped uses nothing.
func TestDeadUsersAreNone(t *testing.T) {
	w := newWorld(t, 8)
	s := w.filled()
	s.Quarantine(NamespaceChanged, "x")
	cmd := osexec.Command("/bin/sleep", "3600")
	cmd.Dir = s.Path() + "/input"
	must(t, cmd.Start())
	pid := cmd.Process.Pid
	if c := w.show("slot-0"); !slices.Equal(c.Users, []int{pid}) {
		t.Errorf("users %v, want %d", c.Users, pid)
	}
	must(t, cmd.Process.Kill())
	for state := ""; state != "Z"; {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		must(t, err)
		_, after, _ := strings.Cut(string(stat), ") ")
		state = after[:1]
	}
	w.mustRelease("slot-0", w.show("slot-0").Tag)
	cmd.Wait()
}

// TestPassingHandlesAreNoUse: a child between fork and exec has copies of what its daemon has open, and another daemon opens what it lists: a
// process that has the slot open again and again, and never for long, is not in the way.
func TestPassingHandlesAreNoUse(t *testing.T) {
	w := newWorld(t, 8)
	s := w.filled()
	s.Quarantine(NamespaceChanged, "x")
	cmd := helperCommand(t, "use", w.root, w.state, "in passing", s.Path())
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = bufio.NewReader(stdout).ReadString('\n')
	must(t, err)
	for range 30 {
		if c := w.show("slot-0"); len(c.Users) != 0 {
			t.Errorf("users %v", c.Users)
		}
	}
	w.mustRelease("slot-0", w.show("slot-0").Tag)
	must(t, stdin.Close())
	must(t, cmd.Wait())
}

// usePassing has the path open for a tenth of the time.
func usePassing(path string) error {
	go func() {
		for tick := time.Tick(time.Millisecond); ; <-tick {
			fd, _ := unix.Open(path, unix.O_RDONLY, 0) // until it is gone
			for began := time.Now(); time.Since(began) < 100*time.Microsecond; {
			}
			closeAll(fd)
		}
	}()
	return nil
}
