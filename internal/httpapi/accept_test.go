package httpapi

import "testing"

// TestAccept: the larger q decides, the more specific range tells it, and the
// result it is where both are liked alike.
func TestAccept(t *testing.T) {
	const neither = "406"
	body, contentType := helloForm(nil)
	for accept, want := range map[string]string{
		"": mediaResult, "*/*": mediaResult, "application/json": mediaResult, "application/*;q=0.1": mediaResult,
		"text/html, Application/JSON; q=0.2":                            mediaResult,
		"application/x-ndjson, application/json":                        mediaResult,
		"application/x-ndjson, */*":                                     mediaResult,
		"application/x-ndjson;q=0.5, application/json;q=0.6":            mediaResult,
		"application/x-ndjson;q=0, */*":                                 mediaResult,
		"application/x-ndjson":                                          mediaStream,
		"Application/X-NDJSON; charset=utf-8":                           mediaStream,
		"application/x-ndjson, application/json;q=0.9":                  mediaStream,
		"application/json;q=0.1, text/html, application/x-ndjson;q=0.2": mediaStream,
		"application/json;q=0, */*;q=0.1":                               mediaStream,
		"application/x-ndjson;q=0.3, application/*;q=0.2, */*":          mediaStream,
		"application/x-ndjson, application/json;q=nonsense":             mediaResult,
		"text/html": neither, "application/json;q=0": neither, "application/json;q=0, application/x-ndjson;q=0.0": neither,
		"application/problem+json": neither, "nonsense": neither, "text/*": neither, ",": neither,
	} {
		w := newRig(t, nil).post(t, "/v1/runs", body, contentType, "Accept", accept)
		got := w.Header().Get("Content-Type")
		if w.Code == 406 {
			got = string(neither)
		}
		if got != want || want == neither && problemOf(t, w).Code != ProblemCodeNotAcceptable {
			t.Errorf("Accept %q: %d %s, want %s", accept, w.Code, got, want)
		}
	}
}
