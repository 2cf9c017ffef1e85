package pins

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// receiptFile is what one entry of the directory turned out to be. Without an error it holds a receipt, whose rows are not kept: they were judged.
type receiptFile struct {
	name    string
	id      FileID
	receipt Receipt
	digest  Digest
	state   ReceiptState // of a file with an error
	err     error
	unread  bool // the system did not let us read it, which may pass
}

// readReceiptFile judges the entry name of root, which looked like info when the directory was read. Nobody else may have been able to write it, or
// to put it there under a name that its content does not have.
func readReceiptFile(root *os.Root, name string, id FileID, info fs.FileInfo) receiptFile {
	f := receiptFile{name: name, id: id}
	if f.state, f.err = byName(name); f.err != nil {
		return f
	}
	if problem := untrusted(id, info); problem != "" {
		f.state, f.err = ReceiptForeign, errors.New(problem)
		return f
	}
	text, err := readWhole(root, name, id)
	f.unread = err != nil
	if err == nil {
		f.receipt, err = ParseReceipt(text)
	}
	if err == nil && receiptName(f.receipt, text) != name {
		err = errors.New("its content is not what its name says")
	}
	if err == nil && !f.receipt.Passed() {
		err = errors.New("it is of a suite that did not pass")
	}
	if err != nil {
		f.receipt, f.state, f.err = Receipt{}, ReceiptDamaged, err
		return f
	}
	f.receipt.Rows, f.digest = nil, DigestOf(sha256.Sum256(text))
	return f
}

// byName is the state of a file whose name is not that of a receipt, and says so.
func byName(name string) (ReceiptState, error) {
	switch {
	case unfinished(name):
		return ReceiptUnfinished, errors.New("it was never finished")
	case !strings.HasSuffix(name, ".json"):
		return ReceiptStray, errors.New("it has no name of a receipt")
	}
	return "", nil
}

// untrusted says why a file cannot be a receipt of this user's, whatever it holds, or is empty.
func untrusted(id FileID, info fs.FileInfo) string {
	switch {
	case !info.Mode().IsRegular():
		return "it is no regular file (" + info.Mode().Type().String() + ")"
	case int(id.UID) != os.Geteuid():
		return fmt.Sprintf("it belongs to uid %d, and this is uid %d", id.UID, os.Geteuid())
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Sprintf("others may write it (mode %04o)", info.Mode().Perm())
	}
	return ""
}

// readWhole reads the file that id was seen of, and fails when it is another by now.
func readWhole(root *os.Root, name string, id FileID) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %s", reason(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxReceipt+1))
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %s", reason(err))
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("it cannot be examined: %s", reason(err))
	}
	if now, err := fileID(info); err != nil || now != id {
		return nil, errors.New("it changes while it is read")
	}
	return text, nil
}

// receiptDir opens the directory of receipts where it is this user's and nobody else may write in it. Without one it is nil.
func receiptDir(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the receipts in %s cannot be read: %s", dir, reason(err))
	}
	info, err := root.Stat(".")
	if err == nil {
		uid, _, known := ownerOf(info)
		if !known || uid != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
			err = fmt.Errorf("the receipts in %s are not looked at: the directory is not this user's alone (uid %d, mode %04o)", dir, uid, info.Mode().Perm())
		}
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// entriesOf are the names in root with what a look at each says. A file that goes away meanwhile is not there.
func entriesOf(root *os.Root) ([]fs.FileInfo, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var infos []fs.FileInfo
	for _, name := range names {
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s", filepath.Join(root.Name(), name), reason(err))
		}
		infos = append(infos, info)
	}
	return infos, nil
}
