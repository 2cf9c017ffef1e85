package prove

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
)

// Kind says who acts.
type Kind string

const (
	JavaScript Kind = "javascript" // Act is the body of an async function of w, the fixture as world.json tells it
	Native     Kind = "native"     // Act is the name of an act of the native probe
	Look       Kind = "look"       // nobody acts: the host looks at a live process, and "it took place" means that it is weaker than promised
)

// Probe is one row of the table: one act, tried confined and, by the same Node or native probe on the same layout, and save for Owner as the same
// user, unconfined.
//
// A row with Owner is about what is the daemon's own. Under root the user of a run could not do it anyway, so the control is done by root: that shows
// that the act works, and not that the boundary is what denies it. For a daemon of an ordinary user it shows both.
//
// Confined, an act with a Code must not take place, and the program must be told Code; an act without one is an allowed twin and must. Whether
// it took place is judged from outside wherever the host can see it.
type Probe struct {
	Family    string // heading in the table and in docs/denied.md
	Name      string // unique; what is tried, in words
	Kind      Kind
	Act       string
	Code      string // what the program is told on Linux: an errno's name, Node's code, or Nothing; empty for an allowed act
	MacCode   string // what it is expected to be told on macOS, of several words any; empty means Code where that is Node's own, and else EPERM
	Twin      string // of a denied act: the name of an allowed one close by, which shows that it is denied and not merely broken
	NoControl string // why the act is not done unconfined: it would harm the host, or needs rights this user lacks; empty when it is done
	MacAlone  string // the same for macOS alone
	Instead   string // what a program can do instead, for people; may be empty
	Only      string // the GOOS that has what the act aims at; empty for every one
	Owner     bool   // unconfined it is done by the daemon's own user, which under root is not a run's: see above
	Evidence  Evidence
}

// Evidence is how the host knows whether an act took place.
type Evidence struct {
	Text string // what is looked at, for people
	took func(s *fixture, said string) bool

	// look is for a [Look]: what was found of a live process, and whether that is weaker than promised. Nil otherwise.
	look func(v *view) (found string, weak bool)
	// inherited marks a look at what a process may have from its parent: where the suite itself is no weaker, the control cannot be.
	inherited bool
	// tool is a program of the host that a look asks. Where it is missing the row stays untried.
	tool string
}

// Allowed says whether the act must take place confined.
func (p Probe) Allowed() bool { return p.Code == "" && p.Kind != Look }

// CodeOn is what a program is to be told on an operating system; empty for an allowed act.
func (p Probe) CodeOn(goos string) string {
	switch {
	case p.Code == "" || goos != "darwin":
		return p.Code
	case p.MacCode != "":
		return p.MacCode
	case ofNode(p.Code):
		return p.Code
	}
	return "EPERM"
}

// Unpromised, as the MacCode of a row that only Linux has, says that macOS has what it aims at, and that the boundary there is not known to deny it.
const Unpromised = "not promised"

// Alternatives are the codes of which any will do, where a row's code names several.
func Alternatives(code string) []string { return strings.Split(code, " or ") }

// meets says whether what a program was told is what it was to be told.
func meets(want, told string) bool { return slices.Contains(Alternatives(want), told) }

// ofNode tells Node's own codes and the names of errors from those that a kernel gave.
func ofNode(code string) bool {
	switch code {
	case Nothing, "TypeError", "MODULE_NOT_FOUND", "ENOTFOUND", "ECONNREFUSED":
		return true
	}
	return strings.HasPrefix(code, "ERR_") || strings.HasPrefix(code, "UVWASI_")
}

// Nothing is the code of acts that find nothing, where no error says so: an act itself sees to it.
const Nothing = "NONE"

// Probes is the whole table: every row for this host's operating system and architecture, in the order in which it is tried.
func Probes() []Probe { return ProbesOn(runtime.GOOS, runtime.GOARCH) }

// ProbesOn is the table of another host, to be read there.
func ProbesOn(goos, goarch string) []Probe {
	table := slices.Concat(looks(), macLooks(), inherited(), writes(), reads(), privateReads(), systemReads(), network(), programs(), signals(), nativeCode(),
		allowed(), macActs(), replacements(), nativeProbes(goos, goarch), soloActs(goarch))
	table = slices.DeleteFunc(table, func(p Probe) bool { return p.Only != "" && p.Only != goos })
	for i, p := range table {
		if goos == "darwin" {
			table[i].NoControl = cmp.Or(p.NoControl, p.MacAlone)
		}
	}
	return table
}

// here says whether a place for one operating system is for this one.
func here(only string) bool { return only == "" || only == runtime.GOOS }

// family gives rows what they have in common, where they have nothing of their own.
func family(name, twin, instead string, rows []Probe) []Probe {
	for i := range rows {
		p := &rows[i]
		p.Family = name
		if p.Kind == "" {
			p.Kind = JavaScript
		}
		if p.Twin == "" && !p.Allowed() {
			p.Twin = twin
		}
		if p.Instead == "" && !p.Allowed() {
			p.Instead = instead
		}
	}
	return rows
}
