package e2e

import (
	"strconv"
	"strings"
	"testing"
)

// metric is the value of one series, written as /metrics writes it: labels in
// the order of the alphabet. A series that is not there is 0.
func (d *daemon) metric(t testing.TB, series string) float64 {
	t.Helper()
	for line := range strings.Lines(string(d.get(t, "/metrics").body)) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			value, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return value
		}
	}
	return 0
}
