package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"confined/internal/pins"
)

// provenBy says what proves the boundary, with the file where there is one.
func provenBy(p pins.Proof) string {
	if p.Kind == pins.ProofReceipt {
		return fmt.Sprintf("%s of %s, %s", p.Kind, p.ProvenAt.UTC().Format(time.RFC3339), p.File)
	}
	return p.Kind
}

// cureReceipts is for a directory of receipts that is not looked into.
func cureReceipts(c config) string {
	return "chmod 700 " + pins.ShellWord(receiptsDir(c)) + " if it is yours, or move it away"
}

// lookAtReceipts counts what is among the receipts, with rt as the runtime in
// question, and names those that are not what a suite of this user's wrote.
// Where there are none nothing is said.
func lookAtReceipts(c config, proofs *pins.Proofs, rt pins.Runtime) []finding {
	found, err := proofs.Survey(rt)
	if err != nil {
		return []finding{{"receipts", verdictNote, err.Error(), cureReceipts(c)}}
	}
	if len(found) == 0 {
		return nil
	}
	counts := map[pins.ReceiptState]int{}
	var unfit []finding
	for _, f := range found {
		counts[f.State]++
		if f.State.Unfit() {
			unfit = append(unfit, finding{"receipt", verdictNote, fmt.Sprintf("%s is %s: %s", filepath.Base(f.File), f.State, f.Why), ""})
		}
	}
	var said []string
	for _, s := range []struct {
		state pins.ReceiptState
		words string
	}{
		{pins.ReceiptProves, "about this Node"}, {pins.ReceiptOther, "about another Node, library or kernel"}, {pins.ReceiptStale, "of another build's boundary or suite"},
		{pins.ReceiptForeign, "foreign"}, {pins.ReceiptDamaged, "damaged"}, {pins.ReceiptStray, "stray"},
		{pins.ReceiptUnfinished, "unfinished (of a suite that ends now, or left where the system went down; not touched)"},
	} {
		if counts[s.state] > 0 {
			said = append(said, fmt.Sprintf("%d %s", counts[s.state], s.words))
		}
	}
	return append([]finding{{"receipts", verdictNote, receiptsDir(c) + ": " + strings.Join(said, ", "), ""}}, unfit...)
}
