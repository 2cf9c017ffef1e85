package exec

import "iter"

// Stream is one of the two ways in which a program prints.
type Stream int

const (
	Stdout Stream = iota // descriptor 1
	Stderr               // descriptor 2
)

// Output is what was kept of one stream, in the pieces of memory into which it
// was read: one that grew as a whole would take twice its size and more. An
// Output never changes, nor do its bytes: what comes later makes another one,
// which shares the pieces. So anybody may hold on to one, and nobody may write
// to it; its memory is let go of like any other.
type Output struct {
	pieces     [][]byte // every one but the last is full
	start, end int      // of the pieces joined, this is what belongs to it
}

// OutputOf is an Output of bytes that nobody will change any more.
func OutputOf(pieces ...[]byte) (o Output) {
	for _, piece := range pieces {
		o.pieces, o.end = append(o.pieces, piece), o.end+len(piece)
	}
	return o
}

// Len is how many bytes it has.
func (o Output) Len() int { return o.end - o.start }

// Slice is the part of it that begins at from and ends before to.
func (o Output) Slice(from, to int) Output {
	return Output{pieces: o.pieces, start: o.start + from, end: o.start + to}
}

// Pieces are its bytes, in order, as they lie in memory. None is empty.
func (o Output) Pieces() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		at := 0 // of the pieces joined, where the next begins
		for _, piece := range o.pieces {
			from, to := max(o.start-at, 0), min(o.end-at, len(piece))
			if from < to && !yield(piece[from:to:to]) {
				return
			}
			if at += len(piece); at >= o.end {
				return
			}
		}
	}
}

// Bytes is a copy of it in one piece.
func (o Output) Bytes() []byte {
	all := make([]byte, 0, o.Len())
	for piece := range o.Pieces() {
		all = append(all, piece...)
	}
	return all
}

// output keeps what a program printed, stdout and stderr together up to one
// bound, in order of arrival and cut exactly at the bound. All that arrives is
// counted, so that a reader never has to guess whether something was cut. One
// goroutine owns it.
type output struct {
	bound int64
	total int64
	kept  [2]Output // by Stream
}

// add keeps as much of p as the bound leaves room for: nothing of a stream is
// left out before the bound, and nothing is kept after it. It returns how much
// it kept, and whether it was with this that more arrived than the bound.
func (o *output) add(p printed) (kept int, over bool) {
	before := o.total
	o.total += int64(p.end - p.start)
	kept = int(min(o.total, max(o.bound, before)) - before)
	k := &o.kept[p.stream]
	if kept > 0 && p.start == 0 {
		k.pieces = append(k.pieces, p.piece)
	}
	k.end += kept
	return kept, before <= o.bound && o.total > o.bound
}
