package httpapi

import "time"

// timeForm is how answers write a time: RFC 3339, UTC, milliseconds. All are
// equally long, so that they sort as text.
const timeForm = "2006-01-02T15:04:05.000Z"

// timestamp is a time in an answer.
type timestamp struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t timestamp) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"` + timeForm + `"`)), nil
}

// timeOf is t as the contract shows times, nil where it is not known.
func timeOf(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return &Time{t}
}
