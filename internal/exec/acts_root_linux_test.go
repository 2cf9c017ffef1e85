package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// fill makes n directories in the root.
func fill(w *world, name string, n int) {
	for i := range n {
		w.must(os.Mkdir(filepath.Join(w.root, fmt.Sprintf(name, i)), 0o700))
	}
}

// intrude puts a file of its own into the slot.
func intrude(w *world) { w.must(touch(filepath.Join(w.slot(), "intruder"))) }

// replaceRoot puts another private directory in the root's place.
func (w *world) replaceRoot() {
	w.must(os.Rename(w.root, w.root+"-away"))
	w.must(os.Mkdir(w.root, 0o700))
}

// freezeRoot keeps the root's names as they are: by its mode for an ordinary
// user, by the immutable attribute for root, to whom no directory is closed.
func (w *world) freezeRoot() {
	if os.Geteuid() != 0 {
		w.must(os.Chmod(w.root, 0o500))
		w.after = append(w.after, func() { w.must(os.Chmod(w.root, 0o700)) })
		return
	}
	const immutable = 0x10 // FS_IMMUTABLE_FL
	dir, err := os.Open(w.root)
	w.must(err)
	flags, err := unix.IoctlGetInt(int(dir.Fd()), unix.FS_IOC_GETFLAGS)
	w.must(err)
	w.must(unix.IoctlSetPointerInt(int(dir.Fd()), unix.FS_IOC_SETFLAGS, flags|immutable))
	w.after = append(w.after, func() {
		w.must(unix.IoctlSetPointerInt(int(dir.Fd()), unix.FS_IOC_SETFLAGS, flags))
		w.must(dir.Close())
	})
}

// rival is another daemon, with the same root and a pool and a state directory
// of its own, whose program runs from now until ours is over.
func (w *world) rival() {
	r := &world{t: w.t, boundary: w.boundary, unsealable: w.unsealable, root: w.root, state: w.state + "-rival", node: w.node, max: w.max, proven: w.proven, spec: w.spec}
	w.must(os.Mkdir(r.state, 0o700))
	r.does("wait")
	runs := make(chan struct{})
	r.trace.Admitted = func(AdmittedInfo) { close(runs) }
	e := r.executor()
	r.pin(e)
	req, faults := NewRequest(r.spec, e.MaxDescriptors())
	if faults != nil {
		w.t.Error(faults)
		return
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan Result, 1)
	go func() {
		result, _ := e.Run(ctx, req, nil)
		ended <- result
	}()
	w.after = append(w.after, func() {
		cancel()
		observedClean.stopped(StopCancelled).check(w.t, <-ended, r)
	})
	select {
	case <-runs:
	case <-time.After(patience):
		w.t.Error("the rival does not run")
	}
}

// smallDisk has the root on a full file system's worth of its own, ext4 of the
// given size with 256 inodes. Only root can mount one, and only where there are
// loop devices and mkfs; elsewhere a limit on the size of files stands for it,
// and the test says so.
func (w *world) smallDisk(bytes int64) {
	image, dir := filepath.Join(w.state, "disk"), w.root
	if err := mountImage(image, dir, bytes); err != nil {
		w.t.Logf("no small disk (%v): a limit on the size of files instead", err)
		w.limitFiles()
		return
	}
	w.t.Cleanup(func() { w.must(unix.Unmount(dir, 0)) })
	w.root = filepath.Join(dir, "root")
	w.must(os.Mkdir(w.root, 0o700))
}

func mountImage(image, dir string, bytes int64) error {
	if os.Geteuid() != 0 {
		return errors.New("not root")
	}
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(image, bytes); err != nil {
		return err
	}
	for _, command := range [][]string{
		{"mkfs.ext4", "-q", "-F", "-N", "256", "-O", "^has_journal", image},
		{"mount", "-o", "loop", image, dir},
	} {
		if out, err := osexec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", command[0], err, out)
		}
	}
	return nil
}
