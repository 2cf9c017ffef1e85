package e2e

import (
	"bytes"
	"context"
	"os"
	osexec "os/exec"
	"slices"
	"strings"
	"testing"
)

// The first hour: what a new user gets wrong, typed as it is typed, and answered
// with words that are enough to get it right. Each row types its mistake and
// then what the answer says, which must work.

// slip is a mistake in a request. What is typed is for a shell in a folder with
// program/, input/, request.json and good.json, in which
//
//	$CURL   is curl on the daemon's socket, and $RUN that with the URL of a run
//	$FILES  are the parts of all files
type slip struct {
	name  string
	files files                    // more of them in the folder
	pin   func(doc map[string]any) // what is wrong in request.json; good.json is right
	typed string
	code  string
	fault string   // "code pointer" of a fault there must be; empty for a problem without
	says  []string // each in the detail or in that of the fault
	cure  string   // what is typed then; empty: $RUN with good.json and all files
}

// shop is the folder of one slip.
type shop struct {
	d   *daemon
	dir string
	env []string
}

var shopFiles = files{
	"program/main.mjs":      "import { greet } from './lib/greet.mjs'; console.log(greet())\n",
	"program/lib/greet.mjs": "export const greet = () => 'hi'\n",
	"input/names.txt":       "Ada\n",
}

// below are the files of f in a folder, by their paths there.
func (f files) below(folder string) files {
	out := files{}
	for path, content := range f {
		if rest, ok := strings.CutPrefix(path, folder+"/"); ok {
			out[rest] = content
		}
	}
	return out
}

// openShop writes everything that the rows type about.
func openShop(t *testing.T, d *daemon, more files, pin func(map[string]any)) shop {
	t.Helper()
	good := d.run(t, shopFiles.below("program"), "main.mjs")
	good.input = shopFiles.below("input")
	wrong := good.document()
	if pin != nil {
		pin(wrong)
	}
	s := shop{d: d, dir: t.TempDir()}
	writeTree(t, s.dir, shopFiles)
	writeTree(t, s.dir, more)
	writeTree(t, s.dir, files{"good.json": text(t, good.document()), "request.json": text(t, wrong)})
	curl := "curl -sS --unix-socket " + d.socket
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "CURL=" + curl, "RUN=" + curl + " http://confined/v1/runs",
		"FILES=-F program/main.mjs=@program/main.mjs -F program/lib/greet.mjs=@program/lib/greet.mjs -F input/names.txt=@input/names.txt",
	}
	return s
}

// types runs one line of shell, whose output must be one answer.
func (s shop) types(t *testing.T, line string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := osexec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = s.dir, s.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("%s\n%v %s", line, err, stderr.String())
	}
	mustBeBody(t, stdout.Bytes())
	return stdout.Bytes()
}

func (s slip) check(t *testing.T, d *daemon) {
	work := openShop(t, d, s.files, s.pin)
	p := decode[problem](t, work.types(t, s.typed))
	if p.Code != s.code {
		t.Errorf("%s\nanswered %s, want %s: %s", s.typed, p.Code, s.code, p.Detail)
	}
	said, found := p.Detail, s.fault == ""
	for _, f := range p.Errors {
		if f.Code+" "+f.Pointer == s.fault {
			said, found = said+"\n"+f.Detail, true
		}
	}
	if !found {
		t.Errorf("%s\nthere is no fault %s: %+v", s.typed, s.fault, p.Errors)
	}
	for _, words := range s.says {
		if !strings.Contains(said, words) {
			t.Errorf("%s\nis not told: %s\nbut:         %s", s.typed, words, said)
		}
	}
}

// mustWork fails unless what is typed runs the program well, or digests it.
func (s shop) mustWork(t *testing.T, line string) {
	t.Helper()
	body := s.types(t, line)
	got := decode[struct {
		Status  any // a number in a problem
		Digest  string
		Process *processFacts
	}](t, body)
	if got.Digest == "" && (got.Status != "observed" || got.Process.Stdout.Data != "hi\n") {
		t.Errorf("the cure does not work: %s\n%s", line, body)
	}
}

// TestFirstRequests: every slip is answered with its cure, and leaves nothing.
func TestFirstRequests(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	d.pins(t)
	cures := map[string]bool{"$RUN -F request=@good.json $FILES": true} // the same for most rows, so typed once
	t.Run("slips", func(t *testing.T) {
		for _, row := range slices.Concat(slipsOfCurl(), slipsOfOtherForms(), slipsOfPins()) {
			if row.cure != "" {
				cures[row.cure] = true
			}
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				row.check(t, d)
			})
		}
	})
	for cure := range cures {
		openShop(t, d, nil, nil).mustWork(t, cure)
	}
	if children := childrenOf(d.cmd.Process.Pid); len(children) > 0 {
		t.Errorf("processes are left: %v", children)
	}
}
