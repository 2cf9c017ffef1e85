package pins

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxReceipt bounds a receipt in bytes. The suite has some hundreds of rows of a few hundred bytes each.
const maxReceipt = 4 << 20

// Forms of what a receipt's name and its readers rely on.
var (
	sha256Form  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	versionForm = regexp.MustCompile(`^v?[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$`)
)

// IsVersion says whether text can be a version of Node as runtimes and receipts name it, without the v.
func IsVersion(text string) bool {
	return !strings.HasPrefix(text, "v") && versionForm.MatchString(text)
}

// Encode is r as its file has it: indented JSON, one spelling for each receipt. Times are UTC, in milliseconds; bytes that are no UTF-8
// are U+FFFD.
func (r Receipt) Encode() ([]byte, error) {
	r.StartedAt = r.StartedAt.UTC().Truncate(time.Millisecond)
	if r.Rows == nil {
		r.Rows = []Row{}
	}
	text, err := r.marshal()
	if err == nil && bytes.Contains(text, []byte(`\ufffd`)) { // there were bytes that are no UTF-8, which the first pass has replaced
		var clean Receipt
		err = json.Unmarshal(text, &clean)
		if err == nil {
			text, err = clean.marshal()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("pins: a receipt: %w", err)
	}
	return text, nil
}

func (r Receipt) marshal() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(r)
	return out.Bytes(), err
}

// ParseReceipt reads a receipt that Encode wrote, and nothing else: a field too many, twice or in another order, anything after the end,
// another spelling of the same value are all refused, because no suite wrote them. What it returns agrees with itself: the counts are those
// of the rows, and each verdict is one that its outcomes allow.
func ParseReceipt(text []byte) (Receipt, error) {
	if len(text) > maxReceipt {
		return Receipt{}, fmt.Errorf("it has more than %d bytes", maxReceipt)
	}
	var r Receipt
	if err := json.Unmarshal(text, &r); err != nil {
		return Receipt{}, fmt.Errorf("it is no receipt: %w", err)
	}
	if r.Format != ReceiptFormat {
		return Receipt{}, fmt.Errorf("it is in the form %.40q, and this build reads %q", r.Format, ReceiptFormat)
	}
	again, err := r.Encode()
	if err != nil || !bytes.Equal(again, text) {
		return Receipt{}, errors.New("it is not as confined writes receipts")
	}
	if problem := r.problem(); problem != "" {
		return Receipt{}, errors.New(problem)
	}
	return r, nil
}

// problem says what in r cannot be, or is empty.
func (r Receipt) problem() string {
	for _, field := range []struct {
		name string
		ok   bool
	}{
		{"startedAt", !r.StartedAt.IsZero() && r.StartedAt.Year() < 10_000},
		{"durationMs", r.DurationMs >= 0 && r.DurationMs < int64(24*time.Hour/time.Millisecond)},
		{"host", r.Host == "" || isDigest(Digest(r.Host))},
		{"uid", r.UID >= 0},
		{"os", r.OS != ""},
		{"arch", r.Arch != ""},
		{"node", pathProblem(r.Node) == ""},
		{"nodeVersion", versionForm.MatchString(r.NodeVersion)},
		{"nodeSha256", sha256Form.MatchString(r.NodeSHA256)},
		{"runtime", isDigest(r.Runtime)},
		{"closureDigest", isDigest(r.Closure)},
		{"profile", isDigest(r.Profile)},
		{"suite", isDigest(r.Suite)},
	} {
		if !field.ok {
			return "its " + field.name + " is none"
		}
	}
	return rowsProblem(r.Rows, r.Counts)
}

func rowsProblem(rows []Row, counts Counts) string {
	names := map[string]bool{}
	for _, row := range rows {
		if names[row.Name] {
			return fmt.Sprintf("it has the row %q twice", row.Name)
		}
		names[row.Name] = true
		if problem := row.problem(); problem != "" {
			return fmt.Sprintf("its row %q %s", row.Name, problem)
		}
	}
	if counts != Count(rows) {
		return "its counts are not those of its rows"
	}
	return ""
}

// problem says what in a row cannot be: a verdict is never better than the outcomes beside it.
func (r Row) problem() string {
	controlled := r.Control != nil && r.Control.Took && r.NoControl == "" || r.Control == nil && r.NoControl != ""
	switch {
	case r.Family == "" || r.Name == "" || r.Evidence == "":
		return "has no family, name or evidence"
	case !slices.Contains([]string{"javascript", "native", "look"}, r.Kind):
		return "is of no known kind"
	case r.Verdict == Denied && (!controlled || r.Confined == nil || r.Confined.Took),
		r.Verdict == Allowed && (!controlled || r.Confined == nil || !r.Confined.Took),
		(r.Verdict == Failed || r.Verdict == NotShown) && r.Why == "",
		r.Verdict == Untried && (r.Control != nil || r.Confined != nil):
		return "says " + string(r.Verdict) + ", and its outcomes do not"
	case !slices.Contains([]Verdict{Denied, Allowed, Failed, NotShown, Untried}, r.Verdict):
		return "has no known verdict"
	}
	return ""
}

func isDigest(d Digest) bool {
	_, err := ParseDigest(string(d))
	return err == nil
}

// receiptName is the name of the file of r, whose bytes are text: it sorts by version and the time of [Receipt.EndedAt], and gives damage away by the digest in it.
func receiptName(r Receipt, text []byte) string {
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%s-%s-%x.json", strings.TrimPrefix(r.NodeVersion, "v"), r.EndedAt().UTC().Format("20060102T150405Z"), sum[:8])
}
