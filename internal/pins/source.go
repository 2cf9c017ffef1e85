package pins

import "os"

// TakeSource looks at path, without following it if it is a symlink, and says which inode is there now.
func TakeSource(path string) (Source, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Source{}, err
	}
	id, err := fileID(info)
	if err != nil {
		return Source{}, err
	}
	return Source{Path: path, Dev: id.Dev, Ino: id.Ino}, nil
}
