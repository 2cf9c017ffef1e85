package ns

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	ledgerName    = "quarantine.jsonl"
	maxLedgerLine = 64 << 10 // bytes; a longer line is damaged
	maxMessage    = 4 << 10  // bytes of one message
	maxDamage     = 64       // damaged lines that are told; more are not
)

// Damage is a part of the ledger that could not be understood; Line counts from 1 and is 0 for the file as a whole.
type Damage struct {
	Line    int
	Problem string
}

// ledgerLine is one line of quarantine.jsonl.
type ledgerLine struct {
	At      time.Time        `json:"at"`
	Slot    string           `json:"slot"`
	Path    string           `json:"path"`
	Dev     uint64           `json:"dev"`
	Ino     uint64           `json:"ino"`
	BornNs  int64            `json:"bornNs"`
	Reason  QuarantineReason `json:"reason"`
	Message string           `json:"message"`
	RunID   string           `json:"runId"`
}

// entryID is what joins an entry of the root with a line: inode numbers are used again, together with a birth time they are not.
type entryID struct {
	name     string
	dev, ino uint64
	bornNs   int64
}

func (l ledgerLine) id() entryID { return entryID{l.Slot, l.Dev, l.Ino, l.BornNs} }

// identify looks at a name in an open directory; a birth time that the system does not know is 0.
func identify(parent int, name string) (entryID, error) {
	f, err := statAt(parent, name)
	if err != nil {
		return entryID{}, err
	}
	born, _, err := bornAt(parent, name)
	return entryID{name, f.dev, f.ino, born}, err
}

// ledger is the append-only record of why slots stay, shared by every daemon that has the same state directory. A line that cannot be
// understood is told and skipped; what could not be written is kept in memory, so that this daemon at least goes on explaining it.
type ledger struct {
	dir string

	mu      sync.Mutex
	read    facts // the file as it was last read
	lines   map[entryID]ledgerLine
	damage  []Damage
	unsaved map[entryID]ledgerLine
}

func newLedger(dir string) *ledger {
	return &ledger{dir: dir, lines: map[entryID]ledgerLine{}, unsaved: map[entryID]ledgerLine{}}
}

func (l *ledger) path() string { return l.dir + "/" + ledgerName }

// add appends a line by one write, so that the lines of two daemons never mix, and returns once it would survive a power cut.
func (l *ledger) add(line ledgerLine) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.append(line)
	if err != nil {
		l.unsaved[line.id()] = line
	}
	return err
}

func (l *ledger) append(line ledgerLine) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	dir, fd, err := l.open(unix.O_RDWR | unix.O_APPEND | unix.O_CREAT)
	if err != nil {
		return err
	}
	defer closeAll(dir, fd)
	text = append(text, '\n')
	if torn(fd) {
		text = append([]byte{'\n'}, text...)
	}
	n, err := unix.Write(fd, text)
	if err == nil && n != len(text) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = syncToDisk(fd)
	}
	if err == nil {
		err = syncToDisk(dir)
	}
	return err
}

// torn reports whether the last line has no end, as a crash or a full disk leaves it; the next line must not become part of it. Another daemon's
// line that is being written looks the same: then a blank line follows it, which means nothing.
func torn(fd int) bool {
	f, err := statOf(fd)
	if err != nil || f.size == 0 {
		return false
	}
	var last [1]byte
	n, err := unix.Pread(fd, last[:], f.size-1)
	return n == 1 && err == nil && last[0] != '\n'
}

// open opens the state directory and, in it, the ledger: a regular file, never through a link.
func (l *ledger) open(flags int) (dir, fd int, err error) {
	dir, err = unix.Open(l.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, step("open", l.dir, err)
	}
	fd, err = openAt(dir, ledgerName, flags, 0o600)
	if err != nil {
		unix.Close(dir)
		return -1, -1, step("open", l.path(), err)
	}
	f, err := statOf(fd)
	if err == nil && !f.isFile() {
		err = fmt.Errorf("it is %s", kindName(f.kind))
	}
	if err != nil {
		closeAll(dir, fd)
		return -1, -1, step("open", l.path(), err)
	}
	return dir, fd, nil
}

// refresh reads the file again when it is not what was read last. A ledger that cannot be read explains nothing and is told as damage.
func (l *ledger) refresh() {
	dir, fd, err := l.open(unix.O_RDONLY)
	if err != nil {
		l.lines, l.damage, l.read = map[entryID]ledgerLine{}, nil, facts{}
		if !errors.Is(err, os.ErrNotExist) {
			l.damage = []Damage{{0, err.Error()}}
		}
		return
	}
	unix.Close(dir)
	now, err := statOf(fd)
	file := os.NewFile(uintptr(fd), l.path())
	defer file.Close()
	if err == nil && now == l.read {
		return
	}
	l.lines, l.damage = readLedger(file)
	l.read = now
}

// find is the line that explains an entry.
func (l *ledger) find(id entryID) (ledgerLine, bool) {
	if line, ok := l.unsaved[id]; ok {
		return line, true
	}
	line, ok := l.lines[id]
	return line, ok
}

// LedgerDamage reads the ledger and lists what in it cannot be understood, the first 64 of it; such lines explain no slot. A ledger that does
// not exist yet is not damaged.
func (p *Pool) LedgerDamage() []Damage {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	p.ledger.refresh()
	return append([]Damage(nil), p.ledger.damage...)
}

// readLedger is the last line for each entry, and what could not be understood.
func readLedger(r io.Reader) (map[entryID]ledgerLine, []Damage) {
	lines, damage := map[entryID]ledgerLine{}, []Damage(nil)
	tell := func(number int, problem string) {
		if len(damage) < maxDamage {
			damage = append(damage, Damage{number, problem})
		}
	}
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		text, err := readLine(in)
		if len(text) > maxLedgerLine {
			tell(number, "is too long")
		} else if len(text) > 0 {
			line, problem := parseLine(text)
			if problem == "" {
				lines[line.id()] = line
			} else {
				tell(number, problem)
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				tell(0, err.Error())
			}
			return lines, damage
		}
	}
}

// readLine returns a line without its end, cut after maxLedgerLine+1 bytes.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for more := true; more && err == nil; {
		var part []byte
		part, more, err = in.ReadLine()
		line = append(line, part[:min(len(part), maxLedgerLine+1-len(line))]...)
	}
	return line, err
}

func parseLine(text []byte) (line ledgerLine, problem string) {
	if err := json.Unmarshal(text, &line); err != nil {
		return line, "is not a JSON object of the expected form: " + err.Error()
	}
	switch {
	case !line.Reason.known():
		return line, fmt.Sprintf("has the unknown reason %q", line.Reason)
	case line.Slot == "" || line.Ino == 0 || line.At.IsZero():
		return line, "does not say which entry it means"
	}
	return line, ""
}

// bounded keeps one message from filling a line.
func bounded(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}
