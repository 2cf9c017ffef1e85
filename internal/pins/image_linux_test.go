package pins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// imageContent is more than one huge page, and no whole number of them.
var imageContent = bytes.Repeat([]byte("what was hashed\n"), (2*hugePage+5000)/16)

// imageOf is a sealed copy of a file of its own.
func imageOf(t *testing.T) *Image {
	t.Helper()
	image, file, err := takeImage(context.Background(), "/file", contentFile(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { image.Close() })
	if file.SHA256 != sha256.Sum256(imageContent) || file.Size != int64(len(imageContent)) {
		t.Fatalf("taken as %+v", file)
	}
	return image
}

func contentFile(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(canonicalTemp(t), "file")
	writeFile(t, path, imageContent)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// unsealed is what a copy is before it is sealed.
func unsealed(t *testing.T) *os.File {
	t.Helper()
	f, err := newImageFile(int64(len(imageContent)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.Write(imageContent); err != nil {
		t.Fatal(err)
	}
	if err := f.Chmod(0o755); err != nil {
		t.Fatal(err)
	}
	return f
}

// attacks are what may be tried on a copy by whoever has its descriptor, or reaches it in /proc: a process of this user, or
// root. The memory of the daemon, by /proc/PID/mem or process_vm_writev, is none of them: who writes there needs no copy of
// Node. All of the image's memory that the daemon has mapped is a private mapping, and only while it hashes.
var attacks = []struct {
	name string
	act  func(f *os.File) error
}{
	{"write", func(f *os.File) error { _, err := f.WriteAt([]byte("x"), 0); return err }},
	{"write at the end", func(f *os.File) error { _, err := f.WriteAt([]byte("x"), int64(len(imageContent))); return err }},
	{"write by a descriptor of its own", byPath(os.O_RDWR, func(f *os.File) error { _, err := f.WriteAt([]byte("x"), 0); return err })},
	{"append by a descriptor of its own", byPath(os.O_WRONLY|os.O_APPEND, func(f *os.File) error { _, err := f.Write([]byte("x")); return err })},
	{"open and truncate", byPath(os.O_RDWR|os.O_TRUNC, func(*os.File) error { return nil })},
	{"made writable for all, and written", func(f *os.File) error {
		return errors.Join(f.Chmod(0o777), byPath(os.O_RDWR, func(f *os.File) error { _, err := f.WriteAt([]byte("x"), 0); return err })(f), f.Chmod(0o555))
	}},
	{"truncate", func(f *os.File) error { return os.Truncate(procPath(f), 5) }},
	{"shrink", func(f *os.File) error { return f.Truncate(5) }},
	{"grow", func(f *os.File) error { return f.Truncate(int64(len(imageContent)) + 1) }},
	{"punch a hole", func(f *os.File) error {
		return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 4096)
	}},
	{"allocate more", func(f *os.File) error { return unix.Fallocate(int(f.Fd()), 0, int64(len(imageContent)), 4096) }},
	{"splice into", func(f *os.File) error {
		from, err := os.Open("/proc/self/exe")
		if err != nil {
			return err
		}
		defer from.Close()
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err = unix.Sendfile(int(f.Fd()), int(from.Fd()), nil, 4096)
		return err
	}},
	{"map shared and writable", func(f *os.File) error {
		m, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			m[0] = 'x'
			err = unix.Munmap(m)
		}
		return err
	}},
	{"map shared, then made writable", func(f *os.File) error {
		m, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		err = unix.Mprotect(m, unix.PROT_READ|unix.PROT_WRITE)
		if err == nil {
			m[0] = 'x'
		}
		return errors.Join(err, unix.Munmap(m))
	}},
	{"dropped from a mapping", func(f *os.File) error {
		m, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		return errors.Join(unix.Madvise(m, unix.MADV_REMOVE), unix.Munmap(m))
	}},
	{"another seal", func(f *os.File) error {
		_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE)
		return err
	}},
}

func procPath(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }

// byPath opens f once more, by way of /proc.
func byPath(flags int, act func(*os.File) error) func(*os.File) error {
	return func(f *os.File) error {
		again, err := os.OpenFile(procPath(f), flags, 0)
		if err != nil {
			return err
		}
		return errors.Join(act(again), again.Close())
	}
}

// TestNobodyChangesAnImage: what works on a copy before it is sealed is refused afterwards, and the content stays.
func TestNobodyChangesAnImage(t *testing.T) {
	image := imageOf(t)
	for _, a := range attacks {
		if err := a.act(unsealed(t)); err != nil {
			t.Errorf("%s: the control: %v", a.name, err)
		}
		if err := a.act(image.File()); err == nil {
			t.Errorf("%s: it was allowed", a.name)
		}
	}
	if got, err := io.ReadAll(io.NewSectionReader(image.File(), 0, 1<<30)); err != nil || !bytes.Equal(got, imageContent) {
		t.Errorf("%d bytes, other than what was sealed, %v", len(got), err)
	}
	if err := image.Check(); err != nil {
		t.Error(err)
	}
}

// TestReadingLeavesNoMark: all runs can read a copy, and none is to see that another did. An ordinary file in memory is the control: until its time
// of reading has moved, the clock of files may have stood still.
func TestReadingLeavesNoMark(t *testing.T) {
	image, plain := imageOf(t).File(), unsealed(t)
	read := func(f *os.File) unix.Timespec {
		var st unix.Stat_t
		if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
			t.Fatal(err)
		}
		if err := unix.Fstat(int(f.Fd()), &st); err != nil {
			t.Fatal(err)
		}
		return st.Atim
	}
	ofImage, ofPlain := read(image), read(plain)
	for tries := 0; read(plain) == ofPlain; tries++ {
		if tries == 1<<24 {
			t.Fatal("the control: the times of a file in memory do not tell of a reading")
		}
	}
	if read(image) != ofImage {
		t.Error("a reading of a copy is seen by others")
	}
}

// TestImageCheck: a descriptor that is something else now is told.
func TestImageCheck(t *testing.T) {
	image := imageOf(t)
	if err := image.File().Chmod(0o755); err != nil {
		t.Fatal(err)
	}
	if image.Check() == nil {
		t.Error("another mode is not told")
	}
	if err := image.File().Chmod(imageMode); err != nil || image.Check() != nil {
		t.Errorf("%v, then %v", err, image.Check())
	}
	if err := image.File().Chmod(0o444); err == nil {
		t.Error("it can be made not executable")
	}
	for name, other := range map[string]*os.File{"another image": imageOf(t).File(), "unsealed": unsealed(t), "a file": contentFile(t)} {
		swapped := *image
		swapped.file = other
		if swapped.Check() == nil {
			t.Errorf("%s is not told", name)
		}
	}
	if err := image.Close(); err != nil || image.Check() == nil {
		t.Errorf("closed with %v, and not told", err)
	}
}

// TestImageOfAMappedFile: who has the file mapped goes on changing the file, and not the copy.
func TestImageOfAMappedFile(t *testing.T) {
	f := contentFile(t)
	mapped, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped)
	mapped[0] = 'W'
	image, file, err := takeImage(context.Background(), "/file", f)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	mapped[1] = 'H'
	copied, err := io.ReadAll(io.NewSectionReader(image.File(), 0, 1<<30))
	if err != nil || !bytes.HasPrefix(copied, []byte("What")) || sha256.Sum256(copied) != file.SHA256 {
		t.Errorf("the copy begins %q, %v", copied[:4], err)
	}
	if now, err := os.ReadFile(f.Name()); err != nil || !bytes.HasPrefix(now, []byte("WHat")) {
		t.Errorf("the control: the file begins %q, %v", now[:4], err)
	}
}

// TestNoSealBesideAWriter: a copy that somebody has mapped for writing is not sealed; without them it is.
func TestNoSealBesideAWriter(t *testing.T) {
	f := unsealed(t)
	mapped, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	if err := sealImageFile(f); err != errInUse {
		t.Errorf("beside a writer: %v", err)
	}
	if _, err := lookAtImage(f); err == nil {
		t.Error("a copy without seals passes")
	}
	if err := unix.Munmap(mapped); err != nil {
		t.Fatal(err)
	}
	if err := sealImageFile(f); err != nil {
		t.Errorf("without one: %v", err)
	}
}

// meanwhile is a context that acts the nth time it is asked, which is between two pieces.
type meanwhile struct {
	context.Context
	left int
	act  func()
	once sync.Once
}

func (m *meanwhile) Err() error {
	if m.left--; m.left < 0 {
		m.once.Do(m.act)
	}
	return m.Context.Err()
}

// TestImageOfAFileThatChanges: at whatever moment, a change of the file while it is copied or hashed is a refusal, and so is
// a cancelled context; nothing stays open.
func TestImageOfAFileThatChanges(t *testing.T) {
	for moment := range 9 {
		for name, act := range map[string]func(f *os.File, cancel func()) error{
			"written":   func(f *os.File, _ func()) error { return touch(f.Name(), rewrite) },
			"shortened": func(f *os.File, _ func()) error { return f.Truncate(7) },
			"cancelled": func(_ *os.File, cancel func()) error { cancel(); return nil },
		} {
			f := contentFile(t)
			before := countDescriptors(t)
			parent, cancel := context.WithCancel(context.Background())
			acted := false
			ctx := &meanwhile{Context: parent, left: moment, act: func() {
				acted = true
				if err := act(f, cancel); err != nil {
					t.Error(err)
				}
			}}
			image, _, err := takeImage(ctx, f.Name(), f)
			var unavailable *UnavailableError
			if !acted || image != nil || name == "cancelled" != errors.Is(err, context.Canceled) || name != "cancelled" && !errors.As(err, &unavailable) {
				t.Errorf("%s at moment %d (%v): %v, %v", name, moment, acted, image, err)
			}
			if after := countDescriptors(t); after != before {
				t.Errorf("%s at moment %d: %d descriptors, %d before", name, moment, after, before)
			}
			cancel()
		}
	}
}

func countDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestMapAligned: at a multiple of a huge page, whatever the size.
func TestMapAligned(t *testing.T) {
	for _, size := range []int{1, 4096, hugePage - 1, hugePage, len(imageContent)} {
		f := unsealed(t)
		mapping, unmap, err := mapAligned(f, size)
		if err != nil {
			t.Fatal(err)
		}
		if uintptr(unsafe.Pointer(&mapping[0]))%hugePage != 0 || !bytes.Equal(mapping, imageContent[:size]) {
			t.Errorf("%d bytes at %p", size, &mapping[0])
		}
		unmap()
	}
}

// TestNoMemoryNoSeal: a copy that finds no room is no fault of the file.
func TestNoMemoryNoSeal(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	f := contentFile(t)
	var unsealable *UnsealableError
	if err := copyTo(context.Background(), full, f.Name(), f, int64(len(imageContent))); !errors.As(err, &unsealable) {
		t.Errorf("%v", err)
	}
	if err := copyTo(context.Background(), unsealed(t), f.Name(), f, int64(len(imageContent))); err != nil {
		t.Errorf("the control: %v", err)
	}
}

// TestNoSealBeyondTheLimitOfFileSizes: the signal that the kernel would send ends a Go program.
func TestNoSealBeyondTheLimitOfFileSizes(t *testing.T) {
	f := contentFile(t)
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_FSIZE, &was)
	for _, row := range []struct {
		limit  int
		sealed bool
	}{{len(imageContent), true}, {len(imageContent) - 1, false}} {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(row.limit), Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		image, _, err := takeImage(context.Background(), f.Name(), f)
		var unsealable *UnsealableError
		if row.sealed != (err == nil) || !row.sealed && !errors.As(err, &unsealable) {
			t.Errorf("with a limit of %d bytes: %v", row.limit, err)
		}
		if image != nil {
			image.Close()
		}
	}
}
