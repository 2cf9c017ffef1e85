package httpapi

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"confined/e2e/contract"
	"confined/internal/exec"
	"confined/internal/ns"
)

// TestEveryKindOfAnswer: each operation answers with each status and code that
// the contract declares for it, for the cause that belongs to it. A kind that
// is declared and that no row makes fails here; one that is made and not
// declared fails wherever an answer is judged.
func TestEveryKindOfAnswer(t *testing.T) {
	seen, rows := &contract.Ledger{}, map[string]cause{}
	kinds := mustContract(t).Kinds()
	for _, more := range []map[string]cause{everywhereCauses(t), runCauses(), snapshotCauses(), otherCauses(), slotCauses()} {
		maps.Copy(rows, more)
	}
	for _, kind := range kinds {
		row := rows[kind.String()]
		if row == nil {
			t.Errorf("no row makes %s", kind)
			continue
		}
		delete(rows, kind.String())
		t.Run(kind.String(), func(t *testing.T) {
			row(t, seen)
			if missing := seen.Missing([]contract.Kind{kind}); len(missing) > 0 {
				t.Error("it was not answered")
			}
		})
	}
	if len(rows) > 0 {
		t.Errorf("the contract has no %v", slices.Sorted(maps.Keys(rows)))
	}
}

// cause makes one kind of answer, and notes it.
type cause func(*testing.T, *contract.Ledger)

// answerOf is the judged and noted answer of an API.
func answerOf(t *testing.T, seen *contract.Ledger, a http.Handler, req *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	a.ServeHTTP(w, req)
	fitsAndNotes(t, req, w.Code, w.Header(), w.Body.Bytes(), seen)
	return w
}

// asking is the cause that is a request alone.
func asking(change func(*Options), method, path, body string, header ...string) cause {
	return func(t *testing.T, seen *contract.Ledger) {
		answerOf(t, seen, newRig(t, change), request(method, path, body, header...))
	}
}

func request(method, path, body string, header ...string) *http.Request {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// everywhereCauses are those of the answers that every path has.
func everywhereCauses(t *testing.T) map[string]cause {
	rows := map[string]cause{"* 404 not-found": asking(nil, "GET", "/nowhere", "")}
	stranger := func(o *Options) { owner := 1; o.Owner = &owner } // the requests of these tests have no peer
	for template, item := range mustContract(t).Doc.Paths.Map() {
		path := strings.NewReplacer("{runId}", "a", "{name}", "slot-0").Replace(template)
		rows[template+" 405 method-not-allowed"] = asking(nil, "PATCH", path, "")
		for method, operation := range item.Operations() {
			rows[operation.OperationID+" 403 forbidden"] = asking(stranger, method, path, "")
			rows[operation.OperationID+" 500 internal"] = func(t *testing.T, seen *contract.Ledger) {
				w := &breaking{ResponseRecorder: httptest.NewRecorder()}
				req := request(method, path, "", "If-Match", slotTag)
				r := newRig(t, func(o *Options) {
					o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) })
				})
				r.pool.holds(shownSlot(), nil)
				r.ServeHTTP(w, req)
				fitsAndNotes(t, req, w.Code, w.Header(), w.Body.Bytes(), seen)
			}
		}
	}
	return rows
}

// breaking is a connection that panics once, when an answer is about to begin:
// a bug that any operation may come upon.
type breaking struct {
	*httptest.ResponseRecorder
	broken bool
}

func (b *breaking) SetWriteDeadline(time.Time) error {
	if !b.broken {
		b.broken = true
		panic("a bug")
	}
	return nil
}

// otherCauses are those of what is only asked.
func otherCauses() map[string]cause {
	rows := map[string]cause{
		"cancelRun 202": func(t *testing.T, seen *contract.Ledger) {
			busy(t, nil, seen, request("DELETE", "/v1/runs/alive", ""))
		},
		"cancelRun 404 run-unknown": asking(nil, "DELETE", "/v1/runs/nobody", ""),
		"metrics 200 application/openmetrics-text": asking(func(o *Options) {
			o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { // which chooses by Accept: see package metrics
				w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0")
			})
		}, "GET", "/metrics", ""),
	}
	for operation, path := range map[string]string{
		"listRuns": "/v1/runs", "getRuntime": "/v1/runtime", "getProfile": "/v1/profile", "listSlots": "/v1/slots", "getStatus": "/v1/status",
	} {
		rows[operation+" 200 application/json"] = asking(nil, "GET", path, "")
	}
	for operation, path := range map[string]string{"healthz": "/healthz", "readyz": "/readyz", "metrics": "/metrics", "contract": "/openapi.yaml"} {
		rows[operation+" 200 text/plain"] = asking(nil, "GET", path, "")
	}
	for operation, path := range map[string]string{"listSlots": "/v1/slots", "readyz": "/readyz"} {
		rows[operation+" 503 not-ready"] = func(t *testing.T, seen *contract.Ledger) {
			r := newRig(t, nil)
			r.pool.err = errors.New("the root is gone")
			answerOf(t, seen, r, request("GET", path, ""))
		}
	}
	for code, err := range map[string]error{"unsupported-host": &exec.UnprovenError{}, "runtime-unavailable": errors.New("no Node")} {
		rows["getRuntime 503 "+code] = func(t *testing.T, seen *contract.Ledger) {
			r := newRig(t, nil)
			r.executor.describe = func(context.Context) (exec.Description, error) { return exec.Description{}, err }
			answerOf(t, seen, r, request("GET", "/v1/runtime", ""))
		}
	}
	return rows
}

// holds makes a pool show one slot, or fail to, and release it.
func (p *stubPool) holds(contents ns.SlotContents, err error) {
	p.show = func(string) (ns.SlotContents, error) { return contents, err }
	p.release = func(string, string) (ns.Disposition, error) {
		return ns.Disposition{State: ns.StateRemoved, Durable: true}, err
	}
}

// slotCauses are those of one slot, shown or released.
func slotCauses() map[string]cause {
	asked := func(method string, err error, header ...string) cause {
		return func(t *testing.T, seen *contract.Ledger) {
			r := newRig(t, nil)
			r.pool.holds(shownSlot(), err)
			answerOf(t, seen, r, request(method, "/v1/slots/slot-0", "", header...))
		}
	}
	unsound := errors.New("the root is gone")
	return map[string]cause{
		"getSlot 200 application/json":          asked("GET", nil),
		"getSlot 404 slot-unknown":              asked("GET", ns.ErrSlotUnknown),
		"getSlot 503 not-ready":                 asked("GET", unsound),
		"releaseSlot 200 application/json":      asked("DELETE", nil, "If-Match", slotTag),
		"releaseSlot 404 slot-unknown":          asked("DELETE", ns.ErrSlotUnknown, "If-Match", slotTag),
		"releaseSlot 409 slot-busy":             asked("DELETE", &ns.BusyError{Problem: "a run has it", Cure: "wait"}, "If-Match", slotTag),
		"releaseSlot 412 slot-changed":          asked("DELETE", ns.ErrSlotChanged, "If-Match", slotTag),
		"releaseSlot 428 precondition-required": asked("DELETE", nil),
		"releaseSlot 503 not-ready":             asked("DELETE", unsound, "If-Match", slotTag),
	}
}
