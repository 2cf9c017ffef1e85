package pins

import "time"

// Outcome is what came of one act in one place.
type Outcome struct {
	Took bool   `json:"took"`           // it took place, by the evidence
	Code string `json:"code,omitempty"` // what the program was told, when that was an error
	Said string `json:"said,omitempty"` // what it printed otherwise
}

// Verdict is what one row of the boundary suite comes to.
type Verdict string

// The verdicts of a [Row].
const (
	Denied   Verdict = "denied"    // it did not take place confined, and the program was told the expected code
	Allowed  Verdict = "allowed"   // an allowed twin, which took place confined
	Failed   Verdict = "failed"    // anything else
	NotShown Verdict = "not-shown" // confined it is as it must be, but its control did not succeed, so that nothing is shown
	Untried  Verdict = "untried"   // there was no native probe: no compiler
)

// Row is one probe of the boundary suite with both outcomes.
type Row struct {
	Family    string   `json:"family"`
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`                // who acts: javascript, native, or look
	Control   *Outcome `json:"control,omitempty"`   // unconfined; absent with NoControl and when nothing was tried
	NoControl string   `json:"noControl,omitempty"` // why none is done
	Confined  *Outcome `json:"confined,omitempty"`
	Evidence  string   `json:"evidence"` // what the host looked at
	Verdict   Verdict  `json:"verdict"`
	Why       string   `json:"why,omitempty"` // of a row that failed or is not shown
}

// Counts are the rows by what they came to. Denied rows whose control succeeded stand apart from those that can have none.
type Counts struct {
	Denied          int `json:"denied"`
	DeniedUnmatched int `json:"deniedWithoutControl"`
	Allowed         int `json:"allowed"`
	Failed          int `json:"failed"`
	NotShown        int `json:"notShown"`
	Untried         int `json:"untried"`
}

// Count counts rows. One whose verdict is none of the known counts as failed.
func Count(rows []Row) Counts {
	var c Counts
	for _, r := range rows {
		switch {
		case r.Verdict == Denied && r.Control != nil:
			c.Denied++
		case r.Verdict == Denied:
			c.DeniedUnmatched++
		case r.Verdict == Allowed:
			c.Allowed++
		case r.Verdict == NotShown:
			c.NotShown++
		case r.Verdict == Untried:
			c.Untried++
		default:
			c.Failed++
		}
	}
	return c
}

// Receipt is what one run of the whole boundary suite found, on one host, by one user, with one runtime.
type Receipt struct {
	Format      string    `json:"format"` // ReceiptFormat
	StartedAt   time.Time `json:"startedAt"`
	DurationMs  int64     `json:"durationMs"`
	Host        string    `json:"host"` // see HostID
	UID         int       `json:"uid"`  // whose daemon it is about: a root daemon's boundary is made in another way
	OS          string    `json:"os"`
	Arch        string    `json:"arch"`
	OSBuild     string    `json:"osBuild"`
	Node        string    `json:"node"` // canonical path
	NodeVersion string    `json:"nodeVersion"`
	NodeSHA256  string    `json:"nodeSha256"`
	Runtime     Digest    `json:"runtime"`       // the whole identity, kernel and launcher included
	Closure     Digest    `json:"closureDigest"` // the same without the kernel
	Profile     Digest    `json:"profile"`
	Suite       Digest    `json:"suite"`    // of the sources of the suite: its table and what it runs
	Compiler    string    `json:"compiler"` // what built the native probe; empty when there was none
	Counts      Counts    `json:"counts"`
	Rows        []Row     `json:"rows"`
}

// ReceiptFormat names the form of a receipt, and changes with its meaning.
const ReceiptFormat = "confined-receipt/1"

// Passed says whether the suite was tried whole and every row is as it must be.
func (r Receipt) Passed() bool {
	return r.Counts.Failed == 0 && r.Counts.NotShown == 0 && r.Counts.Untried == 0 && r.Counts.Denied > 0 && r.Counts.Allowed > 0
}

// EndedAt is when the suite was done.
func (r Receipt) EndedAt() time.Time {
	return r.StartedAt.Add(time.Duration(r.DurationMs) * time.Millisecond)
}
