package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"confined/internal/pins"
	"confined/internal/prove"
)

// What a suite comes to.
const (
	provePassed    = "passed"
	proveFailed    = "failed"     // a row is not as it must be, confined
	proveNotShown  = "not-shown"  // none failed, but what must take place unconfined did not
	proveUntried   = "untried"    // none failed, but not all were tried: no compiler, or no otool
	proveNotNeeded = "not-needed" // nothing was run
)

// proved is what `confined prove --json` prints.
type proved struct {
	Verdict string          `json:"verdict"`
	File    string          `json:"receiptFile,omitempty"` // only where there is one
	Digest  pins.Digest     `json:"receiptDigest,omitempty"`
	Text    json.RawMessage `json:"receipt,omitempty"` // as a file has it; not with not-needed

	receipt pins.Receipt
}

func newProved(r pins.Receipt) (proved, error) {
	text, err := r.Encode()
	return proved{Verdict: verdictOf(r), Text: text, receipt: r}, err
}

func verdictOf(r pins.Receipt) string {
	switch {
	case r.Passed():
		return provePassed
	case r.Counts.Failed == 0 && r.Counts.NotShown > 0:
		return proveNotShown
	case r.Counts.Failed == 0 && r.Counts.Untried > 0:
		return proveUntried
	}
	return proveFailed
}

// cureUntried is for a host where the native probe cannot be built, or where a
// program is missing that the host's looks ask.
func cureUntried(goos string) string { return prove.CompilerCure(goos) + ", and run it again" }

// wanting is what rows are not tried for want of.
func wanting(goos string) string {
	if goos == "darwin" {
		return "clang, otool or lsof"
	}
	return "a C compiler"
}

// print writes the table, what its words mean, what failed once more with the reason, the counts and
// the verdict.
func (p proved) print(to io.Writer, node string) error {
	r := p.receipt
	var b strings.Builder
	writeTable(&b, r.Rows, widthOf(to))
	if len(r.Rows) > 0 {
		b.WriteString(legend)
	}
	writeFailures(&b, r.Rows)
	writeCounts(&b, r)
	b.WriteString(p.sentence(node))
	_, err := io.WriteString(to, b.String())
	return err
}

// writeFailures repeats the rows that failed, and after them those that could
// not be shown.
func writeFailures(b *strings.Builder, rows []pins.Row) {
	for _, verdict := range []pins.Verdict{pins.Failed, pins.NotShown} {
		any := false
		for _, row := range rows {
			if row.Verdict == verdict {
				any = true
				fmt.Fprintf(b, "%s %s: %s: %s\n", markOf(verdict), verdict, oneLine(row.Family+", "+row.Name), oneLine(row.Why))
			}
		}
		if any {
			b.WriteString("\n")
		}
	}
}

// writeCounts counts apart what was denied, or held, and could not be compared, by
// reason.
func writeCounts(b *strings.Builder, r pins.Receipt) {
	c := r.Counts
	fmt.Fprintf(b, "%5d denied or held; each took place, or was weaker, unconfined\n%5d denied or held without such a comparison, since\n", c.Denied, c.DeniedUnmatched)
	reasons := map[string]int{}
	for _, row := range r.Rows {
		if row.Verdict == pins.Denied && row.Control == nil {
			reasons[row.NoControl]++
		}
	}
	listed := make([]string, 0, len(reasons))
	for reason := range reasons {
		listed = append(listed, reason)
	}
	slices.SortFunc(listed, func(x, y string) int { return cmp.Or(reasons[y]-reasons[x], strings.Compare(x, y)) })
	for _, reason := range listed {
		fmt.Fprintf(b, "%9d  %s\n", reasons[reason], oneLine(reason))
	}
	fmt.Fprintf(b, "%5d allowed\n%5d untried\n%5d not shown\n%5d failed\n\n", c.Allowed, c.Untried, c.NotShown, c.Failed)
}

// sentence is the verdict in words, with how long it took and the receipt.
func (p proved) sentence(node string) string {
	r := p.receipt
	what := fmt.Sprintf("Node %s (%s), for uid %d on this host", strings.TrimPrefix(r.NodeVersion, "v"), oneLine(node), r.UID)
	took := (time.Duration(r.DurationMs) * time.Millisecond).Round(100 * time.Millisecond)
	switch {
	case p.Verdict == provePassed && p.File != "":
		return fmt.Sprintf("The boundary holds with %s: proven in %s.\nreceipt: %s\n", oneLine(what), took, oneLine(p.File))
	case p.Verdict == provePassed:
		return fmt.Sprintf("The boundary held with %s, in %s, but there is no receipt of it.\n", oneLine(what), took)
	case p.Verdict == proveNotShown:
		return fmt.Sprintf("Nothing is proven about %s: confined all was as it must be, but %d rows could not be shown here, since what they try was refused unconfined too (%s). No receipt was written.\ncure: see what is marked %s above for what is in the way, and run it again\n",
			oneLine(what), r.Counts.NotShown, took, markOf(pins.NotShown))
	case p.Verdict == proveUntried:
		return fmt.Sprintf("Nothing is proven about %s: %d rows were not tried, for want of %s (%s).\ncure: %s\n", oneLine(what), r.Counts.Untried, wanting(r.OS), took, cureUntried(r.OS))
	}
	return fmt.Sprintf("The boundary does NOT hold with %s: see what is marked %s above (%s). No receipt was written; run no program with this Node that you do not trust.\n",
		oneLine(what), markOf(pins.Failed), took)
}
