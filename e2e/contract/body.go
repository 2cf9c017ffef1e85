package contract

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// mediaType is the type of a body, without parameters.
func mediaType(h http.Header) string {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return media
}

// checkBody holds the body against the schema of its media type. It returns the
// code of a problem.
func (c *Contract) checkBody(a Answer, response *openapi3.Response, pointer string) (string, error) {
	media := mediaType(a.Header)
	if len(response.Content) == 0 {
		if len(a.Body) > 0 || media != "" {
			return "", fmt.Errorf("a body of type %q where there is to be none: %.200q", media, a.Body)
		}
		return "", nil
	}
	content := response.Content[media]
	if content == nil {
		return "", fmt.Errorf("Content-Type is %q", a.Header.Get("Content-Type"))
	}
	pointer += "/content/" + escape(media) + "/schema"
	if content.Schema.Ref != "" {
		pointer = strings.TrimPrefix(content.Schema.Ref, "#")
	}
	switch {
	case a.Method == http.MethodHead:
		if len(a.Body) > 0 {
			return "", fmt.Errorf("a body of %d bytes to a HEAD", len(a.Body))
		}
		return "", nil
	case media == "application/x-ndjson":
		return "", c.checkStream(a, pointer)
	case a.Cut || !strings.HasSuffix(media, "json"):
		return "", nil
	case media == "application/problem+json":
		return c.checkProblem(a, pointer)
	case content.Schema.Ref == "#/components/schemas/RunResult":
		return "", errors.Join(c.Valid(pointer, a.Body), checkResult(a))
	}
	return "", c.Valid(pointer, a.Body)
}

// checkProblem holds a problem against the answer it is.
func (c *Contract) checkProblem(a Answer, pointer string) (string, error) {
	if err := c.Valid(pointer, a.Body); err != nil {
		return "", err
	}
	var p struct {
		Type, Title, Detail, Instance, Code string
		Status                              int
		RetryAfterMs                        *int
		Errors                              []struct{ Code, Pointer, Detail string }
	}
	if err := json.Unmarshal(a.Body, &p); err != nil {
		return "", err
	}
	var wrong []error
	differs := func(name string, got, want any) {
		if got != want {
			wrong = append(wrong, fmt.Errorf("%s is %v, want %v", name, got, want))
		}
	}
	differs("status of the problem", p.Status, a.Status)
	differs("type", p.Type, "urn:confined:problem:"+p.Code)
	differs("instance", p.Instance, "urn:confined:request:"+a.Header.Get("X-Request-Id"))
	differs("an empty title or detail", p.Title == "" || p.Detail == "", false)
	if after, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil && p.RetryAfterMs != nil {
		differs("retryAfterMs", *p.RetryAfterMs, after*1000)
	} else if (err == nil) != (p.RetryAfterMs != nil) {
		wrong = append(wrong, errors.New("one of Retry-After and retryAfterMs is there without the other"))
	}
	differs("faults are listed", len(p.Errors) > 0, p.Code == "invalid-request" || p.Code == "not-ready" && c.find(a.Path).template == "/readyz")
	pointers := map[string]bool{}
	for _, f := range p.Errors {
		differs("a fault without a detail, or a second one for a pointer", f.Detail == "" || pointers[f.Pointer], false)
		pointers[f.Pointer] = true
	}
	return p.Code, errors.Join(wrong...)
}

var stageForm = regexp.MustCompile(`^(queue|pins|materialise|verify|launch|admit|program|collect|recheck|settle);dur=[0-9]+(\.[0-9]+)?$`)

// checkResult holds the headers of a result against its bytes.
func checkResult(a Answer) error {
	var r struct {
		Status, RunID string
		Attributable  *bool
		Problems      []any
		Process       struct {
			Exit           *struct{ Code, Signal any }
			Stdout, Stderr octets
		}
	}
	if err := json.Unmarshal(a.Body, &r); err != nil {
		return err
	}
	var wrong []error
	if r.Attributable != nil && *r.Attributable != (len(r.Problems) == 0) {
		wrong = append(wrong, fmt.Errorf("attributable is %v beside %d problems", *r.Attributable, len(r.Problems)))
	}
	if exit := r.Process.Exit; exit != nil && (exit.Code == nil) == (exit.Signal == nil) {
		wrong = append(wrong, errors.New("exit has not exactly one of code and signal"))
	}
	for _, output := range []octets{r.Process.Stdout, r.Process.Stderr} {
		if _, err := output.plain(); err != nil {
			wrong = append(wrong, err)
		}
	}
	for name, want := range map[string]string{"Confined-Run-Id": r.RunID, "Confined-Status": r.Status, "Content-Digest": contentDigest(a.Body)} {
		if got := a.Header.Get(name); got != want {
			wrong = append(wrong, fmt.Errorf("%s is %q, want %q", name, got, want))
		}
	}
	for stage := range strings.SplitSeq(a.Header.Get("Server-Timing"), ",") {
		if !stageForm.MatchString(strings.TrimSpace(stage)) {
			wrong = append(wrong, fmt.Errorf("Server-Timing holds %q", stage))
		}
	}
	return errors.Join(wrong...)
}

// contentDigest is RFC 9530 of b.
func contentDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

// validTime says why v is not a time as the contract writes it: RFC 3339, UTC,
// milliseconds.
func validTime(v any) error {
	text, isString := v.(string)
	if !isString {
		return nil
	}
	const form = "2006-01-02T15:04:05.000Z"
	if at, err := time.Parse(form, text); err != nil || at.Format(form) != text {
		return fmt.Errorf("%q is no time in UTC with milliseconds", text)
	}
	return nil
}
