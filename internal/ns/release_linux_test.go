package ns

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReleaseIsRefusedByTheSystem: what the system does not delete stays, is told, and is released once it may be.
func TestReleaseIsRefusedByTheSystem(t *testing.T) {
	w := newWorld(t, 8)
	s := w.filled()
	t.Run("obstructed", func(t *testing.T) {
		obstruct(t, s.Path()+"/program/lib/deep")
		s.Quarantine(NamespaceChanged, "x")
		d, err := w.pool.Release(t.Context(), "slot-0", w.show("slot-0").Tag)
		if err != nil || d.State != StateQuarantined || d.Reason != RemovalFailed || !strings.Contains(d.Message, "remove "+s.Path()+"/program/lib/deep/b.js") {
			t.Errorf("%+v, %v", d, err)
		}
		left := tree(t, s.Path())
		if left[s.Path()+"/program/lib/deep/b.js"] == 0 || left[s.Path()+"/program/main.mjs"] == 0 || left[s.Path()+"/input"] != 0 {
			t.Errorf("left: %v", left)
		}
		if row := w.row(w.newPool(8), "slot-0"); row.Reason != RemovalFailed || row.Message != d.Message || row.RunID != "run-1" {
			t.Errorf("%+v", row)
		}
	})
	w.mustRelease("slot-0", w.show("slot-0").Tag)
}

// inUserNamespace makes a command root of a user namespace and of a mount namespace of its own.
func inUserNamespace(cmd *osexec.Cmd) *osexec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	return cmd
}

// TestMountPointsAreNotReleased: what is mounted in a slot, of the same file system or another, is not the slot's: it is neither shown nor removed.
func TestMountPointsAreNotReleased(t *testing.T) {
	w := newWorld(t, 8)
	must(t, os.MkdirAll(w.root+"/slot-0/home", 0o700))
	must(t, os.WriteFile(w.root+"/slot-0/canary", nil, 0o600))
	must(t, os.Mkdir(w.state+"/precious", 0o700))
	must(t, os.WriteFile(w.state+"/precious/file", nil, 0o600))
	out, err := inUserNamespace(helperCommand(t, "mounted", w.root, w.state, w.state+"/precious")).Output()
	must(t, err)
	want := "home is a mount point; unmount it first\ncanary is a mount point; unmount it first\n is a mount point; unmount it first\nhome is a mount point; unmount it first\n"
	if got := strings.ReplaceAll(strings.ReplaceAll(string(out), w.root+"/slot-0/", ""), w.root+"/slot-0", ""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	w.mustRelease("slot-0", w.show("slot-0").Tag) // in this mount namespace there are none
	if _, err := os.Stat(w.state + "/precious/file"); err != nil {
		t.Error(err)
	}
}

// helpMounted mounts something on each of a slot's entries in turn, and says what hides the slot then.
func helpMounted(pool *Pool, precious string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	slot := pool.root + "/slot-0"
	for _, m := range []struct{ source, target, kind string }{
		{precious, slot + "/home", ""}, {precious + "/file", slot + "/canary", ""}, {slot, slot, ""}, {"none", slot + "/home", "tmpfs"},
	} {
		flags := uintptr(0)
		if m.kind == "" {
			flags = unix.MS_BIND
		}
		if err := unix.Mount(m.source, m.target, m.kind, flags, ""); err != nil {
			return fmt.Errorf("mount on %s: %w", m.target, err)
		}
		c, err := pool.Show(context.Background(), "slot-0")
		if err != nil {
			return err
		}
		fmt.Println(c.Hidden)
		var busy *BusyError
		if d, err := pool.Release(context.Background(), "slot-0", c.Tag); !errors.As(err, &busy) {
			return fmt.Errorf("released: %+v, %v", d, err)
		}
		if err := unix.Unmount(m.target, 0); err != nil {
			return err
		}
	}
	return nil
}
