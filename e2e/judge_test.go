package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crypto/sha256"
	"encoding/base64"

	"github.com/getkin/kin-openapi/openapi3"
)

// loadContract reads openapi.yaml, which must be valid in itself.
func loadContract(path string) (*openapi3.T, []byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err == nil {
		err = doc.Validate(context.Background())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	return doc, text, nil
}

var (
	requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	stageForm     = regexp.MustCompile(`^(queue|pins|materialise|verify|launch|admit|program|collect|recheck|settle);dur=[0-9]+(\.[0-9]+)?$`)
)

// judge checks what must hold for every answer there is: its headers, and that
// the contract knows it.
func (d *daemon) judge(t testing.TB, a answer) {
	t.Helper()
	wrong := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s %s (%d): %s\n%.1000s", a.method, a.path, a.status, fmt.Sprintf(format, args...), a.body)
	}
	if id := a.header.Get("X-Request-Id"); !requestIDForm.MatchString(id) {
		wrong("X-Request-Id is %q", id)
	}
	if instance := a.header.Get("Confined-Instance"); instance == "" || instance != d.instance {
		wrong("Confined-Instance is %q, want %q", instance, d.instance)
	}
	if length := a.header.Get("Content-Length"); length != "" && a.method != "HEAD" && length != strconv.Itoa(len(a.body)) {
		wrong("Content-Length is %s for %d bytes", length, len(a.body))
	}
	if a.method == "HEAD" {
		return
	}
	if err := conforms(a); err != nil {
		wrong("not as in the contract: %v", err)
	}
	switch {
	case a.status >= 400:
		judgeProblem(a, wrong)
	case a.path == "/v1/runs" && a.method == "POST":
		judgeResult(a, wrong)
	}
}

type complaint func(format string, args ...any)

// judgeProblem checks what a problem says of itself against the answer it is in.
func judgeProblem(a answer, wrong complaint) {
	var p problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		wrong("%v", err)
		return
	}
	if p.Status != a.status {
		wrong("status is %d in the problem", p.Status)
	}
	if want := "urn:confined:problem:" + p.Code; p.Type != want {
		wrong("type is %q, want %q", p.Type, want)
	}
	if want := "urn:confined:request:" + a.header.Get("X-Request-Id"); p.Instance != want {
		wrong("instance is %q, want %q", p.Instance, want)
	}
	if p.Title == "" || p.Detail == "" {
		wrong("a title or a detail is missing")
	}
	after, _ := strconv.Atoi(a.header.Get("Retry-After"))
	if retry := a.status == 429 || a.status == 503; retry != (after >= 1 && after <= 60) || p.RetryAfterMs != after*1000 {
		wrong("Retry-After is %q, retryAfterMs %d", a.header.Get("Retry-After"), p.RetryAfterMs)
	}
}

// judgeResult checks the headers of a result against its bytes.
func judgeResult(a answer, wrong complaint) {
	var r struct{ Status, RunID string }
	if err := json.Unmarshal(a.body, &r); err != nil {
		wrong("%v", err)
		return
	}
	if got := a.header.Get("Confined-Run-Id"); got != r.RunID {
		wrong("Confined-Run-Id is %q", got)
	}
	if got := a.header.Get("Confined-Status"); got != r.Status {
		wrong("Confined-Status is %q", got)
	}
	sum := sha256.Sum256(a.body)
	if got, want := a.header.Get("Content-Digest"), "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":"; got != want {
		wrong("Content-Digest is %q, want %q", got, want)
	}
	for stage := range strings.SplitSeq(a.header.Get("Server-Timing"), ",") {
		if !stageForm.MatchString(strings.TrimSpace(stage)) {
			wrong("Server-Timing holds %q", stage)
		}
	}
}

// conforms says how an answer differs from what the contract lets it be.
func conforms(a answer) error {
	response, err := described(a)
	if err != nil {
		return err
	}
	media := response.Content.Get(a.header.Get("Content-Type"))
	if media == nil {
		return fmt.Errorf("no content of type %q", a.header.Get("Content-Type"))
	}
	for name, h := range response.Headers {
		if h.Value.Required && a.header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	var value any = string(a.body)
	if strings.Contains(a.header.Get("Content-Type"), "json") {
		if err := json.Unmarshal(a.body, &value); err != nil {
			return err
		}
	}
	return media.Schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.VisitAsResponse(), openapi3.MultiErrors())
}

// templateOf is the path of the contract that a path of a request is one of.
func templateOf(path string) string {
	if name, found := strings.CutPrefix(path, "/v1/slots/"); found && name != "" && !strings.Contains(name, "/") {
		return "/v1/slots/{name}"
	}
	return path
}

// described finds what the contract says of this answer. Of a path or method
// that the contract does not have it says what every operation may answer.
func described(a answer) (*openapi3.Response, error) {
	if item := shared.contract.Paths.Find(templateOf(a.path)); item != nil {
		if operation := item.GetOperation(a.method); operation != nil {
			if r := operation.Responses.Status(a.status); r != nil {
				return r.Value, nil
			}
			if a.status < 400 {
				return nil, fmt.Errorf("no answer %d", a.status)
			}
		}
	}
	if !slices.Contains([]int{400, 403, 404, 405, 500}, a.status) {
		return nil, fmt.Errorf("%d is not among what any operation may answer", a.status)
	}
	return shared.contract.Components.Responses["Problem"].Value, nil
}
