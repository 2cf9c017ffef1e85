package ns

import (
	"errors"
	"os"
	"testing"
)

func TestRootWords(t *testing.T) {
	for _, root := range []string{"", "/", "root", "./root", "/a/", "/a//b", "/a/../b", "/a/./b", "/a b", "/a\nb", "/ä", "/a\x00", "/a\"b", "/a\n"} {
		_, err := NewPool(Config{Root: root, MaxRetained: 8, State: "/s"})
		var refused *RootError
		if !errors.As(err, &refused) {
			t.Errorf("root %q: got %v, want a refusal", root, err)
		} else if refused.Problem == "" || refused.Cure == "" {
			t.Errorf("root %q: the refusal is incomplete: %+v", root, refused)
		}
	}
	for _, root := range []string{"/a", "/a/b", "/A.z_0@x+y-z/.confined"} {
		if _, err := NewPool(Config{Root: root, MaxRetained: 8, State: "/s"}); err != nil {
			t.Errorf("root %q: %v", root, err)
		}
	}
}

func TestPoolWords(t *testing.T) {
	for name, c := range map[string]Config{
		"no slots":            {"/a", 0, "/s"},
		"negative":            {"/a", -1, "/s"},
		"too many":            {"/a", MaxSlots + 1, "/s"},
		"no state":            {"/a", 8, ""},
		"relative state":      {"/a", 8, "s"},
		"unnormalised state":  {"/a", 8, "/s/"},
		"state is the root":   {"/a", 8, "/a"},
		"state in the root":   {"/a", 8, "/a/state"},
		"root with bad words": {"/a/", 8, "/s"},
	} {
		if _, err := NewPool(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, c := range []Config{{"/a", 1, "/s"}, {"/a", MaxSlots, "/ab"}} {
		if _, err := NewPool(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestRootRefusals: each unfit root is refused with its exact cure, creates nothing, and is accepted once the cure is applied.
func TestRootRefusals(t *testing.T) {
	dir := fitDir(t)
	mkdir := func(name string, mode os.FileMode) string {
		must(t, os.Mkdir(dir+"/"+name, 0o700))
		must(t, os.Chmod(dir+"/"+name, mode))
		return dir + "/" + name
	}
	good := mkdir("good", 0o700)
	mkdir("good/inner", 0o700)
	shared, groupRead := mkdir("shared", 0o755), mkdir("group", 0o740)
	must(t, os.WriteFile(dir+"/file", nil, 0o600))
	must(t, os.Symlink("good", dir+"/link"))
	must(t, os.Symlink("nowhere", dir+"/dangling"))
	for name, c := range map[string]struct{ root, cure string }{
		"missing":           {dir + "/missing", "mkdir -m 700 " + dir + "/missing"},
		"missing on way":    {dir + "/no/where", "mkdir -m 700 " + dir + "/no/where"},
		"file":              {dir + "/file", "name a directory"},
		"link":              {dir + "/link", "name it " + good},
		"link on the way":   {dir + "/link/inner", "name it " + good + "/inner"},
		"dangling link":     {dir + "/dangling", "name a directory"},
		"others can reach":  {shared, "chmod 700 " + shared},
		"group can read":    {groupRead, "chmod 700 " + groupRead},
		"somebody else's":   {foreignDir(t, dir), "name a directory of your own"},
		"fit, as the twins": {good, ""},
	} {
		refusedWith(t, name, c.root, dir+"-state", c.cure)
	}
	must(t, os.Chmod(shared, 0o700))
	refusedWith(t, "cured", shared, dir+"-state", "")
}

// foreignDir is a canonical directory that belongs to another user.
func foreignDir(t *testing.T, dir string) string {
	if !isRoot() {
		return "/usr"
	}
	must(t, os.Mkdir(dir+"/foreign", 0o700))
	must(t, os.Chown(dir+"/foreign", 65534, 65534))
	return dir + "/foreign"
}

// refusedWith opens a root in all three ways and demands a refusal with that cure, or none when it is empty.
func refusedWith(t *testing.T, name, root, state, cure string) {
	t.Helper()
	p, err := NewPool(Config{Root: root, MaxRetained: 8, State: state})
	must(t, err)
	_, othersErr := p.Others()
	_, listErr := p.List()
	handle, openErr := p.Open()
	if openErr == nil {
		must(t, handle.Close())
	}
	for _, err := range []error{openErr, othersErr, listErr} {
		var refused *RootError
		switch {
		case cure == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case cure != "" && !errors.As(err, &refused):
			t.Errorf("%s: got %v, want a refusal", name, err)
		case cure != "" && refused.Cure != cure:
			t.Errorf("%s: %s; want the cure %q", name, refused, cure)
		}
	}
}

func TestCountHoldsEverything(t *testing.T) {
	w := newWorld(t, 8)
	must(t, os.Mkdir(w.root+"/slot-3", 0o700))
	must(t, os.WriteFile(w.root+"/.hidden", nil, 0o600))
	must(t, os.Symlink("nowhere", w.root+"/link"))
	s := claim(t, w.pool)
	root, err := w.pool.Open()
	must(t, err)
	defer root.Close()
	for range 2 {
		if n, err := root.Count(); err != nil || n != 4 {
			t.Errorf("count %d, %v; want 4", n, err)
		}
	}
	if n, err := w.pool.Others(); err != nil || n != 3 {
		t.Errorf("others %d, %v; want 3", n, err)
	}
	s.Remove(SetupIncomplete)
	if n, err := root.Count(); err != nil || n != 3 {
		t.Errorf("count %d, %v; want 3", n, err)
	}
}

// TestRootSpelledOtherwise: what the disk calls otherwise is refused with the disk's name as the cure, as macOS would have it for another
// case, an alias or a firmlink. The disk is played here.
func TestRootSpelledOtherwise(t *testing.T) {
	root := fitDir(t)
	for name, row := range map[string]struct {
		spelled string
		err     error
		want    string
	}{
		"as named":  {root, nil, ""},
		"otherwise": {"/Users/x/.confined/root", nil, "name it /Users/x/.confined/root"},
		"unknown":   {"", os.ErrInvalid, "name another directory"},
	} {
		fd, err := openCanonical(root, func(held int, path string) (string, error) {
			if path != root || !sameInode(held, root) {
				t.Errorf("%s: asked of %s", name, path)
			}
			return row.spelled, row.err
		})
		var refused *RootError
		switch {
		case row.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case row.want != "" && (!errors.As(err, &refused) || refused.Cure != row.want):
			t.Errorf("%s: %v, want the cure %q", name, err, row.want)
		}
		closeAll(fd)
	}
}
