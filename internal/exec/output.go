package exec

// Stream is one of the two ways in which a program prints.
type Stream int

const (
	Stdout Stream = iota // descriptor 1
	Stderr               // descriptor 2
)

// output keeps what a program printed, stdout and stderr together up to one
// bound, in order of arrival and cut exactly at the bound. All that arrives is
// counted, so that a reader never has to guess whether something was cut. What
// is kept is appended to and never written again. One goroutine owns it.
type output struct {
	bound int64
	total int64
	kept  [2][]byte // by Stream
}

// add keeps as much of chunk as the bound leaves room for. It returns what it
// kept, and whether it was with this chunk that more arrived than the bound.
func (o *output) add(s Stream, chunk []byte) (kept int, over bool) {
	before := o.total
	o.total += int64(len(chunk))
	kept = int(min(int64(len(chunk)), max(0, o.bound-before)))
	o.kept[s] = append(o.kept[s], chunk[:kept]...)
	return kept, before <= o.bound && o.total > o.bound
}
