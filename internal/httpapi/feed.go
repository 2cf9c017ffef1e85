package httpapi

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"confined/internal/exec"
)

// feed carries what happens in a run from the run's goroutine to the one that
// writes the stream. Telling it never waits for whoever reads, and copies no
// output: the bytes stay where the result will have them, and the feed holds in
// which order and when they came. That is a few bytes for each turn between
// stdout and stderr; of a program that alternates them byte by byte, and whose
// client reads nothing, about two for each byte of output. They are on the
// account of the upload memory.
type feed struct {
	mem   *memory
	start time.Time
	news  chan struct{} // holds a value while there is something to take

	mu     sync.Mutex     // guards what follows
	kept   [2]exec.Output // all output until now, by exec.Stream
	latest happening      // not in the log yet: output of the same stream still joins it
	log    []byte         // what happened before that, since the last take
	taken  time.Duration  // time of the last happening before the log
	logged time.Duration  // time of the last in it
}

// happening is a stage that was reached, or else output of one stream.
type happening struct {
	at     time.Duration // since the start
	stage  Stage
	stream exec.Stream
	bytes  int
}

func newFeed(mem *memory, start time.Time) *feed {
	return &feed{mem: mem, start: start, news: make(chan struct{}, 1)}
}

// trace tells the feed of a run.
func (f *feed) trace() *exec.Trace {
	return exec.Join(stages(func(s Stage, _ string) { f.reached(s) }), &exec.Trace{Output: f.printed})
}

func (f *feed) reached(s Stage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begin(happening{stage: s})
}

func (f *feed) printed(o exec.OutputInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept[o.Stream] = o.Kept
	n := o.Kept.Len() - o.At
	if f.latest.bytes > 0 && f.latest.stream == o.Stream {
		f.latest.bytes += n
		return
	}
	f.begin(happening{stream: o.Stream, bytes: n})
}

// begin makes h the latest.
func (f *feed) begin(h happening) {
	f.write()
	h.at = time.Since(f.start).Truncate(time.Microsecond)
	f.latest = h
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// allStages are those that a log can name, by their index.
var allStages = []Stage{StageCounted, StageMaterialised, StageLaunched, StageAdmitted, StageCollected, StageSettled}

// stageMark stands in a log in the place of a stream.
const stageMark = 2

// write puts the latest into the log, if there is one: the microseconds since
// the one before it, then what it was.
func (f *feed) write() {
	h := f.latest
	if h == (happening{}) {
		return
	}
	what := uint64(h.bytes)<<2 | uint64(h.stream)
	if h.stage != "" {
		what = uint64(slices.Index(allStages, h.stage))<<2 | stageMark
	}
	before := cap(f.log)
	f.log = binary.AppendUvarint(f.log, uint64((h.at - f.logged).Microseconds()))
	f.log = binary.AppendUvarint(f.log, what)
	f.mem.force(int64(cap(f.log) - before))
	f.latest, f.logged = happening{}, h.at
}

// take is what happened since the last take. It must be given back.
func (f *feed) take() *batch {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.write()
	b := &batch{log: f.log, at: f.taken, kept: f.kept, mem: f.mem, held: int64(cap(f.log))}
	f.log, f.taken = nil, f.logged
	return b
}

// batch is what happened between two looks at a feed.
type batch struct {
	kept [2]exec.Output // all output until then
	log  []byte         // what is left to read
	at   time.Duration
	mem  *memory
	held int64
}

// next is the next happening in it, if there is one.
func (b *batch) next() (happening, bool) {
	if len(b.log) == 0 {
		return happening{}, false
	}
	b.at += time.Duration(b.uvarint()) * time.Microsecond
	what := b.uvarint()
	if what&3 == stageMark {
		return happening{at: b.at, stage: allStages[what>>2]}, true
	}
	return happening{at: b.at, stream: exec.Stream(what & 3), bytes: int(what >> 2)}, true
}

func (b *batch) uvarint() uint64 {
	v, n := binary.Uvarint(b.log)
	b.log = b.log[n:]
	return v
}

// giveBack says that the log is not held any more.
func (b *batch) giveBack() { b.mem.give(b.held) }
