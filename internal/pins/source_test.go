package pins

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

func TestTakeSource(t *testing.T) {
	tr := &tree{t: t, root: canonicalTemp(t)}
	tr.write("file", "x")
	tr.link("file", "link")
	take := func(path string) Source {
		s, err := TakeSource(tr.at(path))
		if err != nil || s.Path != tr.at(path) {
			t.Fatalf("%s: %+v, %v", path, s, err)
		}
		return s
	}
	file, link := take("file"), take("link")
	if file.Ino == link.Ino {
		t.Error("the symlink was followed")
	}
	if err := os.Rename(tr.at("file"), tr.at("moved")); err != nil {
		t.Fatal(err)
	}
	if moved := take("moved"); moved.Ino != file.Ino || moved.Dev != file.Dev {
		t.Errorf("moved, the file is another inode: %+v, was %+v", moved, file)
	}
	if s, err := TakeSource(tr.at("file")); !errors.Is(err, fs.ErrNotExist) || s != (Source{}) {
		t.Errorf("%+v, %v", s, err)
	}
}
