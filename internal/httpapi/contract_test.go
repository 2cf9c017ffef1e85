package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"confined/internal/exec"
	"confined/internal/ns"
	"confined/internal/pins"
)

func words[T ~string](list ...T) []string {
	var out []string
	for _, w := range list {
		out = append(out, string(w))
	}
	slices.Sort(out)
	return out
}

// TestEnumsAreTheCodes: the contract's enums are exactly the values that the
// packages below can give.
func TestEnumsAreTheCodes(t *testing.T) {
	faults := words(exec.FaultOutOfRange, exec.FaultDigestForm, exec.FaultDigestMismatch, exec.FaultEntryMissing, exec.FaultEntryType, exec.FaultBadArgument)
	faults = append(faults, words(pins.BadPath, pins.DuplicatePath, pins.PathClash, pins.TooManyFiles, pins.SnapshotTooLarge)...)
	faults = append(faults, words(FaultCodeUnknownField, FaultCodeMissingField, FaultCodeWrongType, FaultCodeNotReady)...)
	doc := mustContract(t).Doc
	for name, want := range map[string][]string{
		"NotStartedReason": words(exec.Reasons()...),
		"RunProblemCode":   words(exec.ProblemCodes()...),
		"Admission":        words(exec.Admissions()...),
		"StopReason":       words(exec.StopReasons()...),
		"QuarantineReason": words(ns.QuarantineReasons()...),
		"SlotState":        words(ns.SlotStates()...),
		"FaultCode":        words(faults...),
		"ProblemCode":      words(ProblemCodes()...),
		"NotReadyCode":     words(NotReadyCodes()...),
	} {
		if got := enumOf(t, doc, name); !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	order := strings.Join(unsorted(t, doc, "RunProblemCode"), " ")
	if want := strings.Join(plainWords(exec.ProblemCodes()), " "); order != want {
		t.Errorf("the contract lists problems as %s, results as %s", order, want)
	}
	status := doc.Components.Responses["Run"].Value.Headers["Confined-Status"].Value.Schema.Value.Enum
	if got, want := words(anyWords(status)...), words(exec.StatusNotStarted, exec.StatusObserved, exec.StatusUnresolved); !slices.Equal(got, want) {
		t.Errorf("Confined-Status is %v, want %v", got, want)
	}
	timing := doc.Components.Responses["Run"].Value.Headers["Server-Timing"].Value.Description
	if want := "queue, " + strings.Join(plainWords(exec.Stages()), ", ") + "."; !strings.Contains(strings.Join(strings.Fields(timing), " "), want) {
		t.Errorf("Server-Timing is described as %q, stages are %s", timing, want)
	}
}

func plainWords[T ~string](list []T) []string {
	var out []string
	for _, w := range list {
		out = append(out, string(w))
	}
	return out
}

func anyWords(list []any) []string {
	var out []string
	for _, w := range list {
		out = append(out, w.(string))
	}
	return out
}

func unsorted(t *testing.T, doc *openapi3.T, name string) []string {
	t.Helper()
	schema := doc.Components.Schemas[name]
	if schema == nil {
		t.Fatalf("the contract has no schema %s", name)
	}
	return anyWords(schema.Value.Enum)
}

func enumOf(t *testing.T, doc *openapi3.T, name string) []string {
	return words(unsorted(t, doc, name)...)
}

// TestEveryProblemCodeHasItsStatus: the one that the contract gives it, and a
// title of its own.
func TestEveryProblemCodeHasItsStatus(t *testing.T) {
	want, titles := mustContract(t).Codes(), map[string]bool{}
	for _, k := range problemKinds {
		if want[string(k.code)] != k.status || titles[k.title] || k.title == "" {
			t.Errorf("%s is %d %q, in the contract %d", k.code, k.status, k.title, want[string(k.code)])
		}
		titles[k.title] = true
	}
}

// TestValidatorIsAwake: what does not fit the contract is noticed.
func TestValidatorIsAwake(t *testing.T) {
	good := string(encoded(t, observedResult("a")))
	header := http.Header{
		"Content-Type": {"application/json"}, "X-Request-Id": {"a"}, "Confined-Instance": {"b"}, "Cache-Control": {"no-store"}, "Confined-Run-Id": {"a"},
		"Confined-Status": {"observed"}, "Server-Timing": {"queue;dur=1"},
	}
	for change, notices := range map[string]bool{
		"": false, `"pid":4711,`: true, `"attributable":true,`: true, `"code":0,`: true, `"soft":7,`: true, `"durable":true`: true, `"encoding":"utf-8",`: true,
	} {
		probe := &recordingT{TB: t}
		text := strings.Replace(good, change, "", 1)
		text = strings.ReplaceAll(text, ",}", "}")
		sum := sha256.Sum256([]byte(text))
		header.Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
		fits(probe, httptest.NewRequest(http.MethodPost, "/v1/runs", nil), 200, header, []byte(text))
		if probe.failed != notices {
			t.Errorf("without %s: noticed %v", change, probe.failed)
		}
	}
}

type recordingT struct {
	testing.TB
	failed bool
}

func (r *recordingT) Errorf(string, ...any) { r.failed = true }
func (r *recordingT) Helper()               {}
