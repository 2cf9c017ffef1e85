package confine

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDaemonKilled kills the daemon during the stage and while the program runs; the process ends each time.
func TestDaemonKilled(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ready'); setInterval(() => {}, 1000)`})
	i := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	for turn := range 12 {
		daemon := helper(t, "daemon", i)
		output, err := daemon.StdoutPipe()
		must(t, err)
		must(t, daemon.Start())
		reader := bufio.NewReader(output)
		pid, err := reader.ReadString('\n')
		must(t, err)
		n, err := strconv.Atoi(strings.TrimSpace(pid))
		must(t, err)
		if turn%2 == 0 {
			if ready, err := reader.ReadString('\n'); ready != "ready\n" {
				t.Fatalf("%q, %v", ready, err)
			}
		}
		handle, err := unix.PidfdOpen(n, 0)
		must(t, err)
		must(t, daemon.Process.Kill())
		_ = daemon.Wait()
		polled := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
		for {
			ready, err := unix.Poll(polled, 10_000)
			if err == unix.EINTR {
				continue
			}
			if err != nil || ready != 1 {
				t.Errorf("process %d outlived its daemon: %v", n, err)
				_ = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0)
			}
			break
		}
		must(t, unix.Close(handle))
	}
}

// TestHelpers are launches from daemons in a special state.
func TestHelpers(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": ``})
	i := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	for name, want := range map[string]string{
		"low limit":     `(?s)^20\n20\n40\n40\n0\n0\n0\n0\nsf-confined/1 admitted\n$`, // what is in force is reported, not what was asked for
		"listener":      `(?s)^the daemon runs under a system call filter.*it has a listener already.*confined: exec lock: install: device or resource busy\n$`,
		"one processor": `(?s)^20\n20\n64\n64\n0\n0\n0\n0\nsf-confined/1 admitted\n$`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := helper(t, name, i).Output()
			if err != nil || !regexp.MustCompile(want).Match(got) {
				t.Errorf("%v: %s", err, got)
			}
		})
	}
}

// TestSignalsDuringStage: a signal that interrupts the stage's exec while its consent is asked for makes the kernel ask again.
func TestSignalsDuringStage(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": ``})
	i := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	for range 5 {
		r := start(t, i).open(GoByte)
		done, storm := make(chan struct{}), sync.WaitGroup{}
		storm.Go(func() {
			for range 2000 { // the Go runtime has a handler for it, which does nothing; Node ignores it
				select {
				case <-done:
					return
				default:
					_ = r.Handle.Signal(unix.SIGWINCH)
				}
			}
		})
		for range 8 {
			line(t, r.Control)
		}
		admitted := line(t, r.Control)
		close(done)
		storm.Wait()
		if o := r.finish(t); admitted+"\n" != admittedRecord || !o.state.Success() {
			t.Errorf("%q %+v", admitted, o)
		}
	}
}

// TestFewDescriptors runs Node with as few as a request can ask for.
func TestFewDescriptors(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('x')`})
	j := s.job(t, nodeClosure(t), "main.cjs")
	j.Limits.Descriptors = 32
	if o := run(t, instance(t, j)); o.control != limitLines("20", "32")+admittedRecord || o.stdout != "x\n" {
		t.Errorf("%+v", o)
	}
}

// census counts what a launch could leave behind.
func census(t *testing.T) string {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	table, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	mounts := 0
	for line := range strings.Lines(string(table)) {
		if !strings.Contains(line, " /dev/loop") { // of the tests of other packages, which run at the same time
			mounts++
		}
	}
	children, err := filepath.Glob("/proc/self/task/*/children")
	must(t, err)
	var alive []string
	for _, file := range children {
		words, _ := readWord(file) // a thread that has ended has none
		alive = append(alive, strings.Fields(words)...)
	}
	return fmt.Sprintf("%d descriptors, %d mounts, children %v", len(fds), mounts, alive)
}

func TestNothingIsLeft(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('x')`})
	i := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	run(t, i)
	before := census(t)
	for range 50 {
		if o := run(t, i); !strings.HasSuffix(o.control, admittedRecord) || o.stdout != "x\n" || o.stderr != "" {
			t.Fatalf("%+v", o)
		}
	}
	if after := census(t); after != before {
		t.Errorf("after 50 launches %s, before %s", after, before)
	}
}
