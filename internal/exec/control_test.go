package exec

import (
	"strings"
	"testing"
)

const goodLimits = "10\n10\n64\n64\n0\n0\n0\n0\n"

// controlSeeds are texts with what they come to at end-of-file.
var controlSeeds = []struct {
	text   string
	want   Admission
	limits bool
}{
	{"", AdmissionAbsent, false},
	{"10\n10", AdmissionAbsent, false},
	{"unlim", AdmissionAbsent, false},
	{goodLimits, AdmissionAbsent, true},
	{goodLimits + "sf-confined/1 ", AdmissionAbsent, true},
	{goodLimits + recordAdmitted, AdmissionAdmitted, true},
	{goodLimits + recordRefused, AdmissionRefused, true},
	{"unlimited\n" + goodLimits[3:] + recordAdmitted, AdmissionAdmitted, true},
	{goodLimits + recordAdmitted + "x", AdmissionMalformed, true},
	{goodLimits + recordRefused + "\n", AdmissionMalformed, true},
	{goodLimits + "sf-confined/2", AdmissionMalformed, true},
	{goodLimits + "0\n", AdmissionMalformed, true},
	{"010\n", AdmissionMalformed, false},
	{"-1\n", AdmissionMalformed, false},
	{"+1\n", AdmissionMalformed, false},
	{" 1\n", AdmissionMalformed, false},
	{"1 \n", AdmissionMalformed, false},
	{"\n", AdmissionMalformed, false},
	{"1e3\n", AdmissionMalformed, false},
	{"Unlimited\n", AdmissionMalformed, false},
	{"unlimitedx\n", AdmissionMalformed, false},
	{"unlimite\n", AdmissionMalformed, false},
	{"9999999999999999999\n", AdmissionMalformed, false},
	{recordAdmitted, AdmissionMalformed, false},
	{"10\r\n", AdmissionMalformed, false},
	{"1\x00\n", AdmissionMalformed, false},
	{strings.Repeat("1", 19), AdmissionMalformed, false},
}

func TestControlText(t *testing.T) {
	for _, c := range controlSeeds {
		got := readControlText(c.text, len(c.text)+1)
		if got.admission != c.want || (got.limits() != nil) != c.limits {
			t.Errorf("%q: admission %q, limits %v; want %q, %v", c.text, got.admission, got.limits(), c.want, c.limits)
		}
	}
}

func TestControlTextIsBounded(t *testing.T) {
	c := controlText{}
	c.feed([]byte(goodLimits))
	c.feed(make([]byte, maxControlBytes))
	if c.admission != AdmissionMalformed {
		t.Fatalf("%d bytes: admission %q", c.size, c.admission)
	}
	if len(c.rest) > maxControlBytes {
		t.Fatalf("%d bytes are kept", len(c.rest))
	}
}

// TestControlTextNamesValues: each value lands in its own place.
func TestControlTextNamesValues(t *testing.T) {
	c := readControlText("1\n2\n3\n4\n5\n6\n7\nunlimited\n", 3)
	want := MeasuredLimits{LimitPair{1, 2}, LimitPair{3, 4}, LimitPair{5, 6}, LimitPair{7, Unlimited}}
	if got := c.limits(); got == nil || *got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func readControlText(text string, step int) *controlText {
	c := &controlText{}
	for len(text) > 0 {
		n := min(step, len(text))
		c.feed([]byte(text[:n]))
		text = text[n:]
	}
	c.end()
	return c
}

// FuzzControlText: how a text is cut into reads never changes what it means,
// and only the two exact records decide anything.
func FuzzControlText(f *testing.F) {
	if len(controlSeeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, c := range controlSeeds {
		f.Add(c.text, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		whole := readControlText(text, len(text)+1)
		split := readControlText(text, int(step)+1)
		if whole.admission != split.admission {
			t.Fatalf("%q: %q whole, %q in steps of %d", text, whole.admission, split.admission, int(step)+1)
		}
		if whole.admission == AdmissionAdmitted {
			lines, ok := strings.CutSuffix(text, recordAdmitted)
			if !ok || strings.Count(lines, "\n") != limitLines || whole.limits() == nil {
				t.Fatalf("%q was admitted", text)
			}
		}
	})
}
