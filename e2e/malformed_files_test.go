package e2e

import (
	"archive/tar"
	"fmt"
	"math/rand/v2"
	"strings"
)

// side is one snapshot of a base: how its files' names begin, and where their
// faults point.
type side struct{ prefix, pointer string }

func (b *base) sides() []side {
	if b.operation == "createRun" {
		return []side{{"program/", "/program"}, {"input/", "/input"}}
	}
	return []side{{"", ""}}
}

func (t side) fault(code, path string) []string {
	return []string{code + " " + t.pointer + "/files/" + escaped(path)}
}

// fileDefects are about the files themselves, and the same in every form.
func fileDefects(r *rand.Rand, b *base) []defect {
	if b.media == "" {
		return nil
	}
	var out []defect
	add := func(name string, faults []string, change func([]file) []file) {
		out = append(out, defect{name: "files: " + name, code: "invalid-request", faults: faults, change: func(d *draft) { d.files = change(d.files) }})
	}
	for _, t := range b.sides() {
		for _, path := range badNames(r, b.media) {
			if b.media == tarType && t.prefix == "" && strings.HasPrefix(path, "./") {
				continue // which is dropped
			}
			add(fmt.Sprintf("%s%.20q", t.prefix, path), t.fault("bad-path", path), with(file{t.prefix + path, "x"}))
		}
		known := strings.TrimPrefix(firstIn(b.files, t.prefix), t.prefix)
		add("twice "+known, t.fault("duplicate-path", known), with(file{t.prefix + known, "x"}))
		add("in a file "+known, t.fault("path-clash", known+"/x"), with(file{t.prefix + known + "/x", ""}))
		upper := strings.ToUpper(known)
		add("in another case "+upper, t.fault("path-clash", upper), with(file{t.prefix + upper, ""}))
		folder := word(r)
		add("a folder that is a file", t.fault("path-clash", folder), with(file{t.prefix + folder + "/x", ""}, file{t.prefix + folder, ""}))
		if t.pointer == "" {
			continue
		}
		mismatch := []string{"digest-mismatch " + t.pointer + "/digest"}
		add("one more", mismatch, with(file{t.prefix + "more-" + folder, "x"}))
		add("one changed", mismatch, func(l []file) []file {
			for i := range l {
				if l[i].path == t.prefix+known {
					l[i].content += "x"
				}
			}
			return l
		})
		gone := mismatch
		if known == "main.mjs" {
			gone = append(gone, "entry-missing /program/entry")
		}
		add("one less", gone, func(l []file) []file {
			out := []file{}
			for _, f := range l {
				if f.path != t.prefix+known {
					out = append(out, f)
				}
			}
			return out
		})
	}
	return out
}

func firstIn(list []file, prefix string) string {
	for _, f := range list {
		if strings.HasPrefix(f.path, prefix) {
			return f.path
		}
	}
	return ""
}

// badNames are paths that no snapshot can hold, and that the form can.
func badNames(r *rand.Rand, media string) []string {
	name, odd := word(r), pick(r, " ", ":", "*", "?", "$", "%", "&", "~", "#", "=", "!", "(", "|", "<", "'", "ü", "é", "\u202e", "文", "😀")
	at := r.IntN(len(name))
	out := []string{
		name[:at] + odd + name[at:], "/" + name, "//" + name, "../" + name, "a/../" + name, "./" + name, name + "/./x", name + "//x", name + "/..", "..", ".",
		strings.Repeat("d/", 16) + name, strings.Repeat("a", 257+r.IntN(90)), name + odd + "/" + name,
	}
	if media != tarType { // where a slash at the end makes a directory
		out = append(out, name+"/", "")
	}
	if media == jsonType {
		out = append(out, name+"\x00", name+"\n", name+`\`+name, name+`"`, "\u2028"+name)
	}
	return out
}

// tarDefects break an archive.
func tarDefects(r *rand.Rand, b *base) []defect {
	if b.media != tarType {
		return nil
	}
	var out []defect
	whole := func(name string, code string, change func([]byte) []byte) {
		out = append(out, defect{name: "tar: " + name, code: code, change: func(d *draft) { d.body = change }})
	}
	const block = 512
	cut := r.Float64()
	whole("cut off", "malformed-request", func(a []byte) []byte { return a[:int(cut*float64(len(a)))] })
	whole("without its end", "malformed-request", func(a []byte) []byte { return a[:len(a)-2*block] })
	whole("half its end", "malformed-request", func(a []byte) []byte { return a[:len(a)-block] })
	whole("nothing", "malformed-request", func([]byte) []byte { return nil })
	whole("twice", "malformed-request", func(a []byte) []byte { return append(a, a...) })
	after := pick(r, "x", "\x00x", strings.Repeat("\x00", block)+"x", strings.Repeat("y", 2*block))
	whole("something after the end", "malformed-request", func(a []byte) []byte { return append(a, after...) })
	field := pick(r, 0, 99, 107, 115, 123, 135, 147)
	whole(fmt.Sprintf("byte %d of a head", field), "malformed-request", func(a []byte) []byte { a[field] ^= 0x15; return a })
	noise := r.Uint64()
	whole("noise", "malformed-request", func(a []byte) []byte {
		n := rand.New(rand.NewPCG(noise, 0))
		for i := range a {
			a[i] = byte(n.Uint32()) | 1
		}
		a[0] = 'n' // and no magic number of a packer
		return a
	})
	for _, magic := range []string{"\x1f\x8b\x08", "BZh9", "\xfd7zXZ\x00", "\x28\xb5\x2f\xfd"} {
		whole(fmt.Sprintf("packed as %q", magic), "unsupported-media-type", func(a []byte) []byte { return append([]byte(magic), a...) })
	}
	for _, t := range b.sides() {
		for _, flag := range []byte{tar.TypeSymlink, tar.TypeLink, tar.TypeChar, tar.TypeBlock, tar.TypeFifo} {
			path := word(r)
			out = append(out, defect{name: fmt.Sprintf("tar: a member of type %c", flag), code: "invalid-request", faults: t.fault("wrong-type", path), change: func(d *draft) {
				d.entries = func(l []entry) []entry {
					return append(l, entry{file: file{path: t.prefix + path}, change: func(h *tar.Header) { h.Typeflag = flag; h.Linkname = "/etc/passwd" }})
				}
			}})
		}
		path := pick(r, "._x", "d/._main.mjs", "._")
		out = append(out, defect{name: "tar: a Mac's file", code: "invalid-request", faults: t.fault("wrong-type", path), change: func(d *draft) {
			d.files = append(d.files, file{t.prefix + path, "x"})
		}})
	}
	out = append(out, defect{name: "tar: paths for all members", code: "malformed-request", change: func(d *draft) {
		d.entries = func(l []entry) []entry {
			return append(l, entry{change: func(h *tar.Header) {
				*h = tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"path": "program/main.mjs"}}
			}})
		}
	}})
	return out
}
