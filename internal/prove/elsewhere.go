package prove

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// What a suite makes outside its scratch are directories of this prefix, open to everybody. Each is noted in a file of the scratch before it is
// made: if the suite is killed, the next one with the same state removes what is noted there.
const (
	openPrefix = "confined-prove-"
	elsewhere  = "elsewhere"
)

// longestParent is the longest path, in bytes, below which the sockets of a fixture have paths that a socket address holds on every system.
const longestParent = 103 - len("/"+openPrefix+"0123456789"+"/private/s")

// noteElsewhere notes a path that will be made.
func noteElsewhere(scratch, path string) error {
	f, err := os.OpenFile(filepath.Join(scratch, elsewhere), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%q\n", path)
	return errors.Join(err, f.Close())
}

// clearAbandoned removes what a killed suite made outside its scratch, and lets what is in it be removed: the directories of snapshots may be
// closed even to their owner.
func clearAbandoned(scratch string) {
	noted, _ := readText(filepath.Join(scratch, elsewhere))
	for line := range strings.Lines(noted) {
		path, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err == nil && strings.HasPrefix(filepath.Base(path), openPrefix) {
			_ = os.RemoveAll(path)
		}
	}
	_ = filepath.WalkDir(scratch, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}

// openDir makes a directory that everybody can reach, below the first of the parents that u can reach and that leaves room for sockets. Its path
// is given to note before.
func openDir(u user, note func(path string) error, parents ...string) (string, error) {
	whole := make([]string, len(parents))
	for i, parent := range parents {
		whole[i], _ = filepath.EvalSymlinks(parent)
	}
	at := slices.IndexFunc(whole, func(parent string) bool {
		return parent != "" && len(parent) <= longestParent && u.reaches(parent+"/x")
	})
	if at < 0 {
		return "", fmt.Errorf("of %q none is a directory that uid %d, as which a run's program would run, can reach, with a path of at most %d bytes; "+
			"cure: set TMPDIR to one that every user can reach", parents, u.uid, longestParent)
	}
	dir := filepath.Join(whole[at], openPrefix+random()[:10])
	if err := note(dir); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755) // whatever the umask is
}
