package pins

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// TestContentIsWhatWasRead: whatever the pieces, and however the reader hands it out.
func TestContentIsWhatWasRead(t *testing.T) {
	all := make([]byte, 3*mostPiece+5)
	for i := range all {
		all[i] = byte(i * 7 / 5)
	}
	readers := map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "halves": iotest.HalfReader, "with the end": iotest.DataErrReader,
	}
	for name, as := range readers {
		var b Builder
		var want [][]byte
		for i, size := range []int{0, 1, leastPiece - 1, leastPiece, leastPiece + 1, mostPiece, mostPiece + 1, len(all), 0, 3} {
			want = append(want, all[:size])
			if err := b.Add(fmt.Sprintf("f%d", i), as(bytes.NewReader(all[:size]))); err != nil {
				t.Fatal(err)
			}
		}
		s, faults := b.Snapshot()
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		i := 0
		for e, content := range s.All() {
			var out bytes.Buffer
			n, err := content.WriteTo(&out)
			if !bytes.Equal(out.Bytes(), want[i]) || n != e.Size || err != nil || e.Size != int64(len(want[i])) {
				t.Errorf("%s: %s holds %d bytes, size %d, want %d (%v)", name, e.Path, out.Len(), e.Size, len(want[i]), err)
			}
			i++
		}
	}
}

// TestContentTakesItsSize: files take the memory of their bytes and at most one piece more, be they many or large.
func TestContentTakesItsSize(t *testing.T) {
	for name, files := range map[string]struct{ count, size int }{
		"none": {0, 0}, "empty": {100, 0}, "one small": {1, 10}, "many small": {5000, 33}, "odd": {40, mostPiece/2 + 1}, "large": {2, 5<<20 + 1},
	} {
		var b Builder
		for i := range files.count {
			if err := b.Add(fmt.Sprint(i), strings.NewReader(strings.Repeat("x", files.size))); err != nil {
				t.Fatal(err)
			}
		}
		total := int64(files.count * files.size)
		if b.shelf.held < total || b.shelf.held > total+min(max(total, leastPiece), mostPiece) {
			t.Errorf("%s: %d bytes are held for %d", name, b.shelf.held, total)
		}
	}
}

// TestCutFilesAreNoFiles: a reader that says io.ErrUnexpectedEOF was cut short, which is no end.
func TestCutFilesAreNoFiles(t *testing.T) {
	for _, before := range []int{0, 1, leastPiece, mostPiece + 1} {
		var b Builder
		r := io.MultiReader(bytes.NewReader(make([]byte, before)), iotest.ErrReader(io.ErrUnexpectedEOF))
		if err := b.Add("a", r); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut after %d bytes: %v", before, err)
		}
	}
}

func TestWritersErrorsEndContent(t *testing.T) {
	content := Content{[]byte("ab"), []byte("cd"), []byte("ef")}
	broken := errors.New("broken")
	w := &failingWriter{after: 2, err: broken}
	if n, err := content.WriteTo(w); n != 4 || !errors.Is(err, broken) || w.calls != 2 {
		t.Errorf("%d bytes in %d calls, %v", n, w.calls, err)
	}
}

// failingWriter takes everything and fails from that call on.
type failingWriter struct {
	after, calls int
	err          error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.calls++; w.calls >= w.after {
		return len(p), w.err
	}
	return len(p), nil
}

// TestForget: the content is gone from every copy, and nothing else is.
func TestForget(t *testing.T) {
	s, _ := snapshotOf(t, []file{{"a", "x"}, {"b/c", "y"}})
	other := s
	s.Forget()
	other.Forget()
	Snapshot{}.Forget()
	if again, _ := snapshotOf(t, []file{{"a", "x"}, {"b/c", "y"}}); s.Digest() != again.Digest() || !slices.Equal(s.Files(), again.Files()) || s.Bytes() != 2 || !s.Has("b/c") {
		t.Errorf("%v of %d bytes", s.Files(), s.Bytes())
	}
	defer func() {
		if recover() == nil {
			t.Error("content that was forgotten is still there")
		}
	}()
	for range other.All() {
	}
}
