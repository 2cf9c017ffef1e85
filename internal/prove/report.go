package prove

// Outcome is what came of one act in one place.
type Outcome struct {
	Took bool   `json:"took"`           // it took place, by the evidence
	Code string `json:"code,omitempty"` // what the program was told, when that was an error
	Said string `json:"said,omitempty"` // what it printed otherwise
}

// Verdict is what one row comes to.
type Verdict string

const (
	Denied   Verdict = "denied"  // it did not take place confined, and the program was told the expected code
	Permits  Verdict = "allowed" // an allowed twin, which took place confined
	Failed   Verdict = "failed"  // anything else, also a control that did not succeed
	NotTried Verdict = "untried" // there was no native probe: no compiler
)

// Row is one probe with both outcomes.
type Row struct {
	Family    string   `json:"family"`
	Name      string   `json:"name"`
	Kind      Kind     `json:"kind"`
	Control   *Outcome `json:"control,omitempty"` // unconfined; absent with NoControl and when nothing was tried
	NoControl string   `json:"noControl,omitempty"`
	Confined  *Outcome `json:"confined,omitempty"`
	Evidence  string   `json:"evidence"`
	Verdict   Verdict  `json:"verdict"`
	Why       string   `json:"why,omitempty"` // of a row that failed
}

// Counts are the rows by what they came to. Denied rows whose control succeeded stand apart from those that can have none.
type Counts struct {
	Denied          int `json:"denied"`
	DeniedNoControl int `json:"deniedWithoutControl"`
	Allowed         int `json:"allowed"`
	Failed          int `json:"failed"`
	Untried         int `json:"untried"`
}
