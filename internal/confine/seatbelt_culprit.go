package confine

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"confined/internal/confine/sbpl"
)

// culpritPatience bounds the search for what a macOS does not know in a profile, and tryPatience one try, which takes some milliseconds.
const (
	culpritPatience = 20 * time.Second
	tryPatience     = time.Second
)

// openProfile is what a part is tried in. It is tried alone first.
const openProfile = "(version 1)(allow default)"

// harmless is what a try executes. Every Mac has it.
const harmless = "/usr/bin/true"

// culprit says which operation or filter of a refused profile is refused alone too, in the words of sandbox-exec, or that none is. A Node
// can end with the words of sandbox-exec, so the whole profile is tried first: nothing is to be looked for where that is not refused. After
// patience, or when ctx ends, it says how far it came.
func (s Seatbelt) culprit(ctx context.Context, text string, patience time.Duration) string {
	profile, err := sbpl.Parse(text)
	if err != nil {
		return fmt.Sprintf("bug: the profile is none: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if e, err := attempt(ctx, []string{s.Tools.SandboxExec, "-p", text, harmless}); err == nil && e.Code >= 0 && !e.refused() {
		return "but it does not refuse it for " + harmless + ": those may be the words of what runs in Node's place"
	}
	tries := eachAlone(profile)
	for n, rule := range tries {
		e, err := attempt(ctx, []string{s.Tools.SandboxExec, "-p", openProfile + rule, harmless})
		switch {
		case ctx.Err() != nil:
			return fmt.Sprintf("of its %d parts, %d were tried alone and not refused; there was no time for the others", len(tries)-1, max(0, n-1))
		case err != nil:
			return fmt.Sprintf("its parts cannot be tried alone: %v", err)
		case !e.refused():
			continue
		case rule == "":
			return fmt.Sprintf("even %s is refused: %s", openProfile, oneLine(e.Stderr))
		}
		return fmt.Sprintf("%s is refused alone: %s", rule, oneLine(e.Stderr))
	}
	return fmt.Sprintf("none of its %d parts is refused alone: it is their combination or their size", len(tries)-1)
}

// refused says that it was sandbox-exec that ended, because of the profile.
func (e Ending) refused() bool {
	return e.Code == sandboxProfile && strings.HasPrefix(e.Stderr, "sandbox-exec:")
}

// eachAlone is nothing, then each operation of a profile in a rule of its own, and after it each of its filters with it, each once.
func eachAlone(p *sbpl.Profile) []string {
	rules := []string{""}
	known := map[string]bool{}
	add := func(r sbpl.Rule) {
		if text := r.String(); !known[text] {
			known[text] = true
			rules = append(rules, text)
		}
	}
	for _, r := range p.Rules {
		for _, operation := range r.Operations {
			alone := sbpl.Rule{Action: sbpl.Allow, Operations: []string{operation}}
			add(alone)
			for _, f := range r.Filters {
				alone.Filters = []sbpl.Filter{f}
				add(alone)
			}
		}
	}
	return rules
}

// attempt starts a program as a launch is started, with nothing on its standard input, and says how it ended. After tryPatience, or when
// ctx ends, it is killed.
func attempt(ctx context.Context, argv []string) (Ending, error) {
	if ctx.Err() != nil {
		return Ending{}, ctx.Err()
	}
	p, err := spawn(argv, "/")
	if err != nil {
		return Ending{}, err
	}
	defer p.close()
	_ = p.Gate.Close()
	ctx, cancel := context.WithTimeout(ctx, tryPatience)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		_ = p.Kill()
		_ = p.Stderr.SetReadDeadline(time.Now()) // what it started may hold the pipe open
	})()
	const enough = 4096
	said, _ := io.ReadAll(io.LimitReader(p.Stderr, enough))
	state, err := p.Wait()
	if err != nil {
		return Ending{}, err
	}
	code, signal := EndOf(state)
	return Ending{Code: code, Signal: signal, Stderr: string(said)}, nil
}
