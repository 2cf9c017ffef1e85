package pins

import (
	"io/fs"
	"os"
)

// steadfast says whether a file can be known by its inode, size and times alone: only root may write to it, and its file
// system moves the change time whenever somebody did. Mode includes what access control lists allow, as the group's bits.
func steadfast(owner int, mode fs.FileMode, tells bool) bool {
	const others = 0o022
	return owner == 0 && mode.IsRegular() && mode.Perm()&others == 0 && tells
}

// isSteadfast asks the host about an open file.
func isSteadfast(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	owner, _, known := ownerOf(info)
	return known && steadfast(owner, info.Mode(), tellsChanges(f)), nil
}
