package pins

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WriteReceipt keeps r, which must have passed, as a file of its own in dir, which is made for this user alone where it is missing. The file is
// whole or not there, is never written again, and is on the disk when WriteReceipt returns its path and the digest of its bytes. That one is there
// already by its name is an error, and so is a directory that a [Proofs] does not look into.
func WriteReceipt(dir string, r Receipt) (path string, d Digest, err error) {
	if !r.Passed() {
		return "", "", errors.New("pins: bug: a receipt of a suite that did not pass is not written")
	}
	text, err := r.Encode()
	if err == nil {
		_, err = ParseReceipt(text)
	}
	if err != nil {
		return "", "", fmt.Errorf("pins: bug: a receipt that nobody could read: %w", err)
	}
	if err := makeReceiptDir(dir); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, receiptName(r, text))
	if err := writeOnce(path, text); err != nil {
		return "", "", fmt.Errorf("the receipt cannot be written: %w", err)
	}
	return path, DigestOf(sha256.Sum256(text)), nil
}

// makeReceiptDir establishes that there is a directory of receipts that counts, and that it is on the disk.
func makeReceiptDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = syncDir(filepath.Dir(dir))
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("the directory of receipts cannot be made: %w", err)
	}
	root, err := receiptDir(dir)
	if err != nil {
		return err
	}
	if root == nil {
		return fmt.Errorf("the directory of receipts cannot be made: %s leads nowhere", dir)
	}
	return root.Close()
}

// writeOnce makes the file at path with content, of mode 0400, and syncs it and its directory. It replaces nothing, and nobody sees a part of it:
// until it is whole its name is one that no reader takes for a receipt.
func writeOnce(path string, content []byte) error {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(dir, unfinishedPrefix+name+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = f.Chmod(0o400)
	if err == nil {
		_, err = f.Write(content)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Link(f.Name(), path) // unlike a rename it never replaces
	}
	if err != nil {
		return err
	}
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	return syncDir(dir)
}

const unfinishedPrefix = "."

// unfinished says whether name is one that writeOnce gives a receipt before it is whole. They stay where the system goes down before that.
func unfinished(name string) bool {
	return strings.HasPrefix(name, unfinishedPrefix) && strings.Contains(name, ".json-")
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
