package httpapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

type object = map[string]any

func program(m object) object { return m["program"].(object) }
func input(m object) object   { return m["input"].(object) }

// TestInvalidRequests: every fault at once, each with its code and its pointer.
func TestInvalidRequests(t *testing.T) {
	const empty = "sha256:c0043fe4568bd869827ca5681438f9dbf6deb6c9070e7b18d59f18cc69c1be61"
	long := strings.Repeat("é", 2049)
	for name, c := range map[string]struct {
		edit func(m object)
		want string // code pointer, …, in order
	}{
		"unknown field":    {func(m object) { m["retries"] = 1 }, "unknown-field /retries"},
		"case":             {func(m object) { m["TimeoutMs"] = m["timeoutMs"]; delete(m, "timeoutMs") }, "unknown-field /TimeoutMs, missing-field /timeoutMs"},
		"unknown in parts": {func(m object) { program(m)["files"] = []any{}; input(m)["x/y~"] = 1 }, "unknown-field /program/files, unknown-field /input/x~1y~0"},
		"all missing":      {func(m object) { clear(m) }, "missing-field /runtime, missing-field /profile, missing-field /program, missing-field /input, missing-field /timeoutMs, missing-field /maxOutputBytes, missing-field /cpuSeconds, missing-field /maxDescriptors"},
		"missing in parts": {func(m object) { clear(program(m)); clear(input(m)) }, "missing-field /program/digest, missing-field /program/entry, missing-field /input/digest"},
		"nulls":            {func(m object) { m["id"] = nil; m["input"] = nil; program(m)["args"] = nil; m["cpuSeconds"] = nil }, "wrong-type /input, wrong-type /id, wrong-type /program/args, wrong-type /cpuSeconds"},
		"types":            {func(m object) { m["runtime"] = 1; m["program"] = "x"; m["input"] = []any{}; m["timeoutMs"] = "1000" }, "wrong-type /program, wrong-type /input, wrong-type /runtime, wrong-type /timeoutMs"},
		"fraction":         {func(m object) { m["timeoutMs"] = 1.5 }, "wrong-type /timeoutMs"},
		"huge":             {func(m object) { m["timeoutMs"] = jsonNumber("99999999999999999999") }, "out-of-range /timeoutMs"},
		"exponent":         {func(m object) { m["timeoutMs"] = jsonNumber("1e3") }, "wrong-type /timeoutMs"},
		"too little": {func(m object) {
			m["timeoutMs"] = 0
			m["maxOutputBytes"] = -1
			m["cpuSeconds"] = 0
			m["maxDescriptors"] = 31
		}, "out-of-range /timeoutMs, out-of-range /maxOutputBytes, out-of-range /cpuSeconds, out-of-range /maxDescriptors"},
		"too much": {func(m object) {
			m["timeoutMs"] = 600_001
			m["maxOutputBytes"] = 16<<20 + 1
			m["cpuSeconds"] = 601
			m["maxDescriptors"] = 4097
		}, "out-of-range /timeoutMs, out-of-range /maxOutputBytes, out-of-range /cpuSeconds, out-of-range /maxDescriptors"},
		"digest form": {func(m object) {
			m["runtime"] = strings.ToUpper(m["runtime"].(string))
			m["profile"] = ""
			input(m)["digest"] = "abc"
		}, "digest-form /runtime, digest-form /profile, digest-form /input/digest"},
		"digest mismatch":   {func(m object) { program(m)["digest"] = empty; input(m)["digest"] = string(digest('0')) }, "digest-mismatch /program/digest, digest-mismatch /input/digest"},
		"entry missing":     {func(m object) { program(m)["entry"] = "program/main.mjs" }, "entry-missing /program/entry"},
		"entry of no type":  {func(m object) { program(m)["entry"] = "main.sh" }, "entry-missing /program/entry"},
		"argument":          {func(m object) { program(m)["args"] = []any{"ok", "a\x00b", 7, long} }, "wrong-type /program/args/2, bad-argument /program/args/1, bad-argument /program/args/3"},
		"too many args":     {func(m object) { program(m)["args"] = slices.Repeat([]any{"x"}, 65) }, "out-of-range /program/args"},
		"id":                {func(m object) { m["id"] = "-a" }, "out-of-range /id"},
		"empty id":          {func(m object) { m["id"] = "" }, "out-of-range /id"},
		"id with a newline": {func(m object) { m["id"] = "a\n" }, "out-of-range /id"},
	} {
		t.Run(name, func(t *testing.T) {
			body, contentType := helloForm(c.edit)
			p := problemOf(t, newRig(t, nil).post(t, "/v1/runs", body, contentType))
			if p.Code != ProblemCodeInvalidRequest || p.Title != "invalid confined run request" || faultLine(p) != c.want {
				t.Errorf("got  %s: %s\nwant %s\n%s", p.Code, faultLine(p), c.want, p.Detail)
			}
		})
	}
}

// faultLine lists the faults of a problem as `code pointer, …`.
func faultLine(p Problem) string {
	var list []string
	for _, f := range p.Errors {
		list = append(list, string(f.Code)+" "+f.Pointer)
	}
	return strings.Join(list, ", ")
}

type jsonNumber string

func (n jsonNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

func TestFaultsAreBounded(t *testing.T) {
	body, contentType := helloForm(func(m object) {
		for i := range 1000 {
			m[fmt.Sprintf("field-%03d", i)] = i
		}
		m[strings.Repeat("ü", 5000)] = 1
	})
	p := problemOf(t, newRig(t, nil).post(t, "/v1/runs", body, contentType))
	if len(p.Errors) != maxFaults || !strings.HasPrefix(p.Detail, "1001 faults; the first: /field-000: ") {
		t.Errorf("%d faults, %s", len(p.Errors), p.Detail)
	}
}

func TestOneFaultForEachPointer(t *testing.T) {
	var f faults
	f.add(FaultCodeWrongType, "/a/b", "first")
	f.add(FaultCodeOutOfRange, "/a/b", "second")
	if f.total != 1 || f.list[0].Detail != "first" {
		t.Errorf("%+v", f.list)
	}
	covered := map[string]bool{"/a/b": true, "/a/b/c": true, "/a/bc": false, "/a": false, "": false}
	for _, pointer := range slices.Sorted(maps.Keys(covered)) {
		if f.covers(pointer) != covered[pointer] {
			t.Errorf("covers(%q) is %v", pointer, !covered[pointer])
		}
	}
}
