package pins

import "os"

// SpelledOnDisk is the path of an open file or directory as its file system has it. Where a name has one spelling only, that is
// the path it was opened by.
func SpelledOnDisk(fd int, path string) (string, error) { return spelledOnDisk(fd, path) }

// spelledRight refuses a path that the file system takes for another spelling of a name: the sandbox of macOS knows files
// by the names on the disk. Of a hard link that may be the name of another. Symlinks are not asked: a rule for one that is
// spelled otherwise matches nothing, so that all it can do is make a start fail.
func spelledRight(f *os.File, path string) error {
	there, err := SpelledOnDisk(int(f.Fd()), path)
	if err != nil {
		return &UnavailableError{path, "cannot be asked for its name on the disk (" + reason(err) + ")", "repair the file or its disk"}
	}
	return misspelled(path, there)
}

func misspelled(path, there string) error {
	if there == path {
		return nil
	}
	return &UnavailableError{path, "is called " + there + " on the disk", "name it so, or name a copy of it"}
}
