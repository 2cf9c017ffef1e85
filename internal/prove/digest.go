package prove

import (
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"strconv"

	"confined/internal/pins"
)

// suiteHeader is the version of the layout that [Suite] describes.
const suiteHeader = "confined-suite/1\n"

// Suite is the identity of the suite: sha256 over "confined-suite/1\n" and then every string of the table and of what it runs, each as its
// length in bytes (8 bytes, big-endian) followed by its bytes. The strings are, for each row of [Probes] in order, "row", Family, Name, Kind,
// Act, Code, MacCode, Twin, NoControl, MacAlone, Instead, Only, Owner and the text of its evidence; then, for each embedded file in
// the order of their names, "file", name and content.
func Suite() pins.Digest { return suiteDigest(Probes(), javaScript, cSources) }

func suiteDigest(table []Probe, embedded ...fs.FS) pins.Digest {
	text := []byte(suiteHeader)
	add := func(words ...string) {
		for _, w := range words {
			text = binary.BigEndian.AppendUint64(text, uint64(len(w)))
			text = append(text, w...)
		}
	}
	for _, p := range table {
		add("row", p.Family, p.Name, string(p.Kind), p.Act, p.Code, p.MacCode, p.Twin, p.NoControl, p.MacAlone, p.Instead, p.Only, strconv.FormatBool(p.Owner), p.Evidence.Text)
	}
	for _, from := range embedded {
		_ = fs.WalkDir(from, ".", func(path string, e fs.DirEntry, _ error) error {
			if !e.IsDir() {
				content, _ := fs.ReadFile(from, path) // embedded: it cannot fail
				add("file", path, string(content))
			}
			return nil
		})
	}
	return pins.DigestOf(sha256.Sum256(text))
}
