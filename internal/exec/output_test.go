package exec

import (
	"bytes"
	"testing"
)

// chunksOf are how a reader hands over these texts, with pieces so small that
// some are full.
func chunksOf(s Stream, texts ...string) (out []printed) {
	piece, at := make([]byte, 2), 0
	for _, text := range texts {
		for text != "" {
			if at == len(piece) {
				piece, at = make([]byte, 2*len(piece)), 0
			}
			n := copy(piece[at:], text)
			out = append(out, printed{s, piece, at, at + n})
			at, text = at+n, text[n:]
		}
	}
	return out
}

// TestOutputIsCutExactly: the bound holds for both streams together, in order
// of arrival, everything is counted, and overflow is told once.
func TestOutputIsCutExactly(t *testing.T) {
	stdout, stderr := chunksOf(Stdout, "ab", "c12"), chunksOf(Stderr, "xy", "z")
	chunks := []printed{stdout[0], stderr[0], stdout[1], stderr[1]}
	rows := []struct {
		name           string
		bound          int64
		stdout, stderr string
		over           int // which chunk exceeds the bound, -1 none
	}{
		{"under", 100, "abc12", "xyz", -1},
		{"exact", 8, "abc12", "xyz", -1},
		{"cut in the last chunk", 7, "abc12", "xy", 3},
		{"cut in another", 5, "abc", "xy", 2},
		{"cut between two", 4, "ab", "xy", 2},
		{"cut in the first chunk", 1, "a", "", 0},
		{"nothing kept", 0, "", "", 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			o := output{bound: row.bound}
			for i, c := range chunks {
				before := o.kept[c.stream]
				held := before.Bytes()
				n, over := o.add(c)
				if over != (i == row.over) || n != o.kept[c.stream].Len()-before.Len() {
					t.Errorf("chunk %d: %d kept, over %v", i, n, over)
				}
				if !bytes.Equal(before.Bytes(), held) {
					t.Errorf("chunk %d changed what was held from %q to %q", i, held, before.Bytes())
				}
			}
			out, err := o.kept[Stdout].Bytes(), o.kept[Stderr].Bytes()
			if string(out) != row.stdout || string(err) != row.stderr || o.total != 8 {
				t.Errorf("got %q %q %d", out, err, o.total)
			}
		})
	}
}

// TestOutputSlices: every part of an output has its bytes, in pieces of which
// none is empty, and is not longer than it says.
func TestOutputSlices(t *testing.T) {
	const text = "abcdefghijklmnopqrstuvwxyz"
	o := output{bound: 1 << 20}
	for _, c := range chunksOf(Stdout, text) {
		o.add(c)
	}
	for from := range len(text) + 1 {
		for to := from; to <= len(text); to++ {
			part := o.kept[Stdout].Slice(from, to)
			if again := part.Slice(0, part.Len()); part.Len() != to-from || string(part.Bytes()) != text[from:to] || string(again.Bytes()) != text[from:to] {
				t.Fatalf("%d to %d: %q of %d", from, to, part.Bytes(), part.Len())
			}
			for piece := range part.Pieces() {
				if len(piece) == 0 || cap(piece) != len(piece) {
					t.Fatalf("%d to %d has a piece of %d bytes with room for %d", from, to, len(piece), cap(piece))
				}
			}
		}
	}
}
