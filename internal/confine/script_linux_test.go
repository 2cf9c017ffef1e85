package confine

import (
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// scriptArgs are good arguments of the script, by their place in launch.dash, for a sandbox-exec that only says that it was reached.
func scriptArgs(t *testing.T) []string {
	t.Helper()
	reached := filepath.Join(t.TempDir(), "sandbox-exec")
	must(t, os.WriteFile(reached, []byte("#!/bin/dash\necho reached\n"), 0o755))
	return []string{"/usr/bin/env", reached, "20", "64", "/home", "(version 1)", "/node"}
}

// performScript lets dash perform the script with a control pipe and says what came of it.
func performScript(t *testing.T, args []string, control func(*osexec.Cmd) (read func() string)) (report, stdout, stderr string, code int) {
	t.Helper()
	cmd := osexec.Command("/bin/dash", append([]string{"-c", launchScript, "confined-stage"}, args...)...)
	var out, said strings.Builder
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{}, &out, &said
	read := control(cmd)
	_ = cmd.Run()
	return read(), out.String(), said.String(), cmd.ProcessState.ExitCode()
}

func controlPipe(t *testing.T) func(*osexec.Cmd) func() string {
	return func(cmd *osexec.Cmd) func() string {
		r, w, err := os.Pipe()
		must(t, err)
		cmd.ExtraFiles = []*os.File{w}
		return func() string {
			must(t, w.Close())
			text, err := io.ReadAll(r)
			must(t, err)
			must(t, r.Close())
			return string(text)
		}
	}
}

// fullControl is a control descriptor that takes nothing.
func fullControl(t *testing.T) func(*osexec.Cmd) func() string {
	return func(cmd *osexec.Cmd) func() string {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		must(t, err)
		cmd.ExtraFiles = []*os.File{full}
		return func() string { must(t, full.Close()); return "" }
	}
}

// TestScript: every step that fails ends in 125, says which it was, and does not reach sandbox-exec.
func TestScript(t *testing.T) {
	none := func(*osexec.Cmd) func() string { return func() string { return "" } }
	limits := limitLines("20", "64")
	for name, row := range map[string]struct {
		edit         func(args []string) []string
		control      func(*osexec.Cmd) func() string
		report, step string
		code         int
	}{
		"good":              {report: limits},
		"cpu":               {edit: put(2, "x"), step: "cpu", code: 125},
		"descriptors":       {edit: put(3, "x"), step: "descriptors", code: 125},
		"more than allowed": {edit: put(3, "1073741824"), step: "descriptors", code: 125},
		"no control":        {control: none, step: "report", code: 125},
		"full control":      {control: fullControl(t), step: "report", code: 125},
		"no env":            {edit: put(0, "/absent"), report: limits, step: "exec", code: 125},
		"no sandbox-exec":   {edit: put(1, "/absent"), report: limits, code: 127},
		"an argument less":  {edit: func(args []string) []string { return args[:5] }, step: "arguments", code: 125},
		"none":              {edit: func([]string) []string { return nil }, step: "arguments", code: 125},
	} {
		t.Run(name, func(t *testing.T) {
			args := scriptArgs(t)
			if row.edit != nil {
				args = row.edit(args)
			}
			if row.control == nil {
				row.control = controlPipe(t)
			}
			report, stdout, stderr, code := performScript(t, args, row.control)
			if report != row.report || code != row.code || (stdout == "reached\n") != (name == "good") {
				t.Errorf("report %q, stdout %q, code %d", report, stdout, code)
			}
			if named := strings.Contains(stderr, "confined: "+row.step+": refused by the host\n"); named != (row.step != "") {
				t.Errorf("stderr %q", stderr)
			}
		})
	}
}

func put(at int, word string) func([]string) []string {
	return func(args []string) []string {
		args[at] = word
		return args
	}
}

// TestScriptForm: what no single run of the script can show.
func TestScriptForm(t *testing.T) {
	var code []string
	for line := range strings.Lines(launchScript) {
		if bare, _, _ := strings.Cut(strings.TrimSpace(line), " #"); bare != "" && !strings.HasPrefix(bare, "#") {
			code = append(code, bare)
		}
	}
	ulimit := regexp.MustCompile(`^ulimit (-[tncf] \S+|-[SH] -[tncf] >&3) \|\| exit 125$`)
	var set, said []string
	for _, line := range code {
		if strings.Contains(line, "ulimit") && !ulimit.MatchString(line) {
			t.Errorf("%s: a ulimit that fails would go on", line)
		}
		if what, report, found := strings.Cut(line, " >&3"); found && report == " || exit 125" {
			said = append(said, strings.TrimPrefix(what, "ulimit "))
		} else if letter, setting := strings.CutPrefix(line, "ulimit -"); setting {
			set = append(set, letter[:1])
		}
		if strings.ContainsAny(line, "`|&<") && !ulimit.MatchString(line) && !strings.HasPrefix(line, "trap ") {
			t.Errorf("%s: not in the shell's smallest part", line)
		}
	}
	if strings.Join(set, "") != "tncf" {
		t.Errorf("limits are set in the order %v, and the file size must be last", set)
	}
	if want := "-S -t, -H -t, -S -n, -H -n, -S -c, -H -c, -S -f, -H -f"; strings.Join(said, ", ") != want {
		t.Errorf("the report is %q", said)
	}
	if last := code[len(code)-1]; !strings.HasPrefix(last, `exec "$env" -i `) || !strings.HasSuffix(last, ` "$sandbox" -p "$profile" "$@"`) {
		t.Errorf("the last line is %s", last)
	}
	if exec := code[len(code)-1]; strings.Count(exec, "=") != len(environmentNames()) {
		t.Errorf("not the five variables: %s", exec)
	}
}
