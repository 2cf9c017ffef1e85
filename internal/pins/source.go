package pins

import "os"

// LookAt says what the host says about path now, without following it if it is a symlink.
func LookAt(path string) (FileID, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return FileID{}, err
	}
	return fileID(info)
}

// TakeSource looks at path, without following it if it is a symlink, and says which inode is there now.
func TakeSource(path string) (Source, error) {
	id, err := LookAt(path)
	if err != nil {
		return Source{}, err
	}
	return Source{Path: path, Dev: id.Dev, Ino: id.Ino}, nil
}
