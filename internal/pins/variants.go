package pins

import (
	"os"
	"path"
)

// variants refuses a library of which the loader has copies for certain processors below dir: which one it takes depends
// on the host. They are in glibc-hwcaps, and before glibc 2.37 in directories named after features, nested in any way.
func (v view) variants(dir, name string) error {
	entries, err := v.entries(dir + "/glibc-hwcaps")
	if err != nil && !passedOver(err) {
		return &UnavailableError{dir + "/glibc-hwcaps", reason(err), "repair the directory"}
	}
	for _, e := range entries {
		if err := v.variant(dir+"/glibc-hwcaps/"+e.Name(), name); err != nil {
			return err
		}
	}
	return v.legacyVariants(dir, name, len(legacyNames()))
}

// entries are what is in a directory.
func (v view) entries(dir string) ([]os.DirEntry, error) {
	if err := v.at(dir).err; err != nil {
		return nil, err
	}
	return os.ReadDir(dir)
}

// isDir says whether a path leads to a directory, by a symlink too.
func (v view) isDir(path string) bool {
	if v.at(path).err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// legacyNames are the directories of glibc before 2.37 for x86-64 and aarch64.
func legacyNames() []string {
	return []string{"tls", "haswell", "xeon_phi", "avx512_1", "x86_64", "aarch64", "atomics"}
}

func (v view) legacyVariants(dir, name string, depth int) error {
	if depth == 0 {
		return nil
	}
	for _, sub := range legacyNames() {
		at := dir + "/" + sub
		if !v.isDir(at) {
			continue // ld.so passes over it as well
		}
		if err := v.variant(at, name); err != nil {
			return err
		}
		if err := v.legacyVariants(at, name, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// variant refuses the library of that name in the directory dir.
func (v view) variant(dir, name string) error {
	err := v.at(dir + "/" + name).err
	switch {
	case err == nil:
		return &UnavailableError{path.Join(dir, name),
			"is a copy of a library for certain processors: which copy is loaded depends on the host", "remove the copy, or " + CureOfficial()}
	case passedOver(err):
		return nil
	}
	return &UnavailableError{path.Join(dir, name), reason(err), "repair the directory"}
}
