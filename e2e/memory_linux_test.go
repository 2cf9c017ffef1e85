package e2e

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// upload is a body of one form around one large file: what comes before it, the
// file as that form writes it, and what comes behind.
type upload struct {
	contentType           string
	before, large, behind string
}

func (u upload) reader() io.Reader {
	return io.MultiReader(strings.NewReader(u.before), strings.NewReader(u.large), strings.NewReader(u.behind))
}

func (u upload) size() int64 { return int64(len(u.before) + len(u.large) + len(u.behind)) }

// uploads writes a run with one file of input, "big", down in every form.
func uploads(t testing.TB, r runRequest) map[string]upload {
	t.Helper()
	big := r.input["big"]
	const mark = "WHERE-THE-LARGE-FILE-GOES"
	small := r
	small.input, small.inputDigest = files{"big": mark}, r.input.digest()
	around := func(contentType, whole, large string) upload {
		before, behind, found := strings.Cut(whole, mark)
		if !found {
			t.Fatal("the mark is not there")
		}
		return upload{contentType, before, large, behind}
	}
	contentType, form := form(t, small.parts(t))
	inline := small.document()
	for name, tree := range map[string]files{"program": small.program, "input": small.input} {
		var entries []any
		for _, f := range tree.list() {
			entries = append(entries, map[string]any{"path": f.path, "content": map[string]any{"encoding": "base64", "data": f.content}})
			if f.content != mark {
				entries[len(entries)-1] = map[string]any{"path": f.path, "content": map[string]any{"encoding": "utf-8", "data": f.content}}
			}
		}
		inline[name].(map[string]any)["files"] = entries
	}
	return map[string]upload{
		"multipart": around(contentType, string(form), big),
		"JSON":      around("application/json", text(t, inline), base64.StdEncoding.EncodeToString([]byte(big))),
		"tar":       tarAround(t, small, big),
	}
}

// tarAround is the archive of r, whose only file of input is big.
func tarAround(t testing.TB, r runRequest, big string) upload {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	member := func(name string, size int, content string) {
		err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(size)})
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range append([]file{{"request.json", text(t, r.document())}}, r.program.under("program/")...) {
		member(p.path, len(p.content), p.content)
	}
	_ = w.Flush()
	member("input/big", len(big), "")
	padding := (512 - len(big)%512) % 512
	return upload{"application/x-tar", b.String(), big, strings.Repeat("\x00", padding+1024)}
}

// under is the list of f with a prefix before each path.
func (f files) under(prefix string) []file {
	list := f.list()
	for i := range list {
		list[i].path = prefix + list[i].path
	}
	return list
}

// TestMemoryOfUploads: 16 clients that send 64 MiB each at once, in any form,
// keep the resident memory of the daemon below the bound on uploads and 64 MiB.
// Every one is answered: with its result, or told to come again.
func TestMemoryOfUploads(t *testing.T) {
	t.Parallel()
	const clients, bound = 16, 128 << 20
	d := startDaemon(t, withFlags(fmt.Sprintf("--upload-memory=%d", bound), "--workers=2"))
	r := d.script(t, `import fs from 'node:fs'; console.log(fs.statSync('big').size)`)
	r.input = files{"big": strings.Repeat("0123456789abcdef", 64<<20/16)}
	for form, u := range uploads(t, r) {
		statuses := d.sendAtOnce(t, clients, u)
		if statuses[200] == 0 || statuses[503] == 0 || statuses[200]+statuses[503] != clients {
			t.Errorf("%s: answers %v", form, statuses)
		}
		kib := statusNumber("VmHWM")(d.cmd.Process.Pid)
		t.Logf("%s: answers %v, at most %d MiB resident", form, statuses, kib>>10)
		if kib<<10 > bound+64<<20 {
			t.Errorf("%s: the daemon had %d KiB resident, with a bound of %d KiB on uploads", form, kib, bound>>10)
		}
	}
}

// sendAtOnce posts u as often as that at the same time, and counts the statuses
// of the answers.
func (d *daemon) sendAtOnce(t testing.TB, clients int, u upload) map[int]int {
	t.Helper()
	answers := make([]answer, clients)
	errs := make([]error, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			request := d.newRequest(t, http.MethodPost, "/v1/runs", u.reader())
			request.ContentLength = u.size()
			request.Header.Set("Content-Type", u.contentType)
			answers[i], errs[i] = d.exchange(request)
		})
	}
	all.Wait()
	statuses := map[int]int{}
	for i, a := range answers {
		if errs[i] != nil {
			t.Errorf("client %d: %v", i, errs[i])
			continue
		}
		d.judge(t, a)
		statuses[a.status]++
		if a.status == 200 && a.result(t).Status != "observed" {
			t.Errorf("%.2000s", a.body)
		}
	}
	return statuses
}
