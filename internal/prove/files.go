package prove

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

// files are the contents of a snapshot, by path.
type files map[string]string

// snapshot is the snapshot of these files.
func (f files) snapshot() (pins.Snapshot, error) {
	var b pins.Builder
	for path, content := range f {
		if err := b.Add(path, strings.NewReader(content)); err != nil {
			return pins.Snapshot{}, err
		}
	}
	snapshot, faults := b.Snapshot()
	if len(faults) > 0 {
		return pins.Snapshot{}, fmt.Errorf("prove: bug: a snapshot of the suite: %s", faults[0].Detail)
	}
	return snapshot, nil
}

// addTargets adds what changes need to a snapshot.
func (f files) addTargets(snapshot string) {
	for _, x := range targets() {
		if x.within == snapshot {
			f[x.slug()+"/f"], f[x.slug()+"/g"] = "f of "+x.row(), "g of "+x.row()
		}
	}
}

// put writes a file that others can read, and the directories above it.
func put(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}

// give makes a tree belong to u.
func give(tree string, u user) error {
	return filepath.WalkDir(tree, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, u.uid, u.gid))
	})
}

// copyFile makes an executable copy that everybody can read.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func readText(path string) (string, error) {
	content, err := os.ReadFile(path)
	return string(content), err
}

// fingerprint is all that can be known of files without touching them, save the time of the last reading.
func fingerprint(paths ...string) string {
	var all bytes.Buffer
	for _, path := range paths {
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			fmt.Fprintln(&all, path, err)
			continue
		}
		var sum [sha256.Size]byte
		if st.Mode&unix.S_IFMT == unix.S_IFREG {
			content, _ := os.ReadFile(path)
			sum = sha256.Sum256(content)
		}
		fmt.Fprintln(&all, path, st.Ino, st.Mode, st.Nlink, st.Uid, st.Gid, st.Size, st.Mtim, st.Ctim, sum)
	}
	return all.String()
}
