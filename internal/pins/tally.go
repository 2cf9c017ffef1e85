package pins

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	talliedFolders = 4096 // folders that a tally tells apart; the files of more count for the known ones they lie in
	talliedDepth   = 4    // segments of the deepest of them
	talliedNames   = 3    // that people are told
)

// tally weighs the folders of a snapshot while it is read, so that the refusal of one that is too large can name what
// makes it so. Its size is bounded, whatever it is given; paths that no snapshot can hold are left out.
type tally struct {
	flat    load            // files in no folder
	folders map[string]load // by path
	largest []heavy         // the largest files, at most talliedNames, the largest first
}

type load struct{ files, bytes int64 }

func (l load) plus(m load) load { return load{l.files + m.files, l.bytes + m.bytes} }

// heavy is a file or folder and how much of the snapshot it is. The path is empty for all files that are in no folder.
type heavy struct {
	path string
	load
}

// add counts one file.
func (t *tally) add(path string, bytes int64) {
	if CheckPath(path) != nil {
		return
	}
	one := load{1, bytes}
	t.largest = append(t.largest, heavy{path, one})
	slices.SortStableFunc(t.largest, func(a, b heavy) int { return cmp.Compare(b.bytes, a.bytes) })
	t.largest = t.largest[:min(len(t.largest), talliedNames)]
	if !strings.Contains(path, "/") {
		t.flat = t.flat.plus(one)
		return
	}
	if t.folders == nil {
		t.folders = map[string]load{}
	}
	depth := 0
	for dir := range ancestors(path) {
		known, there := t.folders[dir]
		if depth++; depth > talliedDepth || !there && len(t.folders) == talliedFolders {
			return
		}
		t.folders[dir] = known.plus(one)
	}
}

// fullest names the folders with the most files, for people.
func (t *tally) fullest() string {
	return list(t.heaviest(load.countFiles), func(l load) string {
		if l.files == 1 {
			return "1 file"
		}
		return fmt.Sprintf("%d files", l.files)
	})
}

// largestOf names the largest files and folders, for people.
func (t *tally) largestOf() string {
	size := func(l load) string { return fmt.Sprintf("%.1f MiB", float64(l.bytes)/(1<<20)) }
	return list(t.largest, size) + "; by folder " + list(t.heaviest(load.countBytes), size)
}

func (l load) countFiles() int64 { return l.files }
func (l load) countBytes() int64 { return l.bytes }

func list(heavies []heavy, measure func(load) string) string {
	words := make([]string, len(heavies))
	for i, h := range heavies {
		if h.path == "" {
			h.path = "in no folder"
		}
		words[i] = h.path + " (" + measure(h.load) + ")"
	}
	return strings.Join(words, ", ")
}

// heaviest are the heaviest folders of the top level, the heaviest first, each narrowed down to the folder in it that
// holds nine tenths of it.
func (t *tally) heaviest(by func(load) int64) []heavy {
	top := t.inside("")
	if t.flat.files > 0 {
		top = append(top, heavy{"", t.flat})
	}
	slices.SortFunc(top, func(a, b heavy) int {
		return cmp.Or(cmp.Compare(by(b.load), by(a.load)), strings.Compare(a.path, b.path))
	})
	top = top[:min(len(top), talliedNames)]
	for i := range top {
		for inner, ok := t.core(top[i], by); ok; inner, ok = t.core(top[i], by) {
			top[i] = inner
		}
	}
	return top
}

// core is the folder right in h that holds nine tenths of it, if there is one.
func (t *tally) core(h heavy, by func(load) int64) (heavy, bool) {
	if h.path == "" || by(h.load) == 0 {
		return heavy{}, false
	}
	for _, inner := range t.inside(h.path + "/") {
		if by(inner.load)*10 >= by(h.load)*9 {
			return inner, true
		}
	}
	return heavy{}, false
}

// inside are the folders right below prefix, which is empty or ends with a slash.
func (t *tally) inside(prefix string) (out []heavy) {
	for dir, l := range t.folders {
		if rest, below := strings.CutPrefix(dir, prefix); below && !strings.Contains(rest, "/") {
			out = append(out, heavy{dir, l})
		}
	}
	return out
}
