package confine

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// runHelper is the other process of a test.
func runHelper(name string) int {
	runtime.LockOSThread()
	if err := help(name); err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
		return 1
	}
	return 0
}

func help(name string) error {
	var t task
	if err := json.NewDecoder(os.Stdin).Decode(&t); err != nil {
		return err
	}
	l, err := linuxLaunch{argv: t.Argv}.saying(t.Text)
	if err != nil {
		return err
	}
	switch name {
	case "daemon":
		return helpDaemon(l)
	case "low limit":
		low := unix.Rlimit{Cur: 40, Max: 40}
		if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &low, nil); err != nil {
			return err
		}
		return helpControl(l)
	case "listener":
		return helpListener(l)
	case "one processor":
		var one unix.CPUSet
		one.Set(0)
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			return err
		}
		return helpControl(l)
	}
	if call, found := strings.CutPrefix(name, withoutMark); found {
		return helpWithout(l, call)
	}
	return fmt.Errorf("unknown helper %q", name)
}

func helpLaunch(l linuxLaunch) (*Process, error) {
	p, err := l.launch()
	if err != nil {
		return nil, err
	}
	_, _ = p.Gate.Write([]byte{GoByte})
	return p, nil
}

// helpDaemon launches, says the process id and what the program says, and waits to be killed.
func helpDaemon(l linuxLaunch) error {
	p, err := helpLaunch(l)
	if err != nil {
		return err
	}
	fmt.Println(p.PID)
	_, err = io.Copy(os.Stdout, p.Stdout)
	return fmt.Errorf("the program ended: %w", err)
}

// helpControl prints the control text and what the stage said.
func helpControl(l linuxLaunch) error {
	p, err := helpLaunch(l)
	if err != nil {
		return err
	}
	for _, f := range []*os.File{p.Control, p.Stderr} {
		if _, err := io.Copy(os.Stdout, f); err != nil {
			return err
		}
	}
	_, err = p.Wait()
	return err
}

// helpListener is a daemon under somebody else's filter with a listener.
func helpListener(l linuxLaunch) error {
	if err := filterAllThreads([]instruction{{code: opReturn, k: verdictAllow}}, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER); err != nil {
		return err
	}
	fmt.Println(hostProblem())
	return helpControl(l)
}
