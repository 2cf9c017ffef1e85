package prove

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"confined/internal/pins"
)

// line is what the program says of one act.
type line struct{ Name, Said, Code, Text string }

// read takes in a program's output, line by line; what is not an act's line is noise.
func (s *fixture) read(output []byte) {
	s.lines = map[string]line{}
	for text := range strings.Lines(string(output)) {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil && l.Name != "" {
			s.lines[l.Name] = l
		} else {
			s.noise += text
		}
	}
}

// findings are what came of the acts of a table in one place.
type findings struct {
	outcomes  map[string]pins.Outcome // by row; what the program said nothing of is absent
	noControl map[string]string       // rows whose control cannot be done there, and why
	trouble   string                  // why nothing of it is to be trusted, or empty
}

// findings judges, at once, what took place in a fixture: what its acts aim at is still there. An error is a fault of the fixture.
func (s *fixture) findings(table []Probe) (findings, error) {
	f := findings{outcomes: map[string]pins.Outcome{}, noControl: s.noControl, trouble: s.trouble}
	over := time.Now() // every act is
	for _, p := range table {
		if p.Kind == Look {
			if seen, looked := s.looked[p.Name]; looked {
				f.outcomes[p.Name] = pins.Outcome{Took: seen.weak, Said: bounded(seen.found)}
			}
		} else if l, spoke := s.lines[p.Name]; spoke {
			f.outcomes[p.Name] = s.outcome(p, l, over)
		}
	}
	return f, s.problem
}

// outcome is what came of an act of which the program said l, and which was over by then.
func (s *fixture) outcome(p Probe, l line, over time.Time) pins.Outcome {
	took := p.Evidence.took(s, l.Said)
	if l.Code == "" && !took { // a signal takes a moment
		took = within(time.Until(over.Add(patience)), func() bool { return p.Evidence.took(s, l.Said) })
	}
	said := l.Said
	if l.Code != "" {
		said = l.Text
	}
	return pins.Outcome{Took: took, Code: l.Code, Said: bounded(s.hideSecrets(said))}
}

// maxSaid bounds what a row keeps of what a program said, or of what was seen; bytes.
const maxSaid = 300

func bounded(text string) string {
	if len(text) <= maxSaid {
		return text
	}
	return strings.ToValidUTF8(text[:maxSaid], "") + "…"
}

// judge is the row of a probe, from what came of it in each place.
func judge(p Probe, confined, control findings) pins.Row {
	row := pins.Row{Family: p.Family, Name: p.Name, Kind: string(p.Kind), NoControl: p.NoControl, Evidence: p.Evidence.Text}
	if row.NoControl == "" {
		row.NoControl = control.noControl[p.Name]
	}
	row.Confined = confined.of(p)
	if row.NoControl == "" {
		row.Control = control.of(p)
	}
	row.Why = cmp.Or(confined.trouble, fault(p, row))
	row.Verdict = pins.Failed
	if row.Why == "" && row.NoControl == "" {
		row.Why = cmp.Or(control.trouble, controlFault(p, row.Control))
		row.Verdict = pins.NotShown
	}
	switch {
	case row.Why != "":
	case p.Allowed():
		row.Verdict = pins.Allowed
	default:
		row.Verdict = pins.Denied
	}
	row.Control = withoutWords(p, row.Control)
	return row
}

// withoutWords is the control of an act that took place without what the program then said: that is of the host, and a receipt is for others to
// read.
func withoutWords(p Probe, control *pins.Outcome) *pins.Outcome {
	if p.Kind == Look || control == nil || !control.Took || control.Code != "" {
		return control
	}
	return &pins.Outcome{Took: true}
}

func (f findings) of(p Probe) *pins.Outcome {
	if o, spoke := f.outcomes[p.Name]; spoke {
		return &o
	}
	return nil
}

// fault says what of a row is not as it must be confined, or nothing.
func fault(p Probe, row pins.Row) string {
	want := p.CodeOn(runtime.GOOS)
	switch {
	case row.Confined == nil:
		return "confined, nothing was said of it"
	case p.Kind == Look && row.Confined.Took:
		return "it is weaker than promised: " + row.Confined.Said
	case !p.Allowed() && row.Confined.Took:
		return "it took place confined"
	case p.Allowed() && (!row.Confined.Took || row.Confined.Code != ""):
		return "it was denied confined: " + told(row.Confined)
	case !meets(want, row.Confined.Code):
		return fmt.Sprintf("confined, the program was told %s, not %s", told(row.Confined), want)
	}
	return ""
}

// controlFault says why a control shows nothing, or nothing: what came of it unconfined, and what else than the boundary may have refused it.
func controlFault(p Probe, control *pins.Outcome) string {
	switch {
	case control == nil:
		return "unconfined, nothing was said of it"
	case p.Kind == Look && !control.Took:
		return "the look finds an unconfined process no weaker: " + control.Said
	case control.Took && control.Code == "":
		return ""
	}
	why := "it did not take place unconfined: " + told(control)
	switch {
	case control.Code == "ENOSPC" || control.Code == "EDQUOT":
		why += fmt.Sprintf("; cure: make room in %s (TMPDIR), and in %s", os.TempDir(), strings.Join(givenPlaces(), " and "))
	case here("linux") && filtered():
		why += "; this suite runs under a system call filter, which may refuse it itself; cure: run it without one, as from a login shell"
	default:
		why += "; what started this suite may refuse it itself"
	}
	return why
}

// filtered says whether what started the suite left it a system call filter, as a service manager does on request.
func filtered() bool {
	return !slices.Contains([]string{"0", noLine}, (&view{pid: os.Getpid()}).status("Seccomp"))
}

func told(o *pins.Outcome) string {
	if o.Code == "" {
		return fmt.Sprintf("%q", o.Said)
	}
	return fmt.Sprintf("%s (%s)", o.Code, o.Said)
}

// within says whether ok did within limit. It asks again every millisecond.
func within(limit time.Duration, ok func() bool) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			return ok()
		}
	}
	return true
}
