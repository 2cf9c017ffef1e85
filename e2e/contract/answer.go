package contract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// Answer is one HTTP answer and what it answers.
type Answer struct {
	Method string
	Path   string      // percent-encoded, as it was sent
	Asked  http.Header // the request's head; may be nil

	Status int
	Header http.Header
	Body   []byte
	Cut    bool // the connection broke, or the client left, before the end of the body
}

// AnswerTo makes an Answer of the two sides of one exchange.
func AnswerTo(r *http.Request, status int, header http.Header, body []byte) Answer {
	return Answer{Method: r.Method, Path: r.URL.EscapedPath(), Asked: r.Header.Clone(), Status: status, Header: header, Body: body}
}

// Check says in what way a differs from what the contract lets it be, and notes
// its kind in seen, which may be nil. It establishes that the status belongs to
// the operation and the code of a problem to both; that every declared header,
// and those of every answer, are there and right; that the body is of a
// declared type and, as far as it came, valid; and that headers and body agree.
func (c *Contract) Check(a Answer, seen *Ledger) error {
	response, pointer := c.response(a)
	code, bodyError := c.checkBody(a, response, pointer)
	kind, kindError := c.kindOf(a, code)
	if seen != nil && kindError == nil && a.Method != http.MethodHead {
		seen.note(kind)
	}
	return errors.Join(kindError, checkHead(a), c.checkHeaders(a, response), c.checkAllow(a), bodyError)
}

// response is what the contract says of this answer, and where it says so. What
// it does not say is left to kindOf; every problem is held against Problem.
func (c *Contract) response(a Answer) (*openapi3.Response, string) {
	at := c.find(a.Path)
	operation := at.operation(a.Method)
	if operation == nil {
		return c.Doc.Components.Responses["Problem"].Value, "/components/responses/Problem"
	}
	ref, key := operation.Responses.Value(strconv.Itoa(a.Status)), strconv.Itoa(a.Status)
	if ref == nil {
		ref, key = operation.Responses.Default(), "default"
	}
	if ref.Ref != "" {
		return ref.Value, strings.TrimPrefix(ref.Ref, "#")
	}
	method := strings.ToLower(a.Method)
	if a.Method == http.MethodHead {
		method = "get"
	}
	return ref.Value, "/paths/" + escape(at.template) + "/" + method + "/responses/" + key
}

// escape makes a name one token of an RFC 6901 pointer.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// checkHead checks what every answer has.
func checkHead(a Answer) error {
	var wrong []error
	id := a.Header.Get("X-Request-Id")
	if asked := a.Asked.Get("X-Request-Id"); !requestIDForm.MatchString(id) || requestIDForm.MatchString(asked) && asked != id {
		wrong = append(wrong, fmt.Errorf("X-Request-Id is %q, asked was %q", id, asked))
	}
	if a.Header.Get("Confined-Instance") == "" {
		wrong = append(wrong, errors.New("Confined-Instance is missing"))
	}
	if a.Header.Get("Cache-Control") != "no-store" {
		wrong = append(wrong, fmt.Errorf("Cache-Control is %q", a.Header.Get("Cache-Control")))
	}
	if length := a.Header.Get("Content-Length"); length != "" && a.Method != http.MethodHead && !a.Cut && length != strconv.Itoa(len(a.Body)) {
		wrong = append(wrong, fmt.Errorf("Content-Length is %s for %d bytes", length, len(a.Body)))
	}
	after, err := strconv.Atoi(a.Header.Get("Retry-After"))
	retry := a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable
	if retry != (err == nil && after >= 1 && after <= 60) || !retry && a.Header.Get("Retry-After") != "" {
		wrong = append(wrong, fmt.Errorf("Retry-After is %q", a.Header.Get("Retry-After")))
	}
	return errors.Join(wrong...)
}

// checkHeaders holds the headers against those declared.
func (c *Contract) checkHeaders(a Answer, response *openapi3.Response) error {
	method := a.Method
	if method == http.MethodHead {
		method = http.MethodGet // of which HEAD has all headers
	}
	operation := &openapi3.Operation{Responses: openapi3.NewResponses(openapi3.WithStatus(a.Status, &openapi3.ResponseRef{Value: response}))}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: &http.Request{Method: method},
			Route:   &routers.Route{Spec: c.Doc, Method: method, Operation: operation},
		},
		Status: a.Status, Header: a.Header, Body: io.NopCloser(strings.NewReader("")),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: true, MultiError: true},
	})
}

// checkAllow holds Allow against the operations of the path.
func (c *Contract) checkAllow(a Answer) error {
	want := ""
	if a.Status == http.StatusMethodNotAllowed {
		want = c.find(a.Path).allowed()
	}
	if got := a.Header.Get("Allow"); got != want {
		return fmt.Errorf("Allow is %q, want %q", got, want)
	}
	return nil
}
