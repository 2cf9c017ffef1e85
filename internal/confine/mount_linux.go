package confine

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The mount calls of Linux 5.2 and later are used throughout: they take handles where mount(2) takes paths, and mount_setattr adds flags
// to those that a mount has, where a remount must repeat them (a nested namespace refuses to lose one).

// here is AT_FDCWD: relative to the working directory, which no absolute path is.
const here = unix.AT_FDCWD

// privateMounts cuts the propagation of mounts, both ways.
func (s *stage) privateMounts() {
	s.mountSetattr("", here, "/", unix.AT_RECURSIVE, unix.MountAttr{Propagation: unix.MS_PRIVATE})
}

func (s *stage) mountSetattr(what string, at any, path string, flags int, attr unix.MountAttr) {
	s.call(what, unix.SYS_MOUNT_SETATTR, at, path, flags, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
}

// freshRoot mounts an empty tmpfs over the run's home directory, the one place that is certain to be a directory of ours and that nobody
// will miss: the home of the profile is a directory of the new root.
func (s *stage) freshRoot() {
	home, there := s.profile.first(kindDir)
	if !there {
		s.fail(errors.New("the profile has no directory to mount the root on"))
		return
	}
	at := s.openHost(home.path, here, home.path, unix.O_DIRECTORY)
	s.newTmpfs(s.profile.rootBytes, s.profile.rootInodes)
	s.moveMount("attach", s.newRoot, at)
	s.close(at)
}

// newTmpfs makes a detached tmpfs: nosuid, nodev, noexec, and bounded.
func (s *stage) newTmpfs(bytes, inodes uint64) {
	fs := new(int32)
	s.call("fsopen", unix.SYS_FSOPEN, "tmpfs", unix.FSOPEN_CLOEXEC).into(fs)
	for _, option := range []variable{{"size", number(bytes)}, {"nr_inodes", number(inodes)}, {"mode", "0755"}} {
		s.call("fsconfig "+option.name, unix.SYS_FSCONFIG, fs, unix.FSCONFIG_SET_STRING, option.name, option.value, 0)
	}
	s.call("create", unix.SYS_FSCONFIG, fs, unix.FSCONFIG_CMD_CREATE, 0, 0, 0)
	s.call("fsmount", unix.SYS_FSMOUNT, fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC).into(s.newRoot)
	s.close(fs)
}

func (s *stage) moveMount(what string, from, to *int32) {
	s.call(what, unix.SYS_MOVE_MOUNT, from, "", to, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

func (s *stage) close(fd *int32) { s.call("close", unix.SYS_CLOSE, fd) }

// furnish makes what the root itself holds, and an empty place for every mount. Whoever the owner is inside, everybody may read it.
func (s *stage) furnish() {
	s.call("umask", unix.SYS_UMASK, 0)
	for _, dir := range s.plan.dirs {
		s.mkdir(dir)
	}
	for _, link := range s.plan.links {
		s.call(link.path, unix.SYS_SYMLINKAT, link.target, s.newRoot, inRoot(link.path))
	}
	for _, text := range s.plan.texts {
		s.writeFile(text.path, text.content)
	}
	for _, m := range s.plan.mounts {
		if m.directory {
			s.mkdir(m.path)
		} else {
			s.writeFile(m.path, "")
		}
	}
}

// inRoot is a path of the profile relative to the new root.
func inRoot(p string) string { return strings.TrimPrefix(p, "/") }

func (s *stage) mkdir(dir string) { s.call(dir, unix.SYS_MKDIRAT, s.newRoot, inRoot(dir), 0o755) }

func (s *stage) writeFile(p, content string) {
	fd := new(int32)
	s.call(p, unix.SYS_OPENAT, s.newRoot, inRoot(p), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o444).into(fd)
	if content != "" {
		s.write(p, fd, content)
	}
	s.close(fd)
}

// write writes the whole of a text or refuses.
func (s *stage) write(what string, fd *int32, text string) {
	s.call(what, unix.SYS_WRITE, fd, text, len(text)).is(len(text), "was not written whole")
}

// mountSources brings every mount of the plan to its place.
func (s *stage) mountSources() {
	s.call("/proc/self", unix.SYS_OPENAT, here, "/proc/self", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC).into(s.self)
	for _, m := range s.plan.mounts {
		s.mount(m)
	}
	s.close(s.self)
}

// mount opens the source by its path on the host, makes sure that it is the inode that was verified there, and mounts that very inode.
func (s *stage) mount(m mount) {
	source := s.openSource(m)
	s.recognise(m, source)
	tree, place := new(int32), new(int32)
	s.call(m.path+": clone", unix.SYS_OPEN_TREE, source, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH).into(tree)
	s.mountSetattr(m.path+": attributes", tree, "", unix.AT_EMPTY_PATH, unix.MountAttr{Attr_set: m.attributes()})
	s.openat2(m.path+": place", s.newRoot, inRoot(m.path), 0, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_BENEATH).into(place)
	s.moveMount(m.path+": attach", tree, place)
	s.close(place)
	s.close(tree)
	s.close(source)
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

// openSource opens what is mounted. What a process has of its own in /proc is reached through one handle, since /proc/self is a symlink.
func (s *stage) openSource(m mount) *int32 {
	if m.kind == kindImage {
		return s.openHost(m.path, s.self, "exe", 0)
	}
	if name, ok := strings.CutPrefix(m.path, "/proc/self/"); ok {
		return s.openHost(m.path, s.self, name, 0)
	}
	return s.openHost(m.path, here, m.path, 0)
}

// openHost opens a path on the host as a mere handle. No part of it may be a symlink, except that a symlink at its end is opened as itself, to
// be recognised as no file. The root of a user namespace has power over files of the ids mapped there, and over no others.
func (s *stage) openHost(what string, at any, p string, flags uint64) *int32 {
	fd := new(int32)
	c := s.openat2(what+": open", at, p, flags, unix.RESOLVE_NO_SYMLINKS).into(fd)
	if s.asRoot {
		c.denied = "permission denied: a directory above it is closed to others and belongs to an ordinary user; a root daemon's files must not be there"
	}
	return fd
}

func (s *stage) openat2(what string, at any, p string, flags, resolve uint64) *prepared {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW | flags, Resolve: resolve}
	return s.call(what, unix.SYS_OPENAT2, at, p, unsafe.Pointer(&how), unsafe.Sizeof(how))
}

// recognise compares an open source with what the profile says of it. The files of /proc are known by their names alone.
func (s *stage) recognise(m mount, source *int32) {
	var st unix.Stat_t
	format := fact{at: unsafe.Pointer(&st.Mode), mask: unix.S_IFMT, want: m.format()}
	switch m.kind {
	case kindProc, kindImage:
		s.call(m.path, unix.SYS_FSTAT, source, unsafe.Pointer(&st)).finds(fmt.Sprintf("is not of type %#o", m.format()), format)
	case kindDevice:
		device := fact{unsafe.Pointer(&st.Rdev), true, ^uint64(0), unix.Mkdev(uint32(m.id.dev), uint32(m.id.ino))}
		s.call(m.path, unix.SYS_FSTAT, source, unsafe.Pointer(&st)).finds(fmt.Sprintf("is not the device %v", m.id), format, device)
	default:
		s.identify(m.path, source, m.format(), m.id)
	}
}

// identify makes sure that a descriptor is open on one inode.
func (s *stage) identify(what string, fd any, format uint64, id inode) {
	var st unix.Stat_t
	s.call(what, unix.SYS_FSTAT, fd, unsafe.Pointer(&st)).finds(fmt.Sprintf("is not the verified %v of type %#o", id, format),
		fact{at: unsafe.Pointer(&st.Mode), mask: unix.S_IFMT, want: format},
		fact{unsafe.Pointer(&st.Dev), true, ^uint64(0), id.dev}, fact{unsafe.Pointer(&st.Ino), true, ^uint64(0), id.ino})
}

// format is the file type that the source must have. The link to a process's own executable is mounted as a link.
func (m mount) format() uint64 {
	switch m.kind {
	case kindTree:
		return unix.S_IFDIR
	case kindDevice:
		return unix.S_IFCHR
	case kindImage:
		return unix.S_IFLNK
	}
	return unix.S_IFREG
}

// sealRoot makes the tmpfs read-only, the file system itself and not only this mount of it.
func (s *stage) sealRoot() {
	fs := new(int32)
	s.call("fspick", unix.SYS_FSPICK, s.newRoot, "", unix.FSPICK_EMPTY_PATH|unix.FSPICK_CLOEXEC).into(fs)
	s.call("fsconfig", unix.SYS_FSCONFIG, fs, unix.FSCONFIG_SET_FLAG, "ro", 0, 0)
	s.call("reconfigure", unix.SYS_FSCONFIG, fs, unix.FSCONFIG_CMD_RECONFIGURE, 0, 0, 0)
	s.close(fs)
	s.mountSetattr("attributes", s.newRoot, "", unix.AT_EMPTY_PATH, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// enterRoot makes the tmpfs the root and lets go of the old one, which lies on top of it for a moment.
func (s *stage) enterRoot() {
	s.call("fchdir", unix.SYS_FCHDIR, s.newRoot)
	s.call("pivot_root", unix.SYS_PIVOT_ROOT, ".", ".")
	s.call("detach the old root", unix.SYS_UMOUNT2, ".", unix.MNT_DETACH)
	s.close(s.newRoot)
}

// changeDir settles where the process starts, and that what it cannot make would be its own.
func (s *stage) changeDir() {
	s.call("umask", unix.SYS_UMASK, 0o077)
	s.call("", unix.SYS_CHDIR, s.profile.directory)
}
