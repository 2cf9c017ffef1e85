package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"confined/internal/exec"
)

// refusal is a problem on its way: what a handler returns instead of an answer.
type refusal struct {
	code   ProblemCode
	detail string
	faults []Fault
	retry  time.Duration // of 429 and 503; 0 until the API estimates it
}

func (r *refusal) Error() string { return string(r.code) + ": " + r.detail }

func refuse(code ProblemCode, format string, args ...any) *refusal {
	return &refusal{code: code, detail: fmt.Sprintf(format, args...)}
}

// invalid is the problem of a request that can be read and is wrong. The detail
// shows the first fault, for people who look no further.
func invalid(f *faults) *refusal {
	first := f.list[0]
	r := refuse(ProblemCodeInvalidRequest, "%s: %s", first.Pointer, first.Detail)
	if f.total > 1 {
		r.detail = fmt.Sprintf("%d faults; the first: %s", f.total, r.detail)
	}
	r.faults = f.list
	return r
}

// untilCured is the Retry-After of what only a person can change.
const untilCured = time.Minute

// classify is the one place where an error becomes a problem. What it does not
// know is internal: whether a process existed is then unknown.
func classify(err error) *refusal {
	var r *refusal
	var missing *RequiredHeaderError // only a release requires a header: If-Match
	var repeated *TooManyValuesForParamError
	var unreadable *InvalidParamFormatError
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &missing):
		return refuse(ProblemCodePreconditionRequired, "%s is missing: quote the ETag that a GET of the same path answers", missing.ParamName)
	case errors.As(err, &repeated):
		return refuse(ProblemCodeSlotChanged, "%s is given %d times, which is a list; quote one ETag", repeated.ParamName, repeated.Count)
	case errors.As(err, &unreadable):
		return refuse(ProblemCodeSlotChanged, "%s is no ETag (%v); quote one verbatim, with its double quotes", unreadable.ParamName, unreadable.Err)
	}
	return refuse(ProblemCodeInternal, "the daemon failed; its log has the reason under this request's id. Whether a process was started is unknown")
}

// runtimeRefusal is the problem of a runtime that cannot be described. Nothing
// was started, so it is never internal.
func runtimeRefusal(err error) *refusal {
	var host *exec.HostError
	var unproven *exec.UnprovenError
	code := ProblemCodeRuntimeUnavailable
	if errors.As(err, &host) || errors.As(err, &unproven) {
		code = ProblemCodeUnsupportedHost
	}
	return &refusal{code: code, detail: err.Error(), retry: untilCured}
}

// rootRefusal is the same for a root that cannot be listed.
func rootRefusal(err error) *refusal {
	return &refusal{code: ProblemCodeNotReady, detail: string(NotReadyCodeRootUnsound) + ": " + err.Error(), retry: untilCured}
}

// problemKind is what all problems of one code have in common.
type problemKind struct {
	code   ProblemCode
	status int
	title  string
}

// problemKinds are all there are, in the order of the contract.
var problemKinds = []problemKind{
	{ProblemCodeMalformedRequest, http.StatusBadRequest, "the request cannot be read"},
	{ProblemCodeForbidden, http.StatusForbidden, "this daemon serves its owner only"},
	{ProblemCodeNotFound, http.StatusNotFound, "no such resource"},
	{ProblemCodeRunUnknown, http.StatusNotFound, "no such run waits or is alive"},
	{ProblemCodeSlotUnknown, http.StatusNotFound, "no such slot"},
	{ProblemCodeMethodNotAllowed, http.StatusMethodNotAllowed, "this resource has no such method"},
	{ProblemCodeNotAcceptable, http.StatusNotAcceptable, "no such representation"},
	{ProblemCodeRunIDUsed, http.StatusConflict, "this run id was used already"},
	{ProblemCodeSlotBusy, http.StatusConflict, "this slot cannot be released now"},
	{ProblemCodeSlotChanged, http.StatusPreconditionFailed, "this slot is not what was shown"},
	{ProblemCodePreconditionRequired, http.StatusPreconditionRequired, "a release must quote what was shown"},
	{ProblemCodeTooLarge, http.StatusRequestEntityTooLarge, "the request is too large"},
	{ProblemCodeUnsupportedMediaType, http.StatusUnsupportedMediaType, "a body of this type is not understood"},
	{ProblemCodeInvalidRequest, http.StatusUnprocessableEntity, "invalid confined run request"},
	{ProblemCodeQueueFull, http.StatusTooManyRequests, "the queue is full"},
	{ProblemCodeDraining, http.StatusServiceUnavailable, "the daemon is shutting down"},
	{ProblemCodeUploadMemoryFull, http.StatusServiceUnavailable, "the upload memory is full"},
	{ProblemCodeNotReady, http.StatusServiceUnavailable, "no run can start now"},
	{ProblemCodeUnsupportedHost, http.StatusServiceUnavailable, "this host is not supported"},
	{ProblemCodeRuntimeUnavailable, http.StatusServiceUnavailable, "there is no runtime to pin"},
	{ProblemCodeInternal, http.StatusInternalServerError, "the daemon failed"},
}

// ProblemCodes are all codes that a problem can have.
func ProblemCodes() []string {
	codes := make([]string, len(problemKinds))
	for i, k := range problemKinds {
		codes[i] = string(k.code)
	}
	return codes
}

// statusOf is the HTTP status of a code, and its title.
func statusOf(code ProblemCode) (int, string) {
	i := slices.IndexFunc(problemKinds, func(k problemKind) bool { return k.code == code })
	if i < 0 {
		panic(fmt.Sprintf("httpapi: bug: no problem has the code %q", code))
	}
	return problemKinds[i].status, problemKinds[i].title
}

// seconds is d as Retry-After has it: whole seconds, 1 to 60.
func seconds(d time.Duration) int {
	return int(min(max(math.Ceil(d.Seconds()), 1), 60))
}

// problem answers err. It is the only way by which a request is refused.
func (a *API) problem(w http.ResponseWriter, r *http.Request, err error) {
	c := callOf(r.Context())
	if c.answer.status != 0 {
		// Part of an answer is out: the connection breaks, which says "unknown".
		a.log.InfoContext(r.Context(), "the answer was not taken", "requestId", c.id, "runId", c.runID, "error", err)
		panic(http.ErrAbortHandler)
	}
	p := a.describe(c, err)
	c.body.release() // what was read is worth nothing now, and draining takes time
	c.body.drain()
	if p.RetryAfterMs != nil {
		w.Header().Set("Retry-After", strconv.Itoa(*p.RetryAfterMs/1000))
	}
	writeJSON(w, p.Status, "application/problem+json", p)
}

// describe makes the problem that tells err to the client of c, who is about to
// get it.
func (a *API) describe(c *call, err error) Problem {
	p := classify(err)
	status, title := statusOf(p.code)
	c.code = p.code
	if p.code == ProblemCodeInternal {
		a.log.Error("internal error", "requestId", c.id, "runId", c.runID, "error", err)
		c.lose()
	}
	out := Problem{
		Type: "urn:confined:problem:" + string(p.code), Title: title, Status: status, Detail: printable(p.detail, maxDetailBytes),
		Instance: "urn:confined:request:" + c.id, Code: p.code, Errors: p.faults,
	}
	if c.runID != "" {
		out.RunID = &c.runID
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		ms := seconds(a.retryAfter(p)) * 1000
		out.RetryAfterMs = &ms
	}
	a.trace.Refused(string(p.code))
	return out
}

// retryAfter is what the refusal says, else an estimate from the queue.
func (a *API) retryAfter(p *refusal) time.Duration {
	if p.retry > 0 {
		return p.retry
	}
	return a.queue.estimate()
}

// encodeJSON is v, which always encodes, without HTML escaping and without a
// newline at the end.
func encodeJSON(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("httpapi: bug: %T does not encode: %v", v, err))
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

func writeJSON(w http.ResponseWriter, status int, contentType string, v any) {
	text := encodeJSON(v)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone misses its answer
}
