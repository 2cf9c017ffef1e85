package prove

import (
	"strings"
	"testing"

	"confined/internal/pins"
)

// TestJudge: what a row must be made of to pass, and everything that makes it fail.
func TestJudge(t *testing.T) {
	denied, allowed := Probe{Name: "row", Kind: JavaScript, Code: "EPERM"}, Probe{Name: "row", Kind: JavaScript}
	look, bare := Probe{Name: "row", Kind: Look}, Probe{Name: "row", Kind: JavaScript, Code: "EPERM", NoControl: "it would harm the host"}
	took, refused := pins.Outcome{Took: true, Said: "x"}, pins.Outcome{Code: "EPERM", Said: "y"}
	silent := (*pins.Outcome)(nil)
	for _, row := range []struct {
		name              string
		p                 Probe
		confined, control *pins.Outcome
		want              pins.Verdict
		why               string
	}{
		{"denied", denied, &refused, &took, pins.Denied, ""},
		{"denied without a control", bare, &refused, silent, pins.Denied, ""},
		{"allowed", allowed, &took, &took, pins.Allowed, ""},
		{"a look", look, &pins.Outcome{}, &took, pins.Denied, ""},
		{"it took place", denied, &took, &took, pins.Failed, "took place confined"},
		{"it took place, and the program was told otherwise", denied, &pins.Outcome{Took: true, Code: "EPERM"}, &took, pins.Failed, "took place confined"},
		{"it took place, without a control", bare, &took, silent, pins.Failed, "took place confined"},
		{"another code", denied, &pins.Outcome{Code: "EACCES"}, &took, pins.Failed, "was told EACCES"},
		{"no code", denied, &pins.Outcome{}, &took, pins.Failed, "not EPERM"},
		{"nothing confined", denied, silent, &took, pins.Failed, "confined, nothing was said"},
		{"nothing unconfined", denied, &refused, silent, pins.NotShown, "unconfined, nothing was said"},
		{"the control was denied too", denied, &refused, &refused, pins.NotShown, "not take place unconfined"},
		{"the control took place and was told an error", denied, &refused, &pins.Outcome{Took: true, Code: "EIO"}, pins.NotShown, "not take place unconfined"},
		{"an allowed act that was denied", allowed, &refused, &took, pins.Failed, "denied confined"},
		{"an allowed act with no effect", allowed, &pins.Outcome{}, &took, pins.Failed, "denied confined"},
		{"neither is as it must be", denied, &took, silent, pins.Failed, "took place confined"},
		{"no room for the control", denied, &refused, &pins.Outcome{Code: "ENOSPC"}, pins.NotShown, "cure: make room in"},
		{"an allowed act that works nowhere", allowed, &took, &refused, pins.NotShown, "not take place unconfined"},
		{"a weak process", look, &took, &took, pins.Failed, "weaker than promised"},
		{"a look that cannot fail", look, &pins.Outcome{}, &pins.Outcome{}, pins.NotShown, "no weaker"},
	} {
		got := judge(row.p, found(row.confined), found(row.control))
		if told := got.Control; told != nil && row.p.Kind != Look && told.Took && told.Code == "" && told.Said != "" {
			t.Errorf("%s: the receipt repeats what the control read: %q", row.name, told.Said)
		}
		if got.Verdict != row.want || !strings.Contains(got.Why, row.why) || (got.Why == "") != (row.why == "") {
			t.Errorf("%s: %s, %q; want %s, %q", row.name, got.Verdict, got.Why, row.want, row.why)
		}
	}
}

// TestJudgeOfPlaces: what is known of a whole place counts for each of its rows.
func TestJudgeOfPlaces(t *testing.T) {
	p := Probe{Name: "row", Kind: JavaScript, Code: "EPERM"}
	good, control := found(&pins.Outcome{Code: "EPERM"}), found(&pins.Outcome{Took: true})
	broken := good
	broken.trouble = "the run was not attributable"
	if got := judge(p, broken, control); got.Verdict != pins.Failed || got.Why != broken.trouble {
		t.Errorf("of a confined run with trouble: %+v", got)
	}
	broken = control
	broken.trouble = "it ended too early"
	if got := judge(p, good, broken); got.Verdict != pins.NotShown || got.Why != broken.trouble {
		t.Errorf("of a control with trouble: %+v", got)
	}
	broken.noControl = map[string]string{"row": "this host has no IPv6"}
	if got := judge(p, good, broken); got.Verdict != pins.Denied || got.NoControl != "this host has no IPv6" || got.Control != nil {
		t.Errorf("where the control cannot be done: %+v", got)
	}
}

func found(o *pins.Outcome) findings {
	if o == nil {
		return findings{}
	}
	return findings{outcomes: map[string]pins.Outcome{"row": *o}}
}

// TestRead: an act's line is told from everything else that a program prints.
func TestRead(t *testing.T) {
	var s fixture
	s.read([]byte("ready\nnoise {\n{\"name\":\"a\",\"said\":\"x\"}\n\n{\"said\":\"nameless\"}\n{\"name\":\"b\",\"code\":\"EPERM\",\"text\":\"no\"}\n{\"name\":\"c\""))
	if len(s.lines) != 2 || s.lines["a"].Said != "x" || s.lines["b"].Code != "EPERM" {
		t.Errorf("lines %+v", s.lines)
	}
	if !strings.Contains(s.noise, "noise {") || !strings.Contains(s.noise, "nameless") || strings.Contains(s.noise, "EPERM") {
		t.Errorf("noise %q", s.noise)
	}
}

// TestHideSecrets: a receipt does not repeat what a control has read.
func TestHideSecrets(t *testing.T) {
	s := fixture{expect: map[string]string{"passwd": "root:x:0:0", "path": "/tmp/x", "empty": ""}}
	if got := s.hideSecrets("root:x:0:0 in /tmp/x"); got != "[passwd] in /tmp/x" {
		t.Errorf("%q", got)
	}
	if got := bounded(strings.Repeat("é", 1000)); len(got) > maxSaid+len("…") || !strings.HasSuffix(got, "é…") {
		t.Errorf("bounded to %d bytes: %q", len(got), got)
	}
}
