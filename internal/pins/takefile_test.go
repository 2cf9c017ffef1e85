package pins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// takePath is takeFile of a fresh file with that content.
func takePath(t *testing.T, content []byte, look func(path string, chunk []byte)) (RuntimeFile, error) {
	t.Helper()
	path := filepath.Join(canonicalTemp(t), "file")
	writeFile(t, path, content)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return takeFile(context.Background(), path, f, func(chunk []byte) { look(path, chunk) })
}

func TestTakeFileOfEverySize(t *testing.T) {
	for _, size := range []int{0, 1, chunkOverlap, readChunk - 1, readChunk, readChunk + 1, 2*readChunk + chunkOverlap} {
		content := bytes.Repeat([]byte("0123456789ab"), size/12+1)[:size]
		got, err := takePath(t, content, func(string, []byte) {})
		if err != nil || got.Size != int64(size) || got.SHA256 != sha256.Sum256(content) {
			t.Errorf("%d bytes: size %d, %v", size, got.Size, err)
		}
	}
}

// TestSpotterAcrossChunks puts the text at every offset around the end of a chunk, and a part of it for control.
func TestSpotterAcrossChunks(t *testing.T) {
	spot := func(at int, text string) bool {
		content := make([]byte, readChunk+1000)
		copy(content[at:], text)
		var s spotter
		if _, err := takePath(t, content, func(_ string, chunk []byte) { s.look(chunk) }); err != nil {
			t.Fatal(err)
		}
		return s.found
	}
	for _, at := range []int{0, readChunk - len(sharedBuiltin) - 1, readChunk - len(sharedBuiltin), readChunk - 7, readChunk - 1, readChunk, readChunk + 1000 - len(sharedBuiltin)} {
		if !spot(at, sharedBuiltin) {
			t.Errorf("the text at %d is not seen", at)
		}
		if spot(at, sharedBuiltin[:len(sharedBuiltin)-1]) {
			t.Errorf("a part of the text at %d is taken for all of it", at)
		}
	}
}

func TestTakeFileSeesChanges(t *testing.T) {
	rows := map[string]func(path string) error{
		"appended to": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("more")
			return errors.Join(err, f.Close())
		},
		"cut":       func(path string) error { return os.Truncate(path, 10) },
		"unlinked":  os.Remove, // the link count changes, and with it the change time
		"hard link": func(path string) error { return os.Link(path, path+"2") },
	}
	for name, change := range rows {
		done := false
		_, err := takePath(t, []byte(strings.Repeat("x", 2*readChunk)), func(path string, _ []byte) {
			if !done {
				done = true
				if err := touch(path, change); err != nil {
					t.Error(err)
				}
			}
		})
		var unavailable *UnavailableError
		if !errors.As(err, &unavailable) || unavailable.Problem != "changes while it is read" {
			t.Errorf("%s while it is read: %v", name, err)
		}
	}
}

// touch makes change to the file at path at a time that its change time can tell from before: first its mode is changed
// until the clock of the file system has moved on.
func touch(path string, change func(path string) error) error {
	before, err := os.Stat(path)
	if err != nil {
		return err
	}
	was, err := fileID(before)
	for err == nil {
		if err = os.Chmod(path, before.Mode()); err != nil {
			break
		}
		now, statErr := os.Stat(path)
		if statErr != nil {
			return statErr
		}
		id, idErr := fileID(now)
		if idErr != nil || id != was {
			return errors.Join(idErr, change(path))
		}
	}
	return err
}

func TestTakeFileStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	path := filepath.Join(canonicalTemp(t), "file")
	writeFile(t, path, make([]byte, 3*readChunk))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	chunks := 0
	if _, err = takeFile(ctx, path, f, func([]byte) { chunks++; cancel() }); !errors.Is(err, context.Canceled) || chunks != 1 {
		t.Errorf("%v after %d chunks, want context.Canceled after 1", err, chunks)
	}
}

func TestTakeFileRefusesWhatIsTooLarge(t *testing.T) {
	path := filepath.Join(canonicalTemp(t), "file")
	writeFile(t, path, nil)
	if err := os.Truncate(path, maxRuntimeFile+1); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := takeFile(context.Background(), path, f, nil); err == nil || !strings.Contains(err.Error(), "more than the bound") {
		t.Errorf("%v", err)
	}
}

func TestHoldsDir(t *testing.T) {
	array := "....\x03/lib/x86_64-linux-gnu/\x00/usr/lib/x86_64-linux-gnu/\x00/usr/lib/\x00/usr/lib64"
	found := dirSpotter{candidates: []string{"/usr/lib64", "/usr/lib", "/lib64", "/lib", "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"}, found: map[string]bool{}}
	found.look([]byte(array))
	if want := []string{"/usr/lib", "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"}; !slices.Equal(found.dirs(), want) {
		t.Errorf("found %q, want %q", found.dirs(), want)
	}
	if holdsDir([]byte("/lib/\x00 seen before"), "/lib") {
		t.Error("what the chunk before ended with is taken for a directory")
	}
	if !holdsDir([]byte("/usr/lib/\x00/lib/\x00"), "/lib") {
		t.Error("/lib after /usr/lib is not seen")
	}
}
