package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestMemoryOfUploads: many clients that send 64 MiB each at once, in any form,
// keep the resident memory of the daemon below the bound on uploads and 64 MiB.
// Every one is answered: with its result, or told to come again, and who then
// comes again gets a result.
func TestMemoryOfUploads(t *testing.T) {
	t.Parallel()
	const bound = 128 << 20 // two clients, and a little
	d := startDaemon(t, withFlags(fmt.Sprintf("--upload-memory=%d", bound), "--workers=2"))
	r := d.script(t, `import fs from 'node:fs'; console.log(fs.statSync('big').size)`)
	r.input = files{"big": strings.Repeat("0123456789abcdef", 64<<20/16)}
	for form, clients := range map[string]int{"multipart": 16, "JSON": 6, "tar": 6} {
		u := uploadOf(t, r, form)
		statuses := d.sendAtOnce(t, clients, u)
		if statuses[503] == 0 || statuses[200]+statuses[503] != clients {
			t.Errorf("%s: answers %v", form, statuses)
		}
		if after := d.sendAtOnce(t, 1, u); after[200] != 1 {
			t.Errorf("%s, when the others were answered: %v", form, after)
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
		statuses[a.status]++
		if a.status == 200 && a.result(t).Status != "observed" {
			t.Errorf("%.2000s", a.body)
		}
	}
	return statuses
}

// resident is a line of the daemon's status less what it maps of shared memory,
// in KiB.
func (d *daemon) resident(line string) int {
	pid := d.cmd.Process.Pid
	return statusNumber(line)(pid) - statusNumber("RssShmem")(pid)
}

// resetPeak makes the kernel count VmHWM anew.
func (d *daemon) resetPeak(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", d.cmd.Process.Pid), []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
}
