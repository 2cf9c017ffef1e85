package ns

import (
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// passing is how long a process may have a slot open without being called its user: between fork and exec a child of any daemon has what that
// had open, and a daemon that lists or shows slots opens them.
const passing = 200 * time.Millisecond

// usersOf are the pids, ascending, of the processes that use an open, surveyed slot, as far as this process may see that. Its own handles do
// not count. A process that let itself be confined into a private root has the slot mounted there; mountinfo, which needs no right over a
// process, tells that.
func usersOf(dir int, path string, top *entry) ([]int, error) {
	var st unix.Statx_t
	if err := unix.Statx(dir, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st); err != nil {
		return nil, err
	}
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	h, err := holdingsOf(top, string(mountinfo), st.Mnt_id, path)
	if err != nil {
		return nil, err
	}
	self, err := os.Readlink("/proc/self") // what /proc calls us, should it be that of another pid namespace
	if err != nil {
		return nil, err
	}
	all, err := numbersIn("/proc")
	if err != nil {
		return nil, err
	}
	users := h.usersAmong(all, self)
	for until := time.Now().Add(passing); len(users) > 0 && time.Now().Before(until); time.Sleep(passing / 20) {
		users = h.usersAmong(users, self)
	}
	return users, nil
}

func (h holdings) usersAmong(pids []int, self string) []int {
	s := search{h, self, map[view]bool{}}
	return slices.DeleteFunc(pids, func(pid int) bool { return !s.uses(pid) })
}

// search looks for users among processes. One that ends while it is looked at, and what may not be looked at, holds nothing.
type search struct {
	holdings
	self  string
	views map[view]bool // whether the slot is mounted in it
}

// view is a mount namespace as it is seen from one root directory.
type view struct{ namespace, root inode }

// uses looks at every thread: each may have a working directory, a root, descriptors and mounts of its own, and the first may have ended.
func (s search) uses(pid int) bool {
	process := "/proc/" + strconv.Itoa(pid)
	threads, _ := numbersIn(process + "/task")
	mapped := false
	for _, thread := range threads {
		task := process + "/task/" + strconv.Itoa(thread)
		if s.mounted(task) {
			return true
		}
		if strconv.Itoa(pid) == s.self {
			continue
		}
		if s.holds(task+"/cwd") || s.holds(task+"/root") || s.holds(task+"/exe") || s.opened(task+"/fd") {
			return true
		}
		if mapped { // threads share their memory
			continue
		}
		maps, _ := os.ReadFile(task + "/maps")
		if mapped = len(maps) > 0; s.mappedIn(string(maps)) {
			return true
		}
	}
	return false
}

func (s search) mounted(task string) bool {
	namespace, err1 := inodeOf(task + "/ns/mnt")
	root, err2 := inodeOf(task + "/root")
	v, known := view{namespace, root}, err1 == nil && err2 == nil
	if found, seen := s.views[v]; seen && known {
		return found
	}
	mountinfo, _ := os.ReadFile(task + "/mountinfo")
	found := s.mountedIn(string(mountinfo))
	if known {
		s.views[v] = found
	}
	return found
}

func (s search) opened(dir string) bool {
	descriptors, _ := numbersIn(dir)
	return slices.ContainsFunc(descriptors, func(fd int) bool { return s.holds(dir + "/" + strconv.Itoa(fd)) })
}

func (s search) holds(link string) bool {
	i, err := inodeOf(link)
	return err == nil && s.inodes[i]
}

// inodeOf is what one of the kernel's own links in /proc leads to. It asks no server for news: one that is dead would never answer.
func inodeOf(link string) (inode, error) {
	var st unix.Statx_t
	err := again(func() error {
		return unix.Statx(unix.AT_FDCWD, link, unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_INO, &st)
	})
	return inode{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}, err
}

// numbersIn lists the names in a directory that are numbers, ascending.
func numbersIn(dir string) ([]int, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, step("open", dir, err)
	}
	defer unix.Close(fd)
	names, err := namesIn(fd)
	if err != nil {
		return nil, step("list", dir, err)
	}
	var numbers []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}
