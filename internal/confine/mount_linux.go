package confine

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The mount calls of Linux 5.2 and later are used throughout: they take handles where mount(2) takes paths, and mount_setattr adds flags
// to those that a mount has, where a remount must repeat them (a nested namespace refuses to lose one).

// privateMounts cuts the propagation of mounts, both ways.
func (s *stage) privateMounts() error {
	return unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Propagation: unix.MS_PRIVATE})
}

// freshRoot mounts an empty tmpfs over the run's home directory, the one place that is certain to be a directory of ours and that nobody
// will miss: the home of the profile is a directory of the new root.
func (s *stage) freshRoot() error {
	home, err := s.home()
	if err != nil {
		return err
	}
	at, err := openHost(home, unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	s.root, err = newTmpfs(s.profile.rootBytes, s.profile.rootInodes)
	if err != nil {
		return err
	}
	return in("attach", moveMount(s.root, at))
}

func (s *stage) home() (string, error) {
	for _, e := range s.profile.entries {
		if e.kind == kindDir {
			return e.path, nil
		}
	}
	return "", fmt.Errorf("the profile has no directory to mount the root on")
}

// newTmpfs makes a detached tmpfs: nosuid, nodev, noexec, and bounded.
func newTmpfs(bytes, inodes uint64) (int, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, in("fsopen", err)
	}
	defer unix.Close(fs)
	for _, option := range []variable{{"size", number(bytes)}, {"nr_inodes", number(inodes)}, {"mode", "0755"}} {
		if err := unix.FsconfigSetString(fs, option.name, option.value); err != nil {
			return -1, in("fsconfig "+option.name, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, in("create", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	return fd, in("fsmount", err)
}

func moveMount(from, to int) error {
	return unix.MoveMount(from, "", to, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// furnish makes what the root itself holds, and an empty place for every mount. Whoever the owner is inside, everybody may read it.
func (s *stage) furnish() error {
	unix.Umask(0)
	for _, dir := range s.plan.dirs {
		if err := unix.Mkdirat(s.root, inRoot(dir), 0o755); err != nil {
			return in(dir, err)
		}
	}
	for _, link := range s.plan.links {
		if err := unix.Symlinkat(link.target, s.root, inRoot(link.path)); err != nil {
			return in(link.path, err)
		}
	}
	for _, text := range s.plan.texts {
		if err := writeFile(s.root, text.path, text.content); err != nil {
			return in(text.path, err)
		}
	}
	for _, m := range s.plan.mounts {
		if err := s.place(m); err != nil {
			return in(m.path, err)
		}
	}
	return nil
}

// inRoot is a path of the profile relative to the new root.
func inRoot(p string) string { return strings.TrimPrefix(p, "/") }

func (s *stage) place(m mount) error {
	if m.directory {
		return unix.Mkdirat(s.root, inRoot(m.path), 0o755)
	}
	return writeFile(s.root, m.path, "")
}

func writeFile(root int, p, content string) error {
	fd, err := unix.Openat(root, inRoot(p), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o444)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for content != "" {
		n, err := unix.Write(fd, []byte(content))
		if err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}

// mountSources brings every mount of the plan to its place.
func (s *stage) mountSources() error {
	for _, m := range s.plan.mounts {
		if err := s.mount(m); err != nil {
			return in(m.path, err)
		}
	}
	return nil
}

// mount opens the source by its path on the host, makes sure that it is the inode that was verified there, and mounts that very inode.
func (s *stage) mount(m mount) error {
	source, err := openHost(hostPath(m.path), 0)
	if err != nil {
		return err
	}
	defer unix.Close(source)
	if err := m.recognise(source); err != nil {
		return err
	}
	tree, err := unix.OpenTree(source, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
	if err != nil {
		return in("clone", err)
	}
	defer unix.Close(tree)
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: m.attributes()}); err != nil {
		return in("attributes", err)
	}
	place, err := openBeneath(s.root, m.path)
	if err != nil {
		return err
	}
	defer unix.Close(place)
	return in("attach", moveMount(tree, place))
}

func (m mount) attributes() uint64 {
	var attributes uint64 = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID
	if !m.executable {
		attributes |= unix.MOUNT_ATTR_NOEXEC
	}
	if !m.device {
		attributes |= unix.MOUNT_ATTR_NODEV
	}
	return attributes
}

// recognise compares an open source with what the profile says of it.
func (m mount) recognise(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	got, format, want := inode{uint64(st.Dev), st.Ino}, st.Mode&unix.S_IFMT, uint32(unix.S_IFREG)
	switch m.kind {
	case kindTree:
		want = unix.S_IFDIR
	case kindDevice:
		want = unix.S_IFCHR
		got = inode{uint64(unix.Major(uint64(st.Rdev))), uint64(unix.Minor(uint64(st.Rdev)))}
	case kindProc:
		got = m.id
	}
	if got != m.id || format != want {
		return fmt.Errorf("is %v of type %#o, not the verified %v of type %#o", got, format, m.id, want)
	}
	return nil
}

// hostPath names the same file without a symlink: /proc/self is one.
func hostPath(p string) string {
	if rest, ok := strings.CutPrefix(p, "/proc/self/"); ok {
		return path.Join("/proc", strconv.Itoa(unix.Getpid()), rest)
	}
	return p
}

// openHost opens a path on the host as a mere handle. No part of it may be a symlink, except that a symlink at its end is opened as itself, to
// be recognised as no file. The root of a user namespace has power over files of the ids mapped there, and over no others.
func openHost(p string, flags uint64) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, p, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW | flags, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if errors.Is(err, unix.EACCES) && unix.Getuid() == 0 {
		return -1, fmt.Errorf("open %s: %w: a directory above it is closed to others and belongs to an ordinary user; a root daemon's files must not be there", p, err)
	}
	return fd, in("open "+p, err)
}

func openBeneath(root int, p string) (int, error) {
	fd, err := unix.Openat2(root, inRoot(p), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH})
	return fd, in("place", err)
}

// sealRoot makes the tmpfs read-only, the file system itself and not only this mount of it.
func (s *stage) sealRoot() error {
	fs, err := unix.Fspick(s.root, "", unix.FSPICK_EMPTY_PATH|unix.FSPICK_CLOEXEC)
	if err != nil {
		return in("fspick", err)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigSetFlag(fs, "ro"); err != nil {
		return in("fsconfig", err)
	}
	if err := unix.FsconfigReconfigure(fs); err != nil {
		return in("reconfigure", err)
	}
	return unix.MountSetattr(s.root, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// enterRoot makes the tmpfs the root of every thread and lets go of the old one, which lies on top of it for a moment.
func (s *stage) enterRoot() error {
	if err := unix.Fchdir(s.root); err != nil {
		return in("fchdir", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return in("pivot_root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return in("detach the old root", err)
	}
	return unix.Close(s.root)
}
