package prove

// Kind says who acts.
type Kind string

const (
	JavaScript Kind = "javascript" // Act is the body of an async function of w, the scene as world.json tells it
	Native     Kind = "native"     // Act is the name of an act of the native probe
	Look       Kind = "look"       // nobody acts: the host looks at a live process, and "it took place" means that it is weaker than promised
)

// Probe is one row of the table: one act, tried confined and, by the same Node or native probe as the same user on the same layout, unconfined.
//
// Confined, an act with a Code must not take place, and the program must be told Code; an act without one is an allowed twin and must. Whether
// it took place is judged from outside wherever the host can see it.
type Probe struct {
	Family    string // heading in the table and in docs/denied.md
	Name      string // unique; what is tried, in words
	Kind      Kind
	Act       string
	Code      string // what the program is told on Linux: an errno's name, or Node's code; empty for an allowed act
	MacCode   string // what it is expected to be told on macOS; empty means EPERM for a denied act
	Twin      string // of a denied act: the name of an allowed one close by, which shows that it is denied and not merely broken
	NoControl string // why the act is not done unconfined: it would harm the host, or needs rights this user lacks; empty when it is done
	Instead   string // what a program can do instead, for people; may be empty
	Owner     bool   // unconfined it is done by the daemon's own user, which under root is not a run's
	Evidence  Evidence
}

// Evidence is how the host knows whether an act took place.
type Evidence struct {
	Text string // what is looked at, for people
	took func(s *scene, said string) bool
}

// Allowed says whether the act must take place confined.
func (p Probe) Allowed() bool { return p.Code == "" }
