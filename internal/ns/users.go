package ns

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// inode names a file of this host, by the numbers that stat tells.
type inode struct{ dev, ino uint64 }

func (f facts) inode() inode { return inode{f.dev, f.ino} }

// holdings are what makes a process a user of a slot, in the forms in which the kernel tells what a process has.
type holdings struct {
	inodes  map[inode]bool  // of the slot and of everything in it
	numbers map[uint64]bool // the same without devices
	device  string          // "major:minor" as mountinfo and maps tell it; on btrfs not that of stat
	path    string          // of the slot within its file system, as mountinfo writes it
}

// holdingsOf describes a surveyed slot. mountinfo is this process's, and mount the id of the one through which the slot is seen at path.
func holdingsOf(top *entry, mountinfo string, mount uint64, path string) (holdings, error) {
	h := holdings{inodes: map[inode]bool{}, numbers: map[uint64]bool{}}
	top.each(func(e *entry) {
		h.inodes[e.facts.inode()] = true
		h.numbers[e.facts.ino] = true
	})
	for line := range strings.Lines(mountinfo) {
		m, ok := parseMount(line)
		if !ok || m.id != mount {
			continue
		}
		// Neither needs unescaping: a root is made of characters that mountinfo leaves alone.
		below, found := strings.CutPrefix(path, strings.TrimSuffix(m.point, "/")+"/")
		if !found {
			break
		}
		h.device, h.path = m.device, strings.TrimSuffix(m.root, "/")+"/"+below
		return h, nil
	}
	return h, errors.New("this process's own mountinfo does not have the mount that the root is on")
}

// mount is what one line of mountinfo says.
type mount struct {
	id     uint64
	device string // "major:minor"
	root   string // what of the file system is mounted, escaped
	point  string // where, escaped
}

func parseMount(line string) (mount, bool) {
	fields := strings.Fields(line)
	if len(fields) < 6 {
		return mount{}, false
	}
	id, err := strconv.ParseUint(fields[0], 10, 64)
	return mount{id: id, device: fields[2], root: fields[3], point: fields[4]}, err == nil
}

// mountedIn reports whether the slot, or something in it, is mounted somewhere. What was removed meanwhile ends in //deleted: a later slot of
// the same name is not that one.
func (h holdings) mountedIn(mountinfo string) bool {
	for line := range strings.Lines(mountinfo) {
		m, ok := parseMount(line)
		if !ok || m.device != h.device || strings.HasSuffix(m.root, "//deleted") {
			continue
		}
		if m.root == h.path || strings.HasPrefix(m.root, h.path+"/") {
			return true
		}
	}
	return false
}

// mappedIn reports whether a file of the slot is in a memory map. On btrfs, where maps tell the device of all subvolumes, an inode of another
// one may be taken for it: that refuses a release too many, never one too few.
func (h holdings) mappedIn(maps string) bool {
	for line := range strings.Lines(maps) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			continue
		}
		number, err := strconv.ParseUint(fields[4], 10, 64)
		if err == nil && h.numbers[number] && sameDevice(fields[3], h.device) {
			return true
		}
	}
	return false
}

// sameDevice compares a device of maps, in hexadecimal, with one of mountinfo.
func sameDevice(maps, mountinfo string) bool {
	high, low, _ := strings.Cut(maps, ":")
	major, err1 := strconv.ParseUint(high, 16, 32)
	minor, err2 := strconv.ParseUint(low, 16, 32)
	return err1 == nil && err2 == nil && fmt.Sprintf("%d:%d", major, minor) == mountinfo
}
