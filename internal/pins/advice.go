package pins

import (
	"crypto/sha256"
	"path"
	"slices"
	"strings"
)

// DigestIf is the digest that the snapshot would have if each file had the path that rename gives it, and if those that
// rename drops were not there. It is for explaining a digest, so nothing says that such a snapshot could exist.
func (s Snapshot) DigestIf(rename func(path string) (to string, kept bool)) Digest {
	entries := make([]Entry, 0, len(s.entries))
	for _, e := range s.entries {
		if to, kept := rename(e.Path); kept {
			e.Path = to
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return DigestOf(sha256.Sum256(snapshotText(protocolOf(entries), entries)))
}

// IsStray says that a file of this path is one that file managers, editors and tools leave behind, so that it is seldom
// part of what somebody meant to send.
func IsStray(p string) bool {
	base := path.Base(p)
	switch base {
	case ".DS_Store", "Thumbs.db", "desktop.ini":
		return true
	}
	return strings.HasPrefix(base, "._") || strings.HasSuffix(base, ".swp") ||
		within(p, ".git") || within(p, "__MACOSX") || within(p, "node_modules/.cache")
}

// within says whether a directory of that name, which may have several segments, is on the way to p.
func within(p, dir string) bool {
	return strings.Contains("/"+p, "/"+dir+"/")
}
