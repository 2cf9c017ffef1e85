package ns

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestQuarantineSurvivesARestart: a new pool on the same state tells the same story, and the slot stays taken.
func TestQuarantineSurvivesARestart(t *testing.T) {
	w := newWorld(t, 8)
	s := w.filled()
	d := s.Quarantine(Unresolved, "a process may be alive")
	for _, p := range []*Pool{w.pool, w.newPool(8)} {
		row := w.row(p, "slot-0")
		if row.State != Quarantined || row.Reason != Unresolved || row.Message != d.Message || row.RunID != "run-1" || time.Since(row.SinceAt) > time.Minute {
			t.Errorf("%+v", row)
		}
		if n, err := p.Others(); err != nil || n != 1 {
			t.Errorf("others %d, %v; want 1", n, err)
		}
		if next := claim(t, p); next.Number() != 1 {
			t.Errorf("claimed %s", next.Name())
		} else {
			next.Remove(SetupIncomplete)
		}
	}
}

// TestReusedInode: a line explains the entry that it was written for, not a later one that got its name and inode number.
func TestReusedInode(t *testing.T) {
	w := newWorld(t, 8)
	w.filled().Quarantine(NamespaceChanged, "x")
	line := w.lines()[0]
	for name, edit := range map[string]func(*ledgerLine){
		"born earlier": func(l *ledgerLine) { l.BornNs-- }, "other inode": func(l *ledgerLine) { l.Ino++ },
		"other device": func(l *ledgerLine) { l.Dev++ }, "other name": func(l *ledgerLine) { l.Slot = "slot-1" },
	} {
		edited := line
		edit(&edited)
		w.writeLedger(edited)
		if row := w.row(w.pool, "slot-0"); row.State != Leftover || row.Reason != "" || row.RunID != "" {
			t.Errorf("%s: %+v", name, row)
		}
	}
	w.writeLedger(line)
	if row := w.row(w.pool, "slot-0"); row.State != Quarantined {
		t.Errorf("%+v", row)
	}
	must(t, os.RemoveAll(w.root+"/slot-0"))
	must(t, os.Mkdir(w.root+"/slot-0", 0o700))
	if row := w.row(w.pool, "slot-0"); row.State != Leftover {
		t.Errorf("a new directory is explained by the old one's line: %+v", row)
	}
}

func (w *world) lines() (lines []ledgerLine) {
	w.t.Helper()
	text, err := os.ReadFile(w.state + "/" + ledgerName)
	must(w.t, err)
	for line := range strings.Lines(string(text)) {
		if line == "\n" {
			continue
		}
		var l ledgerLine
		must(w.t, json.Unmarshal([]byte(line), &l))
		lines = append(lines, l)
	}
	return lines
}

func (w *world) writeLedger(lines ...any) {
	w.t.Helper()
	var text strings.Builder
	for _, l := range lines {
		if raw, ok := l.(string); ok {
			text.WriteString(raw)
			continue
		}
		line, err := json.Marshal(l)
		must(w.t, err)
		text.Write(append(line, '\n'))
	}
	must(w.t, os.WriteFile(w.state+"/"+ledgerName, []byte(text.String()), 0o600))
}

// TestQuarantineOfAReplacedSlot: the line is about the entry that has the name now, which is the one a listing finds.
func TestQuarantineOfAReplacedSlot(t *testing.T) {
	w := newWorld(t, 8)
	s := w.filled()
	must(t, os.Rename(s.Path(), w.root+"/moved"))
	must(t, os.Mkdir(s.Path(), 0o700))
	s.Quarantine(SnapshotMismatch, "replaced")
	if row := w.row(w.newPool(8), "slot-0"); row.State != Quarantined {
		t.Errorf("%+v", row)
	}
	if row := w.row(w.newPool(8), "moved"); row.State != Foreign {
		t.Errorf("%+v", row)
	}
}

// TestDamagedLedger: what cannot be understood is told line by line, and hides nothing else; the next line is written beside it.
func TestDamagedLedger(t *testing.T) {
	w := newWorld(t, 8)
	if damage := w.pool.LedgerDamage(); len(damage) != 0 {
		t.Errorf("a ledger that does not exist is damaged: %v", damage)
	}
	w.filled().Quarantine(NamespaceChanged, "x")
	good := w.lines()[0]
	strange := good
	strange.Reason = "because"
	w.writeLedger("not json\n", good, strange, "\n", "{}\n", "[1]\n", `{"at":1}`+"\n", strings.Repeat("x", maxLedgerLine+1)+"\n", `{"at":"2026-01-01T00:00:00Z","sl`)
	damage := w.pool.LedgerDamage()
	var lines []int
	for _, d := range damage {
		lines = append(lines, d.Line)
	}
	if fmt.Sprint(lines) != "[1 3 5 6 7 8 9]" {
		t.Errorf("damage: %v", damage)
	}
	w.filled().Quarantine(Unresolved, "y")
	for name, reason := range map[string]QuarantineReason{"slot-0": NamespaceChanged, "slot-1": Unresolved} {
		if row := w.row(w.newPool(8), name); row.State != Quarantined || row.Reason != reason {
			t.Errorf("%+v", row)
		}
	}
	if again := w.pool.LedgerDamage(); len(again) != len(damage) {
		t.Errorf("damage became %v", again)
	}
}

// TestLedgerThatCannotBeWritten: the slot is quarantined all the same, the message says so, and this daemon still explains it.
func TestLedgerThatCannotBeWritten(t *testing.T) {
	for name, spoil := range map[string]func(w *world) error{
		"no state directory": func(w *world) error { return os.Remove(w.state) },
		"a directory":        func(w *world) error { return os.Mkdir(w.state+"/"+ledgerName, 0o700) },
		"a link":             func(w *world) error { return os.Symlink("elsewhere", w.state+"/"+ledgerName) },
	} {
		w := newWorld(t, 8)
		must(t, spoil(w))
		d := w.filled().Quarantine(Unresolved, "alive")
		if d.State != StateQuarantined || d.Reason != Unresolved || !strings.Contains(d.Message, w.state) {
			t.Errorf("%s: %+v", name, d)
		}
		if row := w.row(w.pool, "slot-0"); row.State != Quarantined || row.Reason != Unresolved {
			t.Errorf("%s: %+v", name, row)
		}
		if row := w.row(w.newPool(8), "slot-0"); row.State != Leftover {
			t.Errorf("%s, after a restart: %+v", name, row)
		}
		if _, err := os.Lstat(w.state + "/elsewhere"); err == nil {
			t.Errorf("%s: a link was followed", name)
		}
	}
}

// TestLedgerOfTwoDaemons: lines written at once never mix.
func TestLedgerOfTwoDaemons(t *testing.T) {
	w := newWorld(t, 8)
	ledgers := []*ledger{newLedger(w.state), newLedger(w.state)}
	const each = 25
	var all sync.WaitGroup
	for d, l := range ledgers {
		for i := range each {
			all.Go(func() {
				line := ledgerLine{At: time.Now(), Slot: slotName(i), Ino: uint64(d*each + i + 1), Reason: Unresolved, Message: strings.Repeat("m", 3000)}
				if err := l.add(line); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if damage := w.pool.LedgerDamage(); len(damage) != 0 || len(w.lines()) != 2*each {
		t.Errorf("%d lines, damage %v", len(w.lines()), damage)
	}
}

func TestLongMessageIsCut(t *testing.T) {
	w := newWorld(t, 8)
	d := w.filled().Quarantine(Unresolved, strings.Repeat("ä", maxMessage))
	if line := w.lines()[0]; len(line.Message) > maxMessage+3 || !strings.HasPrefix(d.Message, strings.TrimSuffix(line.Message, "…")) {
		t.Errorf("%d bytes", len(line.Message))
	}
}
