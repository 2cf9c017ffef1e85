package httpapi

import (
	"testing"
	"testing/synctest"
	"time"

	"confined/internal/exec"
)

// TestFeedTellsInOrder: what happened, when and in which order, whether it is
// taken at once or late; output of one stream joins only what was not taken.
func TestFeedTellsInOrder(t *testing.T) {
	happen := func(f *feed, between func()) {
		p := &printer{trace: f.trace()}
		for _, step := range []func(){
			func() { p.trace.Counted(exec.CountedInfo{}) },
			func() { p.print(exec.Stdout, "a") },
			func() { p.print(exec.Stdout, "bc") },
			func() { p.print(exec.Stderr, "d") },
			func() { p.print(exec.Stdout, "e") },
			func() { p.trace.Collected(exec.CollectedInfo{}) },
			func() { p.trace.Settled(exec.SettledInfo{}) },
		} {
			pass(1500 * time.Microsecond)
			step()
			between()
		}
	}
	ms := func(n float64) time.Duration { return time.Duration(n * 1e6) }
	late := []happening{
		{at: ms(1.5), stage: StageCounted}, {at: ms(3), stream: exec.Stdout, bytes: 3}, {at: ms(6), stream: exec.Stderr, bytes: 1},
		{at: ms(7.5), stream: exec.Stdout, bytes: 1}, {at: ms(9), stage: StageCollected}, {at: ms(10.5), stage: StageSettled},
	}
	prompt := append([]happening{late[0], {at: ms(3), stream: exec.Stdout, bytes: 1}, {at: ms(4.5), stream: exec.Stdout, bytes: 2}}, late[2:]...)
	for name, c := range map[string]struct {
		at   func(step int) bool // to take after this step
		want []happening
	}{
		"late":   {func(int) bool { return false }, late},
		"prompt": {func(int) bool { return true }, prompt},
		"midway": {func(step int) bool { return step == 3 || step == 4 }, late},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFeed(&memory{limit: 1 << 20}, time.Now())
			var got []happening
			take := func() {
				b := f.take()
				defer b.giveBack()
				for h, ok := b.next(); ok; h, ok = b.next() {
					got = append(got, h)
				}
				if len(got) > 0 && (string(b.kept[0].Bytes()) != "abce"[:b.kept[0].Len()] || string(b.kept[1].Bytes()) != "d"[:b.kept[1].Len()]) {
					t.Errorf("%s: kept %q and %q", name, b.kept[0].Bytes(), b.kept[1].Bytes())
				}
			}
			step := 0
			happen(f, func() {
				step++
				select {
				case <-f.news:
				default:
					if len(c.want) == len(prompt) {
						t.Errorf("%s: step %d was no news", name, step)
					}
				}
				if c.at(step) {
					take()
				}
			})
			take()
			if len(got) != len(c.want) {
				t.Fatalf("%s: got %+v", name, got)
			}
			for i, h := range got {
				if h != c.want[i] {
					t.Errorf("%s: %d is %+v, want %+v", name, i, h, c.want[i])
				}
			}
			if f.mem.used.Load() != 0 {
				t.Errorf("%s: %d bytes are still on the account", name, f.mem.used.Load())
			}
		})
	}
}

// TestFeedIsSmall: a program that alternates its streams byte by byte, and whose
// client takes nothing, costs a few bytes for each, all of them on the account;
// one that prints to one stream costs nothing.
func TestFeedIsSmall(t *testing.T) {
	const n = 200_000
	for _, c := range []struct {
		streams     int
		least, most int64
	}{{1, 0, 0}, {2, 2 * n, 6 * n}} {
		f := newFeed(&memory{limit: 1 << 30}, time.Now())
		kept := make([]byte, n)
		for i := range n {
			f.printed(exec.OutputInfo{Stream: exec.Stream(i % c.streams), Kept: exec.OutputOf(kept[:i/c.streams+1]), At: i / c.streams})
		}
		if used := f.mem.used.Load(); used < c.least || used > c.most || used < int64(len(f.log)) {
			t.Errorf("%d streams: %d bytes on the account, %d in the log", c.streams, used, len(f.log))
		}
		b, bytes := f.take(), 0
		for h, ok := b.next(); ok; h, ok = b.next() {
			bytes += h.bytes
		}
		b.giveBack()
		if bytes != n || f.mem.used.Load() != 0 {
			t.Errorf("%d streams: %d bytes told, %d left on the account", c.streams, bytes, f.mem.used.Load())
		}
	}
}
