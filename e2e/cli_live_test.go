//go:build linux

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// liveCLI starts `confined run` with a program that calls itself title and ends
// well at SIGUSR2, and returns once it runs.
func (d *daemon) liveCLI(t testing.TB, title string, flags ...string) (c *cli, pid int) {
	t.Helper()
	c = d.command(t, append(append([]string{"run"}, flags...), "-")...)
	c.start(t, waiting(title))
	return c, d.awaitProgram(t, title, c.done, c.stderr.String)
}

// TestCLIStreams: output arrives while the program runs.
func TestCLIStreams(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	c := d.command(t, "run", "-").start(t, "console.log('early'); console.error('warned'); "+waiting("streams"))
	pid := d.awaitProgram(t, "streams", c.done, c.stderr.String)
	poll(t, func() bool { return c.stdout.String() == "early\n" && c.stderr.String() == "warned\n" },
		func() string { return fmt.Sprintf("stdout %q, stderr %q", c.stdout.String(), c.stderr.String()) })
	tell(t, pid)
	c.end(t).must(t, 0, "exit 0", "13 bytes of output")
}

// TestCLISignals: the first one stops the run and waits for what came of it,
// the second leaves.
func TestCLISignals(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			c, _ := d.liveCLI(t, s.String())
			c.signal(t, s)
			c.end(t).must(t, 137, "observed, attributable, stopped by the daemon: cancelled, SIGKILL")
		})
	}
	t.Run("while it waits", func(t *testing.T) {
		t.Parallel()
		d := startDaemon(t, withFlags("--workers=1"))
		first, pid := d.liveCLI(t, "first")
		second := d.command(t, "run", "-").start(t, "1")
		d.awaitQueue(t, 1)
		second.signal(t, syscall.SIGINT)
		second.end(t).must(t, 125, "no run: aborted")
		tell(t, pid)
		first.end(t).must(t, 0)
	})
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		d := startDaemon(t)
		c, _ := d.liveCLI(t, "twice")
		d.suspend(t)
		defer d.resume(t)
		c.signal(t, syscall.SIGINT)
		c.signal(t, syscall.SIGTERM)
		c.end(t).must(t, 127, "UNKNOWN: left at a second signal", "Do not send it again blindly")
	})
}

func (c *cli) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// TestCLIReaderLeaves: a reader who has enough does not change the exit code,
// and stderr says that it left. A disk that is full is another matter.
func TestCLIReaderLeaves(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := d.command(t, "run", "-")
	c.cmd.Stdout = write
	c.start(t, `console.log('first'); process.on('SIGUSR2', () => { console.log('second'); process.exitCode = 3; clearInterval(i) }); const i = setInterval(() => {}, 1000); process.title = 'reader'`)
	write.Close()
	if line, err := bufio.NewReader(read).ReadString('\n'); line != "first\n" {
		t.Fatal(line, err)
	}
	read.Close()
	tell(t, d.awaitProgram(t, "reader", c.done, c.stderr.String))
	c.end(t).must(t, 3, "confined: stdout was not taken whole: ", "broken pipe after 6 bytes")

	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, flags := range [][]string{{"run", "-"}, {"run", "--json", "-"}} {
		c = d.command(t, flags...)
		c.cmd.Stdout = full
		c.start(t, "console.log(1)").end(t).must(t, 126, "stdout was not taken whole: ", "no space left")
	}
}

// terminal is a pseudo-terminal: what is written to it, and what it shows.
func terminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return screen, tty
}

// onTerminal runs a command whose streams are all a terminal, at which somebody
// types, and returns what that shows.
func (d *daemon) onTerminal(t *testing.T, types string, args ...string) (code int, shown string) {
	t.Helper()
	screen, tty := terminal(t)
	c := d.command(t, args...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, tty, tty
	if _, err := io.WriteString(screen, types); err != nil {
		t.Fatal(err)
	}
	c.start(t, "")
	tty.Close()
	all, _ := io.ReadAll(screen) // it ends in EIO once nobody holds the terminal
	return c.end(t).code, strings.ReplaceAll(string(all), "\r\n", "\n")
}

// TestCLITerminal: control characters of a program do not reach a terminal, unless
// asked for; a release asks there.
func TestCLITerminal(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	writeTree(t, d.dir+"/p", files{"main.mjs": `process.stdout.write('\x1b[2Jgrün\u202e'); process.exitCode = 5`})
	code, shown := d.onTerminal(t, "", "run", "p")
	if code != 5 || !strings.HasPrefix(shown, "^[[2Jgrün<U+202E>\nconfined: observed") {
		t.Errorf("exit %d, shown %q", code, shown)
	}
	if code, shown = d.onTerminal(t, "", "run", "--raw", "p"); code != 5 || !strings.HasPrefix(shown, "\x1b[2Jgrün\u202e\nconfined: observed") {
		t.Errorf("--raw: exit %d, shown %q", code, shown)
	}
	if code, shown = d.onTerminal(t, "", "run", "--json", "p"); code != 5 || !strings.HasSuffix(shown, "}}\n") {
		t.Errorf("--json: exit %d, shown %q", code, shown)
	}
	if err := os.Mkdir(d.root+"/slot-0", 0o700); err != nil {
		t.Fatal(err)
	}
	if code, shown = d.onTerminal(t, "\n", "slots", "release", "slot-0"); code != 1 || !strings.Contains(shown, "leftover") || !strings.Contains(shown, "Remove slot-0? [y/N] ") || !strings.HasSuffix(shown, "nothing was removed\n") || len(d.rootEntries(t)) != 1 {
		t.Errorf("no: exit %d, shown %q", code, shown)
	}
	if code, shown = d.onTerminal(t, "y\n", "slots", "release", "slot-0"); code != 0 || !strings.HasSuffix(shown, "slot-0 is removed\n") || len(d.rootEntries(t)) != 0 {
		t.Errorf("yes: exit %d, shown %q", code, shown)
	}
}
