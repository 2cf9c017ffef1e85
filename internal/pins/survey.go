package pins

import "path/filepath"

// ReceiptState is what one file among the receipts is good for.
type ReceiptState string

// The states of a [Found].
const (
	ReceiptProves  ReceiptState = "proves"        // the runtime asked about
	ReceiptOther   ReceiptState = "other-runtime" // sound, of this machine, user and build, and about another Node, library or kernel
	ReceiptStale   ReceiptState = "stale"         // sound, and of another boundary or suite than this build's
	ReceiptForeign ReceiptState = "foreign"       // another machine's or user's, or what others may have written or put there
	ReceiptDamaged ReceiptState = "damaged"       // not what a suite wrote

	ReceiptStray      ReceiptState = "stray"      // no receipt by its name
	ReceiptUnfinished ReceiptState = "unfinished" // by its name a receipt that is being written, or was when the system went down
)

// Unfit says whether a file in this state is out of place: nothing that this user's suites do puts it there.
func (s ReceiptState) Unfit() bool {
	return s == ReceiptForeign || s == ReceiptDamaged || s == ReceiptStray
}

// Found is one file among the receipts.
type Found struct {
	File  string // its path
	State ReceiptState
	Why   string // empty for one that proves
	// Receipt is the receipt without its rows, and Digest that of the file; both are zero where the file could not be read as one.
	Receipt Receipt
	Digest  Digest
}

// Survey says of every file in the directory what it is good for, with rt as the runtime in question: for people, while Of decides. Without
// a directory there is nothing to say.
func (p *Proofs) Survey(rt Runtime) ([]Found, error) {
	files, err := p.look()
	if err != nil {
		return nil, err
	}
	found := make([]Found, 0, len(files))
	for _, f := range files {
		one := Found{File: filepath.Join(p.o.Dir, f.name), State: f.state, Receipt: f.receipt, Digest: f.digest}
		if f.err != nil {
			one.Why = f.err.Error()
		} else {
			one.State, one.Why = p.judge(f.receipt, rt)
		}
		found = append(found, one)
	}
	return found, nil
}

// judge is the gravest of what keeps r from proving rt.
func (p *Proofs) judge(r Receipt, rt Runtime) (ReceiptState, string) {
	setting := p.setting(r)
	for _, kind := range []ReceiptState{ReceiptForeign, ReceiptStale} {
		for _, m := range setting {
			if m.kind == kind {
				return kind, "it " + joinMisses(setting)
			}
		}
	}
	other := aboutOther(r, rt)
	switch {
	case len(other) == 0:
		return ReceiptProves, ""
	case other[0].otherNode:
		return ReceiptOther, "it " + joinMisses(other)
	}
	return ReceiptOther, "it is about this Node but " + joinMisses(other)
}
