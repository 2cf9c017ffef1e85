package pins

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The fuzzer's bytes are a list of files: "path TAB content NEWLINE".
func snapshotSeeds() []string {
	return []string{
		"", "main.mjs\tconsole.log('hi')\n", "b/x.js\t\na.txt\thello\nB.txt\t\x00\xff\n", "node_modules/@a/b+c/index.js\t1\n",
		"a\t\na\t\n", "a\t\nA\t\n", "a\t\na/b\t\n", "a/b\t\nA/c\t\n", "..\t\n", "a-b\t1\na/b\t2\na.b\t3\n", "a\tb\tc\n",
	}
}

func TestSnapshotSeeds(t *testing.T) {
	if len(snapshotSeeds()) == 0 {
		t.Fatal("FuzzSnapshot has no seeds")
	}
}

func decodeFiles(data string) []file {
	var files []file
	for line := range strings.Lines(data) {
		path, content, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		files = append(files, file{path, content})
	}
	return files
}

// FuzzSnapshot: a list of files has faults exactly when the rules, stated again here pair by pair, forbid it; the digest is
// that of the text written in another way; it does not depend on the order of adding; and the text gives back exactly
// the files, so that no two snapshots share one.
func FuzzSnapshot(f *testing.F) {
	for _, s := range snapshotSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		files := decodeFiles(data)
		if len(files) > 60 {
			return // the pairs would take too long
		}
		s, faults := snapshotOf(t, files)
		if allowed := filesAllowed(files); allowed != (len(faults) == 0) {
			t.Fatalf("faults %v, the rules allow it: %v", faults, allowed)
		}
		slices.Reverse(files)
		again, againFaults := snapshotOf(t, files)
		if again.Digest() != s.Digest() || (len(againFaults) == 0) != (len(faults) == 0) {
			t.Fatalf("in reverse order: digest %s faults %v, were %s %v", again.Digest(), againFaults, s.Digest(), faults)
		}
		if len(faults) > 0 {
			return
		}
		if want := plainDigest(files); s.Digest() != want {
			t.Fatalf("digest %s, want %s", s.Digest(), want)
		}
		checkText(t, s)
	})
}

// filesAllowed states the rules of paths over all pairs of files.
func filesAllowed(files []file) bool {
	for i, a := range files {
		if CheckPath(a.path) != nil {
			return false
		}
		for _, b := range files[:i] {
			if strings.EqualFold(a.path, b.path) || clash(a.path, b.path) || clash(b.path, a.path) {
				return false
			}
		}
	}
	return true
}

// clash reports whether the file a, or a directory of a, cannot be beside b.
func clash(a, b string) bool {
	if len(b) > len(a) && b[len(a)] == '/' && strings.EqualFold(a, b[:len(a)]) {
		return true
	}
	for i, c := range a {
		if c == '/' && len(b) > i && b[i] == '/' && a[:i] != b[:i] && strings.EqualFold(a[:i], b[:i]) {
			return true
		}
	}
	return false
}

// plainDigest is the definition, as one would write it first.
func plainDigest(files []file) Digest {
	protocol := "1"
	var lines []string
	for _, f := range files {
		if strings.ContainsAny(f.path, "@+") {
			protocol = "2"
		}
		lines = append(lines, fmt.Sprintf("%s\t%d\t%x\n", f.path, len(f.content), sha256.Sum256([]byte(f.content))))
	}
	// Sorting lines is sorting paths: the tab that ends a path is below every character of paths.
	slices.Sort(lines)
	return Digest(fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("sf-confined-snapshot/"+protocol+"\n"+strings.Join(lines, "")))))
}

// checkText reads the digest's text back.
func checkText(t *testing.T, s Snapshot) {
	t.Helper()
	text := snapshotText(s.Protocol(), s.Files())
	lines := strings.SplitAfter(string(text), "\n")
	if lines[0] != s.Protocol()+"\n" || lines[len(lines)-1] != "" {
		t.Fatalf("text %q", text)
	}
	var entries []Entry
	for _, line := range lines[1 : len(lines)-1] {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		size, err := strconv.ParseInt(fields[1], 10, 64)
		sum, hexErr := hex.DecodeString(fields[2])
		if len(fields) != 3 || err != nil || hexErr != nil {
			t.Fatalf("line %q", line)
		}
		entries = append(entries, Entry{fields[0], size, [32]byte(sum)})
	}
	if !slices.Equal(entries, s.Files()) || !bytes.Equal(snapshotText(protocolOf(entries), entries), text) {
		t.Fatalf("%q is not the text of one snapshot", text)
	}
}
