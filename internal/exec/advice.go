package exec

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"

	"confined/internal/pins"
)

// named is how many names of files a message lists before it only counts.
const named = 3

// tree is one of the two snapshots of a request, as sent and as it arrived.
type tree struct {
	name    string // "program" or "input"
	said    pins.Digest
	arrived pins.Snapshot
}

// mismatch says that the files of t are not those of the digest said, and what
// most likely made them others. Each guess was recomputed: it is exactly so, or
// it is not said.
func (t tree) mismatch(other tree) string {
	text := fmt.Sprintf("the request says %s but %s %s; ", t.said, t.what(), t.arrived.Digest())
	for _, guess := range []func() string{
		func() string { return t.exchanged(other) }, t.nothing, t.withoutStrays, t.withoutOne, t.prefixed, t.inFolder, t.ownName, t.oneFile, t.strays,
	} {
		if advice := guess(); advice != "" {
			return text + advice
		}
	}
	return text + "send exactly the files that were digested, or pin the digest of what is sent"
}

// what names the files that arrived, with their number and bytes, and ends in
// the verb.
func (t tree) what() string {
	files := t.paths()
	if len(files) == 0 {
		return "the 0 files that arrived (0 bytes) are"
	}
	verb := "are"
	if len(files) == 1 {
		verb = "is"
	}
	return fmt.Sprintf("the %s that arrived (%s; %d bytes) %s", counted(len(files), "file"), some(files), t.arrived.Bytes(), verb)
}

func (t tree) paths() []string {
	var paths []string
	for _, f := range t.arrived.Files() {
		paths = append(paths, f.Path)
	}
	return paths
}

func (t tree) exchanged(other tree) string {
	switch {
	case t.said != other.arrived.Digest():
		return ""
	case other.said == t.arrived.Digest():
		return "the digests of program and input are exchanged: swap them"
	case len(other.arrived.Files()) > 0:
		return fmt.Sprintf("that is the digest of the %s that arrived: put that of the %s here", other.name, t.name)
	}
	return ""
}

func (t tree) nothing() string {
	var none pins.Builder
	empty, _ := none.Snapshot()
	switch {
	case t.said == empty.Digest():
		return "the digest it says is that of no files at all: digest the files that are sent"
	case len(t.arrived.Files()) == 0:
		return fmt.Sprintf("no file of the %s arrived: in a form or an archive each is named %s/<path> (as in %s/%s=@%s), and a JSON request lists them in %s.files",
			t.name, t.name, t.name, t.example(), t.example(), t.name)
	}
	return ""
}

// example is a name that a file of t could have.
func (t tree) example() string {
	if t.name == "input" {
		return "data.csv"
	}
	return "main.mjs"
}

// without is the digest of the files that arrived less those that drop names.
func (t tree) without(drop func(path string) bool) pins.Digest {
	return t.arrived.DigestIf(func(p string) (string, bool) { return p, !drop(p) })
}

func (t tree) withoutStrays() string {
	strays := t.strayPaths()
	if len(strays) == 0 || t.without(pins.IsStray) != t.said {
		return ""
	}
	return fmt.Sprintf("without %s the digest is exactly the one it says: leave that out, or digest it too", some(strays))
}

func (t tree) strayPaths() []string {
	return slices.DeleteFunc(t.paths(), func(p string) bool { return !pins.IsStray(p) })
}

// fewFiles is up to how many files each is tried for being the one too many.
const fewFiles = 64

func (t tree) withoutOne() string {
	paths := t.paths()
	if len(paths) > fewFiles {
		return ""
	}
	for _, one := range paths {
		if t.without(func(p string) bool { return p == one }) == t.said {
			return fmt.Sprintf("without %s the digest is exactly the one it says: leave that out, or digest it too", one)
		}
	}
	return ""
}

// prefixed: the digest was taken with the names that files have in a run.
func (t tree) prefixed() string {
	prefix := t.name + "/"
	if t.arrived.DigestIf(func(p string) (string, bool) { return prefix + p, true }) != t.said {
		return ""
	}
	first := t.paths()[0]
	return fmt.Sprintf("it says the digest of the same files with %s in front of each path: digest them without (/v1/snapshots: -F %s=@%s%s)", prefix, first, prefix, first)
}

// inFolder: the files were sent together with a folder that was not digested.
// How a path is written differs by form, which is not known here.
func (t tree) inFolder() string {
	paths := t.paths()
	folder, _, nested := strings.Cut(paths[0], "/")
	if !nested || t.arrived.DigestIf(func(p string) (string, bool) { return strings.TrimPrefix(p, folder+"/"), true }) != t.said {
		return ""
	}
	first := strings.TrimPrefix(paths[0], folder+"/")
	return fmt.Sprintf("it says the digest of the same files without %s/ in front of each path: leave %s/ out of the paths inside the %s (%s in a JSON request, %s/%s in a form or an archive)",
		folder, folder, t.name, first, t.name, first)
}

// ownName: curl -F name=file sends the file's name, and only name=@file the file.
func (t tree) ownName() string {
	for _, f := range t.arrived.Files() {
		inRun := t.name + "/" + f.Path
		for _, text := range []string{f.Path, path.Base(f.Path), inRun, "./" + f.Path, "./" + path.Base(f.Path), "./" + inRun} {
			if f.Size == int64(len(text)) && f.SHA256 == sha256.Sum256([]byte(text)) {
				return fmt.Sprintf("%s holds nothing but the name of a file, %s: put an @ before it to send the file (curl: -F %s=@%s)", f.Path, text, inRun, text)
			}
		}
	}
	return ""
}

func (t tree) oneFile() string {
	for _, f := range t.arrived.Files() {
		if t.said == pins.DigestOf(f.SHA256) {
			return fmt.Sprintf("it says the sha256 of the file %s alone: a snapshot's digest covers the paths too; POST /v1/snapshots gives it", f.Path)
		}
	}
	return ""
}

func (t tree) strays() string {
	strays := t.strayPaths()
	if len(strays) == 0 {
		return ""
	}
	return fmt.Sprintf("among them are files that are seldom meant (%s): leave them out or digest them too, and send exactly the files that were digested", some(strays))
}

// noEntry says that the program has no such file, and what is near.
func noEntry(entry string, program []string) string {
	text := fmt.Sprintf("the program has no file %.300q", entry)
	if len(program) == 0 {
		return text + ", because none arrived; entry is the path of one of its files, without program/"
	}
	if near := nearest(entry, program); len(near) > 0 {
		return fmt.Sprintf("%s; there is %s: entry is the path of one of its files, without program/", text, some(near))
	}
	if entries := slices.DeleteFunc(slices.Clone(program), func(p string) bool { return !isEntry(p) }); len(entries) > 0 {
		return fmt.Sprintf("%s; it has %s: entry is the path of one of its files, without program/", text, some(entries))
	}
	return fmt.Sprintf("%s, nor any that ends in one of %s; it has %s", text, entryEndings, some(program))
}

// nearest are the files that entry most likely means: the first of these rules
// that any file meets decides.
func nearest(entry string, program []string) []string {
	for _, alike := range []func(p string) bool{
		func(p string) bool { return strings.HasSuffix(entry, "/"+p) }, // folders too many, or ./
		func(p string) bool { return strings.EqualFold(entry, p) },
		func(p string) bool { return isEntry(p) && stem(p) == stem(entry) }, // another ending, or none
		func(p string) bool { return path.Base(p) == path.Base(entry) },
		func(p string) bool {
			return isEntry(p) && strings.EqualFold(stem(path.Base(p)), stem(path.Base(entry)))
		},
	} {
		var found []string
		for _, p := range program {
			if alike(p) {
				found = append(found, p)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func stem(p string) string { return strings.TrimSuffix(p, path.Ext(p)) }

// isEntry says whether Node can be started with a file of this name.
func isEntry(p string) bool {
	return slices.Contains(strings.Fields(entryEndings), path.Ext(p))
}

// some lists the first few of names, and counts the others.
func some(names []string) string {
	if len(names) <= named {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:named], ", "), len(names)-named)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
