//go:build linux

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// deed is a kind of program that the soak runs, and what must come of it when
// nobody meddles.
type deed struct {
	name   string
	share  int // of the deck
	source string
	alter  func(*soak, *runRequest) // may be nil: bounds, input, more files
	right  func(runRequest, outcome, *processFacts) bool
}

// deeds are good, dying and hostile programs. Good ones are exact to the byte.
func deeds() []deed {
	const seen = 64 << 10 // of a flood
	return []deed{
		{"hello", 6, `import fs from 'node:fs'; console.log(process.argv[2], fs.readFileSync('data.txt', 'utf8'))`, nil,
			func(r runRequest, o outcome, _ *processFacts) bool {
				return o == outcome{stdout: r.id + " " + r.input["data.txt"] + "\n"}
			}},
		{"big output", 2, `process.stdout.write(process.argv[2].padStart(64).repeat(1 << 15))`, nil,
			func(r runRequest, o outcome, _ *processFacts) bool {
				return o == outcome{stdout: strings.Repeat(fmt.Sprintf("%64s", r.id), 1<<15)}
			}},
		{"10,000 files", 1, `import fs from 'node:fs'; let sum = 0; for (const f of fs.readdirSync('.')) sum += Number(fs.readFileSync(f, 'utf8')); console.log(sum)`, tenThousandFiles,
			prints(fmt.Sprintf("%d\n", 9_999*10_000/2))},
		{"workers", 1, `import { Worker } from 'node:worker_threads'; for (let n = 0; n < 4; n++) new Worker('process.stdout.write("w")', { eval: true })`, nil, prints("wwww")},
		{"exit at once", 2, `process.reallyExit(7)`, nil, finishes(outcome{code: 7})},
		{"throw", 1, `throw new Error('meant')`, nil,
			func(_ runRequest, o outcome, _ *processFacts) bool {
				return o.code == 1 && o.stdout == "" && strings.Contains(o.stderr, "Error: meant")
			}},
		{"abort", 1, `process.abort()`, nil, diesOf("SIGABRT", "", "")},
		{"spin", 1, `for (;;);`, func(_ *soak, r *runRequest) { r.cpuSeconds = 1 }, diesOf("SIGKILL", "", "")},
		{"flood", 2, `import fs from 'node:fs'; for (;;) fs.writeSync(1, 'x'.repeat(1 << 16))`, func(_ *soak, r *runRequest) { r.maxOutputBytes = seen },
			diesOf("SIGKILL", "output-limit", strings.Repeat("x", seen))},
		{"stubborn", 1, `
			import os from 'node:os';
			for (const signal of Object.keys(os.constants.signals)) try { process.on(signal, () => {}) } catch {}
			process.on('exit', () => { for (;;); });
			setInterval(() => {}, 1 << 30);`, func(_ *soak, r *runRequest) { r.timeoutMs = 3000 }, diesOf("SIGKILL", "timeout", "")},
		{"all memory", 1, `const held = []; try { for (;;) held.push(Buffer.allocUnsafeSlow(256 << 20)) } catch { console.log(held.length < 16) }`, nil, prints("true\n")},
		{"all descriptors", 1, `import fs from 'node:fs'; let n = 0; try { for (;; n++) fs.openSync('data.txt') } catch (e) { console.log(e.code, n < 64) }`,
			func(_ *soak, r *runRequest) { r.maxDescriptors = 64 }, prints("EMFILE true\n")},
		{"all workers", 1, `
			import { Worker } from 'node:worker_threads';
			for (let n = 0; n < 128; n++) {
				const worker = new Worker('setInterval(() => {}, 1 << 30)', { eval: true });
				await new Promise((done) => worker.once('online', done).once('error', done));
			}
			process.reallyExit(0);`, func(_ *soak, r *runRequest) { r.maxDescriptors = 1024 }, runsOut},
		{"hostile", 4, "", (*soak).incite, func(r runRequest, o outcome, _ *processFacts) bool {
			const forged = "sf-confined/1 refused\n"
			return o == outcome{stdout: forged + hostileIsTold + "\n", stderr: forged}
		}},
	}
}

// hostileIsTold is what testdata/soak/hostile.mjs says.
const hostileIsTold = `{"forge on stdout":"done","forge on stderr":"done","spawn":"EPERM","connect":"EPERM","listen":"EPERM",` +
	`"write outside":"ENOENT","write at home":"EROFS","write the program":"EROFS","write the input":"EROFS","write the root":"EROFS",` +
	`"write beside the slot":"EROFS","remove the input":"EPERM","read the canary":"EACCES","read outside":"ENOENT",` +
	`"native code":"ERR_DLOPEN_FAILED","kill the parent":"EPERM","kill a bystander":"EPERM","kill everybody":"EPERM","signal itself":"done"}`

func finishes(want outcome) func(runRequest, outcome, *processFacts) bool {
	return func(_ runRequest, o outcome, p *processFacts) bool {
		return o == want && p.Stopped == nil && !p.KillSent
	}
}

func prints(stdout string) func(runRequest, outcome, *processFacts) bool {
	return finishes(outcome{stdout: stdout})
}

// diesOf: by that signal, which is the daemon's when it stopped the program for
// a reason, and after that output.
func diesOf(signal, stopped, stdout string) func(runRequest, outcome, *processFacts) bool {
	return func(_ runRequest, o outcome, p *processFacts) bool {
		if stopped == "" {
			return o.signal == signal && o.stdout == stdout && p.Stopped == nil && !p.KillSent
		}
		return o.signal == signal && o.stdout == stdout && p.Stopped != nil && *p.Stopped == stopped && p.KillSent
	}
}

// runsOut: of threads, or before them of memory, which V8 takes badly.
func runsOut(_ runRequest, o outcome, p *processFacts) bool {
	return p.Stopped == nil && (o.code == 0 || o.signal == "SIGTRAP" && strings.Contains(o.stderr, "out of memory"))
}

func tenThousandFiles(_ *soak, r *runRequest) {
	r.input = files{}
	for n := range 10_000 {
		r.input[fmt.Sprintf("%d.txt", n)] = fmt.Sprint(n)
	}
}

// incite makes the hostile program: it knows what the soak watches over.
func (s *soak) incite(r *runRequest) {
	r.program = files{"main.mjs": s.hostile, "addon.node": s.addon}
	r.args = []string{s.aims}
}

// request is a run of this deed.
func (x deed) request(t testing.TB, s *soak, d *daemon, id string) runRequest {
	t.Helper()
	r := d.script(t, x.source, id)
	r.id, r.input = id, files{"data.txt": "some data of " + id}
	if x.alter != nil {
		x.alter(s, &r)
	}
	return r
}

// errand is what a client does next: a deed in a manner. After that time it
// loses patience, or begins to read; a body is cut after that part of it.
type errand struct {
	deed
	manner manner
	id     string
	after  time.Duration
	part   float64
}

// draw is the next errand. Deeds come from a deck that is shuffled again when it
// is used up, so that the rare ones come too.
func (s *soak) draw() errand {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.deck) == 0 {
		for _, x := range deeds() {
			s.deck = append(s.deck, slices.Repeat([]deed{x}, x.share)...)
		}
		s.errands.Shuffle(len(s.deck), func(i, j int) { s.deck[i], s.deck[j] = s.deck[j], s.deck[i] })
	}
	s.drawn++
	e := errand{deed: s.deck[0], id: fmt.Sprintf("soak-%d", s.drawn), after: between(s.errands, 0, 3*time.Second), part: s.errands.Float64()}
	s.deck = s.deck[1:]
	n := s.errands.IntN(100)
	for _, e.manner = range manners() {
		if n -= e.manner.share; n < 0 {
			break
		}
	}
	return e
}
