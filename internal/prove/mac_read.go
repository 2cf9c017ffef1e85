package prove

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// startText is what a process was started with.
type startText struct {
	path                   string // of what was executed
	arguments, environment []string
}

// parseStart reads what sysctl kern.procargs2 tells of a process: the number of arguments (4 bytes, little-endian), the path of what was executed,
// zeros, the arguments and the variables, each with a zero at its end. The first empty string after the arguments ends the variables; what follows
// is the kernel's own. This layout is what ps and others rely on; nobody has compared it with a Mac yet.
func parseStart(text []byte) (startText, error) {
	const size = 4
	if len(text) < size {
		return startText{}, errors.New("kern.procargs2 is too short")
	}
	count, rest := binary.LittleEndian.Uint32(text), text[size:]
	path, rest, whole := bytes.Cut(rest, []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	if !whole || uint64(count) > uint64(len(rest)) {
		return startText{}, errors.New("kern.procargs2 ends within the arguments")
	}
	s := startText{path: string(path)}
	for range count {
		word, after, whole := bytes.Cut(rest, []byte{0})
		if !whole {
			return startText{}, errors.New("kern.procargs2 ends within the arguments")
		}
		s.arguments, rest = append(s.arguments, string(word)), after
	}
	for len(rest) > 0 && rest[0] != 0 {
		word, after, _ := bytes.Cut(rest, []byte{0})
		s.environment, rest = append(s.environment, string(word)), after
	}
	return s, nil
}

// openFile is what lsof says of one descriptor.
type openFile struct {
	number int
	kind   string // REG, DIR, PIPE, KQUEUE, unix, IPv4 …
	name   string
}

// parseOpenFiles reads what `lsof -F ftn` prints of one process: a line for each field, its letter first; f begins a file. What has no number,
// such as the working directory and the libraries, is left out.
func parseOpenFiles(text string) []openFile {
	var all []openFile
	var current *openFile
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		field, value := line[0], line[1:]
		switch {
		case field == 'f':
			current = nil
			if number, err := strconv.Atoi(value); err == nil && number >= 0 {
				all = append(all, openFile{number: number})
				current = &all[len(all)-1]
			}
		case field == 't' && current != nil:
			current.kind = value
		case field == 'n' && current != nil:
			current.name = value
		}
	}
	return all
}

// carelessFiles are the descriptors that are neither a run's nor Node's own, whatever their kind. A run has pipes. Beside its first three
// descriptors Node has event queues, and /dev/null for each loop with a stream, which libuv keeps for when descriptors run out.
func carelessFiles(open []openFile) []openFile {
	return slices.DeleteFunc(slices.Clone(open), func(f openFile) bool {
		switch f.kind {
		case "PIPE":
			return true
		case "KQUEUE":
			return f.number > 2
		case "CHR":
			return f.number > 2 && f.name == "/dev/null"
		}
		return false
	})
}

// stateName is a state of a process by the letter that ps has for it, from the number that macOS gives it (sys/proc.h: SIDL 1, SRUN 2, SSLEEP 3,
// SSTOP 4, SZOMB 5).
func stateName(state int8) string {
	const letters = "?IRSTZ"
	if state < 0 || int(state) >= len(letters) {
		return "?"
	}
	return letters[state : state+1]
}
