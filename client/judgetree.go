package client

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"confined/internal/pins"
)

// named is how many of the largest a message names.
const named = 3

// judge adds what is wrong with the files that were listed, before any of them is
// read: their number, their sizes, and their paths by the rules of snapshots.
func (w *walk) judge() {
	switch {
	case w.entries >= maxEntries:
		w.fault(TooManyFiles, ".", "there are more than %d entries, and a snapshot holds at most %d files%s", maxEntries, pins.MaxSnapshotFiles, w.fullest())
	case len(w.files) > pins.MaxSnapshotFiles:
		w.fault(TooManyFiles, w.files[pins.MaxSnapshotFiles].path, "there are %d files, and a snapshot holds at most %d%s", len(w.files), pins.MaxSnapshotFiles, w.fullest())
	}
	var bytes int64
	var b pins.Builder
	for i, f := range w.files {
		bytes += f.size
		if i < pins.MaxSnapshotFiles {
			_ = b.Add(f.path, strings.NewReader(""))
		}
	}
	if bytes > pins.MaxSnapshotBytes {
		w.fault(SnapshotTooLarge, w.largest()[0].path, "there are %d bytes, and a snapshot holds at most %d%s", bytes, pins.MaxSnapshotBytes, w.heaviest())
	}
	_, faults := b.Snapshot()
	w.faults = append(w.faults, treeFaults(faults)...)
}

// fullest names the directories at the top that hold most files.
func (w *walk) fullest() string {
	counts := map[string]int{}
	for _, f := range w.files {
		if top, _, below := strings.Cut(f.path, "/"); below {
			counts[top]++
		}
	}
	var tops []string
	for top := range counts {
		tops = append(tops, top)
	}
	slices.SortFunc(tops, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	var out []string
	for _, top := range tops[:min(len(tops), named)] {
		out = append(out, fmt.Sprintf("%q has %d", top, counts[top]))
	}
	return among(out)
}

// heaviest names the largest files.
func (w *walk) heaviest() string {
	var out []string
	for _, f := range w.largest() {
		out = append(out, fmt.Sprintf("%.300q has %d", f.path, f.size))
	}
	return among(out)
}

func (w *walk) largest() []listed {
	files := slices.Clone(w.files)
	slices.SortStableFunc(files, func(a, b listed) int { return cmp.Compare(b.size, a.size) })
	return files[:min(len(files), named)]
}

func among(largest []string) string {
	if len(largest) == 0 {
		return ""
	}
	return ": " + strings.Join(largest, ", ") + "; exclude what the run does not read"
}
