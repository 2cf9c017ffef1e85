package ns

import (
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// obstruct makes the kernel refuse to delete what is in a directory of ours: by its mode, or for root, whom no mode binds, by making it
// immutable.
func obstruct(t *testing.T, dir string) {
	t.Helper()
	if !isRoot() {
		must(t, os.Chmod(dir, 0o500))
		t.Cleanup(func() { os.Chmod(dir, 0o700) })
		return
	}
	const immutable = 0x10 // FS_IMMUTABLE_FL
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	must(t, err)
	flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
	must(t, err)
	if err := unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|immutable); err != nil {
		t.Fatalf("root cannot make %s immutable: run the test with CAP_LINUX_IMMUTABLE: %v", dir, err)
	}
	t.Cleanup(func() {
		unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags)
		unix.Close(fd)
	})
}

// TestRemovalFailed: the system refuses the deletion, and the slot stays with the system's reason.
func TestRemovalFailed(t *testing.T) {
	w := newWorld(t, 8)
	s := w.filled()
	obstruct(t, s.Path()+"/program/lib/deep")
	_, err := s.Verify()
	must(t, err)
	before := tree(t, w.root)
	stays(t, w, s.Remove(NamespaceChanged), before, RemovalFailed)
	if row := w.row(w.newPool(8), "slot-0"); row.State != Quarantined || row.Reason != RemovalFailed || row.RunID != "run-1" {
		t.Errorf("%+v", row)
	}
}

// TestTmpfsIsRefused: a real one.
func TestTmpfsIsRefused(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "ns-test-")
	if err != nil {
		t.Fatalf("this test needs a tmpfs on /dev/shm: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	refusedWith(t, "tmpfs", dir, "/state", "name a directory on ext4, xfs or btrfs")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestProcIsRefused: a file system without any of the three properties, canonical, ours and closed to others.
func TestProcIsRefused(t *testing.T) {
	refusedWith(t, "proc by a link", "/proc/self/fd", "/state", "name it "+realpathOfSelf(t)+"/fd")
	refusedWith(t, "proc", realpathOfSelf(t)+"/fd", "/state", "name a directory on ext4, xfs or btrfs")
}

func realpathOfSelf(t *testing.T) string {
	t.Helper()
	pid, err := os.Readlink("/proc/self")
	must(t, err)
	return "/proc/" + pid
}

// TestOpenWriterIsSeen: a descriptor or a mapping from before Verify could write without moving a ctime that is noted later, so neither may
// exist. Once it is gone the same entries verify, but what was told once is not forgotten.
func TestOpenWriterIsSeen(t *testing.T) {
	for name, hold := range map[string]func(t *testing.T, path string) (letGo func()){
		"descriptor": holdDescriptor, "mapping": holdMapping,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 8)
			s := w.filled()
			path := s.Path() + "/input/data.txt"
			letGo := hold(t, path)
			_, err := s.Verify()
			mismatchAt(t, err, path)
			letGo()
			v, err := s.Verify()
			must(t, err)
			must(t, s.Recheck(v))
			before := tree(t, w.root)
			stays(t, w, s.Remove(SnapshotMismatch), before, SnapshotMismatch)
		})
	}
}

func holdDescriptor(t *testing.T, path string) func() {
	t.Helper()
	must(t, os.Chmod(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	return func() { must(t, f.Close()) }
}

func holdMapping(t *testing.T, path string) func() {
	t.Helper()
	must(t, os.Chmod(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	mapped, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(t, err)
	must(t, f.Close())
	mapped[0] ^= 1
	mapped[0] ^= 1 // its page is writable and dirty now: further writes are seen by nobody
	return func() { must(t, unix.Munmap(mapped)) }
}

// TestMappedWriteIsSeen: a mapping made after Verify moves ctime when it is first written to, also when it writes what was there.
func TestMappedWriteIsSeen(t *testing.T) {
	w := newWorld(t, 8)
	s, v := w.verified()
	letClockTick(t)
	path := s.Path() + "/input/data.txt"
	must(t, os.Chmod(path, 0o600))
	s.tree.child("input").child("data.txt").ctimeNs = mustStat(t, path).ctimeNs // so that it is not the chmod that is seen
	letClockTick(t)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	mapped, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(t, err)
	defer unix.Munmap(mapped)
	must(t, s.Recheck(v))
	mapped[0] ^= 1
	mapped[0] ^= 1
	mismatchAt(t, s.Recheck(v), path)
}

func mustStat(t *testing.T, path string) facts {
	t.Helper()
	f, err := statAt(unix.AT_FDCWD, path)
	must(t, err)
	return f
}

// TestRootNeedsLeases: a root daemon that may take no leases on other users' files is told before it makes any; an ordinary user, whose
// slots are its own, needs no capability.
func TestRootNeedsLeases(t *testing.T) {
	w := newWorld(t, 8)
	out, err := helperCommand(t, "no-lease", w.root, w.state).Output()
	must(t, err)
	want := "<nil>\n<nil>\n"
	if isRoot() {
		want = "<nil>\nthis process runs as root without CAP_LEASE, so that an open writer of a slot's files, which belong to another user, could not be seen; " +
			"cure: give it CAP_LEASE, or run it as an ordinary user\n"
	}
	if string(out) != want {
		t.Errorf("got  %swant %s", out, want)
	}
}

// helpHost does what only Linux has.
func helpHost(act string, pool *Pool, args []string) error {
	switch act {
	case "no-lease":
		return helpNoLease(pool)
	case "mounted":
		return helpMounted(pool, args[0])
	case "use":
		return helpUse(args[0], args[1])
	}
	return fmt.Errorf("no such act")
}

// helpNoLease opens the root with the capabilities it has and then without CAP_LEASE, and says what came of each.
func helpNoLease(pool *Pool) error {
	runtime.LockOSThread()
	fmt.Println(openAndClose(pool))
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return err
	}
	sets[unix.CAP_LEASE/32].Effective &^= 1 << (unix.CAP_LEASE % 32)
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return err
	}
	fmt.Println(openAndClose(pool))
	return nil
}

func openAndClose(pool *Pool) error {
	root, err := pool.Open()
	if err != nil {
		return err
	}
	return root.Close()
}

// TestBrokenLease: a writer that comes while a file is read breaks the lease, which is noticed; the signal that says so does no harm.
func TestBrokenLease(t *testing.T) {
	path := fitDir(t) + "/file"
	must(t, os.WriteFile(path, []byte("x"), 0o600))
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(fd)
	must(t, takeLease(fd))
	if intact, err := leaseIntact(fd); err != nil || !intact {
		t.Errorf("intact %v, %v", intact, err)
	}
	if writer, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("a writer got %d, %v", writer, err)
	}
	if intact, err := leaseIntact(fd); err != nil || intact {
		t.Errorf("after a writer came: intact %v, %v", intact, err)
	}
	must(t, dropLease(fd))
	writer, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(writer)
	if err := takeLease(fd); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("with a writer: %v", err)
	}
}

// TestWriterDuringVerify: a writer that comes in the middle of the reading is seen, though its open had to wait and nothing was written.
func TestWriterDuringVerify(t *testing.T) {
	w := newWorld(t, 8)
	s := claim(t, w.pool)
	big := snapshot(t, map[string]string{"big": strings.Repeat("x", 32<<20)})
	must(t, s.Materialise("r", big, inputOf(t), ourselves()))
	path := s.Path() + "/program/big"
	must(t, os.Chmod(path, 0o600))
	for caught := false; !caught; { // until the writer came while the lease was held
		var done atomic.Bool
		came := make(chan bool)
		go func() { came <- comeToWrite(path, &done) }()
		_, err := s.Verify()
		done.Store(true)
		if caught = <-came; caught {
			mismatchAt(t, err, path)
		} else {
			must(t, err)
		}
	}
	if d := s.Remove(SnapshotMismatch); d.State != StateQuarantined {
		t.Errorf("%+v", d)
	}
}

// comeToWrite waits for a lease to show in /proc/locks and then asks to write; false when it came too late.
func comeToWrite(path string, done *atomic.Bool) bool {
	f, err := statAt(unix.AT_FDCWD, path)
	for err == nil && !done.Load() {
		locks, _ := os.ReadFile("/proc/locks")
		if !leaseShows(string(locks), f.ino) {
			continue
		}
		writer, openErr := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if openErr == nil {
			unix.Close(writer)
			return false
		}
		return errors.Is(openErr, unix.EWOULDBLOCK)
	}
	return false
}

func leaseShows(locks string, ino uint64) bool {
	for line := range strings.Lines(locks) {
		if strings.Contains(line, "LEASE") && strings.Contains(line, fmt.Sprintf(":%d ", ino)) {
			return true
		}
	}
	return false
}

// TestForksDoNotLookLikeWriters: a daemon launches other runs while one is being written. A child in a user namespace of its own stays between
// fork and exec until its parent has written its id maps, with a copy of every descriptor that was open at the fork.
func TestForksDoNotLookLikeWriters(t *testing.T) {
	w := newWorld(t, 8)
	program := programOf(t)
	var stop atomic.Bool
	done := make(chan error, 2)
	for range cap(done) {
		go func() { done <- forkUntil(&stop) }()
	}
	for range 60 {
		s := claim(t, w.pool)
		must(t, s.Materialise("fork", program, program, ourselves()))
		if _, err := s.Verify(); err != nil {
			t.Error(err)
		}
		if d := s.Remove(SetupIncomplete); d.State != StateRemoved {
			t.Errorf("%+v", d)
		}
	}
	stop.Store(true)
	for range cap(done) {
		must(t, <-done)
	}
	w.mustBeEmpty()
}

func forkUntil(stop *atomic.Bool) error {
	for !stop.Load() {
		cmd := osexec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		}
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return nil
}

// TestRootGivesSlotsAway: a root daemon's slot belongs to the slot's own uid, verifies under leases, and goes away.
func TestRootGivesSlotsAway(t *testing.T) {
	w := newWorld(t, 8)
	s := claim(t, w.pool)
	o := Owner{61000 + s.Number(), 61000 + s.Number()}
	err := s.Materialise("r", programOf(t), inputOf(t), o)
	if !isRoot() {
		if err == nil {
			t.Error("an ordinary user gave files away")
		}
		if d := s.Remove(SetupIncomplete); d.State != StateRemoved {
			t.Errorf("%+v", d)
		}
		return
	}
	must(t, err)
	for path := range tree(t, w.root) {
		if f := mustStat(t, path); int(f.uid) != o.UID || int(f.gid) != o.GID {
			t.Errorf("%s belongs to %d:%d", path, f.uid, f.gid)
		}
	}
	v, err := s.Verify()
	must(t, err)
	must(t, s.Recheck(v))
	if d := s.Remove(NamespaceChanged); d != (Disposition{State: StateRemoved, Durable: true}) {
		t.Errorf("%+v", d)
	}
	w.mustBeEmpty()
}

// TestRemovalThatIsNotDurable: the names are gone, and that they would stay gone is not claimed, when the root cannot be flushed; here
// because the handle is one that no flush works on.
func TestRemovalThatIsNotDurable(t *testing.T) {
	w := newWorld(t, 8)
	s := w.filled()
	weak, err := unix.Open(w.root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	unix.Close(s.root)
	s.root = weak
	if d := s.Remove(SetupIncomplete); d.State != StateRemoved || d.Durable || d.Message == "" {
		t.Errorf("%+v", d)
	}
	w.mustBeEmpty()
}

// TestNoDescriptorStays: whatever becomes of a slot, its descriptors are closed.
func TestNoDescriptorStays(t *testing.T) {
	w := newWorld(t, 64)
	before := openDescriptors(t)
	for range 3 {
		s, v := w.verified()
		must(t, s.Recheck(v))
		s.Remove(NamespaceChanged)
		w.filled().Quarantine(Unresolved, "x")
		changed := w.filled()
		must(t, os.WriteFile(changed.Path()+"/home/x", nil, 0o600))
		changed.Verify()
		changed.Remove(SnapshotMismatch)
		broken := claim(t, w.pool)
		must(t, os.Mkdir(broken.Path()+"/canary", 0o700))
		broken.Materialise("r", programOf(t), inputOf(t), ourselves())
		broken.Remove(SetupIncomplete)
		_, err := w.pool.List()
		must(t, err)
		for _, row := range []string{changed.Name(), broken.Name()} {
			tag := w.show(row).Tag
			w.pool.Release(t.Context(), row, "*")
			w.mustRelease(row, tag)
		}
		w.pool.Show(t.Context(), "slot-63")
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors became %d", before, after)
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(fds)
}
