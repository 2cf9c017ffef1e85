package httpapi

import (
	"archive/tar"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

const tarType = "application/x-tar"

// tarEnd is how an archive ends.
var tarEnd = strings.Repeat("\x00", 1024)

func rawFile(name, content string) string { return rawMember(tar.TypeReg, name, "", content) }

// tarHead are the members that every archive here starts with: a whole run.
func tarHead() string {
	return rawFile("request.json", requestWith(nil)) + rawFile("program/main.mjs", helloSource)
}

// paxMember is a member with records of the PAX format.
func paxMember(name, content string, records map[string]string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	writeMember(w, &tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(content)), PAXRecords: records, Format: tar.FormatPAX}, content)
	_ = w.Flush()
	return b.String()
}

// paxRecord is a record of a PAX header.
func paxRecord(key, value string) string {
	for n := len(key) + len(value) + 4; ; n++ {
		if s := fmt.Sprintf("%d %s=%s\n", n, key, value); len(s) == n {
			return s
		}
	}
}

func global(key, value string) string {
	return rawMember(tar.TypeXGlobalHeader, "pax_global_header", "", paxRecord(key, value))
}

// sparse1 is a sparse file as PAX 1.0 stores it: its map is at the start of its
// content, and its size in a record.
func sparse1(name, realSize, sparseMap string) string {
	records := paxRecord("GNU.sparse.major", "1") + paxRecord("GNU.sparse.minor", "0") + paxRecord("GNU.sparse.name", name) + paxRecord("GNU.sparse.realsize", realSize)
	return rawMember(tar.TypeXHeader, "x", "", records) + rawFile("GNUSparseFile.0/x", sparseMap+strings.Repeat("\x00", (512-len(sparseMap)%512)%512))
}

// sparseOld is an empty sparse file as GNU tar stores it otherwise.
func sparseOld(name, realSize string) string {
	m := []byte(rawMember(tar.TypeGNUSparse, name, "", ""))
	copy(m[257:], "ustar  \x00")
	copy(m[483:], realSize)
	sum := 8 * int(' ')
	for i, c := range m {
		if i < 148 || i >= 156 {
			sum += int(c)
		}
	}
	copy(m[148:], fmt.Sprintf("%06o\x00 ", sum))
	return string(m)
}

// TestAcceptedTars: the same run, as the tars of this world write it.
func TestAcceptedTars(t *testing.T) {
	dir := rawMember(tar.TypeDir, "program/", "", "")
	request, program := rawFile("request.json", requestWith(nil)), rawFile("program/main.mjs", helloSource)
	for name, body := range map[string]string{
		"plain":               request + program + tarEnd,
		"padded":              request + program + strings.Repeat(tarEnd, 10),
		"with directories":    rawMember(tar.TypeDir, "./", "", "") + request + dir + program + rawMember(tar.TypeDir, "../elsewhere/", "", "") + tarEnd,
		"./ in front":         rawFile("./request.json", requestWith(nil)) + rawFile("./program/main.mjs", helloSource) + tarEnd,
		"old type of a file":  request + rawMember('\x00', "program/main.mjs", "", helloSource) + tarEnd,
		"old type, directory": request + rawMember('\x00', "program/", "", "") + program + tarEnd,
		"a global header":     global("comment", "0123456789abcdef") + request + global("mtime", "1") + program + tarEnd,
		"PAX":                 paxMember("request.json", requestWith(nil), map[string]string{"LIBARCHIVE.xattr.com.apple.quarantine": "x"}) + paxMember("program/main.mjs", helloSource, map[string]string{"SCHILY.xattr.user.x": "y"}) + tarEnd,
		"a name of PAX":       request + rawMember(tar.TypeXHeader, "x", "", paxRecord("path", "program/main.mjs")) + rawFile("short", helloSource) + tarEnd,
		"a name of GNU":       request + rawMember(tar.TypeGNULongName, "././@LongLink", "", "program/main.mjs\x00") + rawFile("short", helloSource) + tarEnd,
		"a size in base 256":  request + rawMember(tar.TypeReg, "program/main.mjs", "\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"+string(byte(len(helloSource))), helloSource) + tarEnd,
		"a size of PAX":       request + rawMember(tar.TypeXHeader, "x", "", paxRecord("size", fmt.Sprint(len(helloSource)))) + rawMember(tar.TypeReg, "program/main.mjs", "00000000000", helloSource) + tarEnd,
		"written by Go":       tarOf(file{name: "request.json", content: requestWith(nil)}, file{name: "program/main.mjs", content: helloSource}),
	} {
		if w := newRig(t, nil).post(t, "/v1/runs", body, tarType); w.Code != 200 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestMalformedTars: what cannot be read, or could be read in two ways.
func TestMalformedTars(t *testing.T) {
	head := tarHead()
	mebi := strings.Repeat("x", 1<<20)
	broken := []byte(head + tarEnd)
	broken[0] ^= 1
	for name, c := range map[string]struct {
		body string
		code ProblemCode
		want string // in the detail
	}{
		"nothing":                 {"", "malformed-request", "two empty blocks"},
		"no member":               {tarEnd, "malformed-request", "has no member"},
		"one byte":                {"x", "malformed-request", ""},
		"no end":                  {head, "malformed-request", "two empty blocks"},
		"half an end":             {head + tarEnd[:512], "malformed-request", "two empty blocks"},
		"less than an end":        {head + tarEnd[:1023], "malformed-request", ""},
		"cut in the padding":      {head[:len(head)-100], "malformed-request", "two empty blocks"},
		"cut in the content":      {head[:len(head)-500], "malformed-request", "unexpected EOF"},
		"cut in a head":           {head + rawFile("input/a", "")[:300], "malformed-request", "unexpected EOF"},
		"cut behind a PAX header": {head + rawMember(tar.TypeXHeader, "x", "", paxRecord("path", "input/a")), "malformed-request", ""},
		"something after the end": {head + tarEnd + strings.Repeat("\x00", 600) + "x", "malformed-request", "something follows"},
		"two archives":            {head + tarEnd + rawFile("input/a", "") + tarEnd, "malformed-request", "something follows"},
		"an empty block inside":   {head + tarEnd[:512] + rawFile("input/a", "") + tarEnd, "malformed-request", "invalid tar header"},
		"a wrong checksum":        {string(broken), "malformed-request", "invalid tar header"},
		"a form":                  {raw(rawRequest(), rawProgram()) + tarEnd, "malformed-request", ""},
		"a size that lies":        {head + rawMember(tar.TypeReg, "input/a", "00000010000", "x") + tarEnd, "malformed-request", ""},
		"a huge size":             {head + rawMember(tar.TypeReg, "input/a", "77777777777", "x") + tarEnd, "malformed-request", "unexpected EOF"},
		"a huger size":            {head + rawMember(tar.TypeReg, "input/a", "\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff", "x") + tarEnd, "malformed-request", "unexpected EOF"},
		"a size beyond all":       {head + rawMember(tar.TypeReg, "input/a", "\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "x") + tarEnd, "malformed-request", "invalid tar header"},
		"a negative size":         {head + rawMember(tar.TypeReg, "input/a", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "x") + tarEnd, "malformed-request", "invalid tar header"},
		"a negative size of PAX":  {head + rawMember(tar.TypeXHeader, "x", "", paxRecord("size", "-1")) + rawFile("input/a", "") + tarEnd, "malformed-request", "invalid tar header"},
		"no number as a size":     {head + rawMember(tar.TypeReg, "input/a", "xyz", "") + tarEnd, "malformed-request", "invalid tar header"},
		"broken PAX records":      {head + rawMember(tar.TypeXHeader, "x", "", "99 path=a\n") + rawFile("input/a", "") + tarEnd, "malformed-request", "invalid tar header"},
		"a NUL in a path of PAX":  {head + rawMember(tar.TypeXHeader, "x", "", paxRecord("path", "input/a\x00b")) + rawFile("input/a", "") + tarEnd, "malformed-request", "invalid tar header"},
		"huge PAX records":        {head + rawMember(tar.TypeXHeader, "x", "", paxRecord("path", mebi)) + rawFile("input/a", "") + tarEnd, "too-large", "head of a member"},
		"a huge name of GNU":      {head + rawMember(tar.TypeGNULongName, "x", "", mebi+"x") + rawFile("input/a", "") + tarEnd, "too-large", "head of a member"},
		"a huge global header":    {global("comment", mebi) + head + tarEnd, "too-large", "head of a member"},
		"a global path":           {head + global("path", "input/other") + rawFile("input/a", "") + tarEnd, "malformed-request", `global header of the archive sets "path"`},
		"a global size":           {global("size", "0") + head + tarEnd, "malformed-request", `sets "size"`},
		"a sparse map that lies":  {head + sparse1("input/a", "10", "99999999\n0\n"+mebi) + tarEnd, "malformed-request", ""},
		"request not first":       {rawFile("program/main.mjs", helloSource) + rawFile("request.json", requestWith(nil)) + tarEnd, "malformed-request", `the first member is "program/main.mjs" and must be "request.json"; put that one first (tar -cf - request.json`},
		"request under its part":  {rawFile("request", requestWith(nil)) + tarEnd, "malformed-request", `must be "request.json"`},
		"a Mac's file first":      {rawFile("./._request.json", "x") + head + tarEnd, "malformed-request", "COPYFILE_DISABLE=1"},
		"request twice":           {head + rawFile("./request.json", requestWith(nil)) + tarEnd, "malformed-request", `two members "request.json"`},
		"request is a link":       {rawMember(tar.TypeSymlink, "request.json", "", "") + tarEnd, "malformed-request", "symbolic link"},
		"request not JSON":        {rawFile("request.json", "{") + tarEnd, "malformed-request", `the member "request.json" is not JSON with one reading: line 1`},
		"request too large":       {rawFile("request.json", strings.Repeat(" ", maxRequestBytes+1)) + tarEnd, "too-large", "1048576"},
		"too many members":        {head + strings.Repeat(rawFile("input/x", ""), maxFiles) + tarEnd, "too-large", "100000"},
		"gzip":                    {"\x1f\x8b\x08\x00", "unsupported-media-type", "compressed (gzip); send it plain"},
		"xz":                      {"\xfd7zXZ\x00\x00", "unsupported-media-type", "xz"},
		"zstd":                    {"\x28\xb5\x2f\xfd", "unsupported-media-type", "zstd"},
		"bzip2":                   {"BZh9", "unsupported-media-type", "bzip2"},
		"zip":                     {"PK\x03\x04", "unsupported-media-type", "zip"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			p := problemOf(t, r.post(t, "/v1/runs", c.body, tarType))
			if p.Code != c.code || !strings.Contains(p.Detail, c.want) || len(p.Errors) > 0 {
				t.Errorf("got %s: %s", p.Code, p.Detail)
			}
			if got := r.memory.used.Load(); got != 0 {
				t.Errorf("%d bytes are still held", got)
			}
		})
	}
}

// TestUnfitMembers: what can be read and is no file is named, all at once, with
// the cure; its size is never believed.
func TestUnfitMembers(t *testing.T) {
	link := func(kind byte, name, to string) string {
		m := []byte(rawMember(kind, name, "", ""))
		copy(m[157:], to)
		sum := 8 * int(' ')
		for i, c := range m {
			if i < 148 || i >= 156 {
				sum += int(c)
			}
		}
		copy(m[148:], fmt.Sprintf("%06o\x00 ", sum))
		return string(m)
	}
	const terabyte = "17777777777777"
	for name, c := range map[string]struct{ members, pointer, want string }{
		"symbolic link":        {link(tar.TypeSymlink, "program/a~b/c", "../../etc/passwd"), "wrong-type /program/files/a~0b~1c", `link to "../../etc/passwd"`},
		"hard link":            {link(tar.TypeLink, "./input/a", "program/main.mjs"), "wrong-type /input/files/a", "--hard-dereference"},
		"device":               {rawMember(tar.TypeChar, "input/a", "", ""), "wrong-type /input/files/a", "device"},
		"block device":         {rawMember(tar.TypeBlock, "input/a", "", ""), "wrong-type /input/files/a", "device"},
		"pipe":                 {rawMember(tar.TypeFifo, "input/a", "", ""), "wrong-type /input/files/a", "pipe"},
		"contiguous":           {rawMember(tar.TypeCont, "input/a", "", "xyz"), "wrong-type /input/files/a", `type '7'`},
		"a volume's label":     {rawMember('V', "label", "", ""), "unknown-field /label", `type 'V'`},
		"sparse, PAX":          {sparse1("input/a", "1000000000000000", "1\n0\n0\n"), "wrong-type /input/files/a", "--no-read-sparse"},
		"sparse, long map":     {sparse1("input/a", "1000000000", "40000\n"+strings.Repeat("1\n0\n", 40_000)), "wrong-type /input/files/a", "sparse"},
		"sparse, GNU":          {sparseOld("input/a", terabyte[:11]), "wrong-type /input/files/a", "sparse"},
		"a Mac's file":         {rawFile("./input/sub/._x", "xyz"), "wrong-type /input/files/sub~1._x", "COPYFILE_DISABLE=1"},
		"a Mac's file outside": {rawFile("./._program", "xyz"), "unknown-field /._program", "--no-mac-metadata"},
		"a stranger":           {rawFile("README.md", "xyz"), "unknown-field /README.md", "files are named program/<path>"},
		"two ./ in front":      {rawFile("././input/a", "xyz"), "unknown-field /.~1input~1a", "files are named"},
		"above":                {rawFile("../input/a", "xyz"), "unknown-field /..~1input~1a", "files are named"},
		"absolute":             {rawFile("/input/a", "xyz"), "unknown-field /~1input~1a", "files are named"},
		"inside, and above":    {rawFile("input/../a", "xyz"), "bad-path /input/files/..~1a", "without it"},
	} {
		r := newRig(t, nil)
		other := rawMember(tar.TypeSymlink, "program/other", "", "") // so that all faults are seen, and the next member is found
		p := problemOf(t, r.post(t, "/v1/runs", tarHead()+c.members+other+tarEnd, tarType))
		all := fmt.Sprint(p.Errors)
		want := c.pointer + ", wrong-type /program/files/other"
		if strings.HasPrefix(c.pointer, "bad-path") { // found when all files are there
			want = "wrong-type /program/files/other, " + c.pointer
		}
		if p.Code != ProblemCodeInvalidRequest || faultLine(p) != want || !strings.Contains(all, c.want) {
			t.Errorf("%s: %s %s, want %s and %q", name, faultLine(p), all, want, c.want)
		}
	}
	r := newRig(t, nil)
	p := problemOf(t, r.post(t, "/v1/snapshots", rawFile("a", "")+rawFile("sub/._a", "")+tarEnd, tarType))
	if faultLine(p) != "wrong-type /files/sub~1._a" {
		t.Errorf("%+v", p)
	}
	many := strings.Repeat(rawMember(tar.TypeFifo, "input/a", "", ""), 1000)
	if p := problemOf(t, r.post(t, "/v1/runs", tarHead()+many+tarEnd, tarType)); len(p.Errors) != 1 {
		t.Errorf("%+v", p)
	}
}
