package pins

import (
	"fmt"
	"os"
)

// NotExecutable says why a process of this user and group may not execute the file, by its mode and by how its file
// system is mounted. It is nil when neither is in the way, or cannot be seen.
func NotExecutable(path string, uid, gid int) *UnavailableError {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	owner, group, known := ownerOf(info)
	bit := os.FileMode(0o001)
	switch {
	case known && owner == uid:
		bit = 0o100
	case known && group == gid:
		bit = 0o010
	}
	switch {
	case info.Mode()&bit == 0:
		return &UnavailableError{path, fmt.Sprintf("may not be executed by uid %d, as which it would run (mode %04o)", uid, info.Mode().Perm()), "chmod a+rx " + path}
	case mountedNoexec(path):
		return &UnavailableError{path, "is on a file system that is mounted noexec", "have Node on another one"}
	}
	return nil
}
