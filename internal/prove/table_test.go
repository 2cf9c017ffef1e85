package prove

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestTable: every row is whole, and every denied act has an allowed one beside it, wherever the table is for.
func TestTable(t *testing.T) {
	for _, host := range [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}} {
		t.Run(strings.Join(host[:], "/"), func(t *testing.T) {
			rows := map[string]Probe{}
			for _, p := range ProbesOn(host[0], host[1]) {
				if _, twice := rows[p.Name]; twice {
					t.Errorf("two rows are called %q", p.Name)
				}
				rows[p.Name] = p
			}
			if len(rows) < 200 {
				t.Errorf("the table has %d rows", len(rows))
			}
			for _, name := range ipv6Rows() {
				if _, there := rows[name]; !there {
					t.Errorf("no row is called %q", name)
				}
			}
			for name, p := range rows {
				if fault := faultOf(p, rows[p.Twin]); fault != "" {
					t.Errorf("%s: %s", name, fault)
				}
			}
		})
	}
}

// faultOf says what is wrong with a row, or nothing.
func faultOf(p, twin Probe) string {
	look := p.Kind == Look
	switch {
	case p.Family == "" || p.Name == "" || p.Evidence.Text == "" || strings.ContainsAny(p.Name, "\t\n"):
		return "something is missing"
	case !slices.Contains([]Kind{JavaScript, Native, Look}, p.Kind):
		return "no kind"
	case look != (p.Evidence.look != nil) || look == (p.Evidence.took != nil) || look == (p.Act != "") || look && p.Code != "":
		return "what it has is not for its kind"
	case p.Code != "" && (twin.Name == "" || !twin.Allowed() || twin.Kind != p.Kind):
		return "no allowed twin of its kind: " + p.Twin
	case p.Allowed() && (p.MacCode != "" || p.Twin != "" || p.Instead != "" || p.NoControl != ""):
		return "it is allowed, and has what is for denied rows"
	}
	return ""
}

func TestCodeOn(t *testing.T) {
	for _, row := range []struct {
		p    Probe
		want string // on darwin
	}{
		{Probe{}, ""},
		{Probe{Code: "ENOENT"}, "EPERM"},
		{Probe{Code: "ENOENT", MacCode: "EROFS"}, "EROFS"},
		{Probe{Code: "ERR_DLOPEN_FAILED"}, "ERR_DLOPEN_FAILED"},
		{Probe{Code: Nothing}, Nothing},
	} {
		if linux, mac := row.p.CodeOn("linux"), row.p.CodeOn("darwin"); linux != row.p.Code || mac != row.want {
			t.Errorf("%+v: %q on Linux, %q on macOS, want %q and %q", row.p, linux, mac, row.p.Code, row.want)
		}
	}
}

// TestSuiteDigest: every part of a row and of what runs moves the digest, and so do their order and where one ends.
func TestSuiteDigest(t *testing.T) {
	row := Probe{Family: "a", Name: "b", Kind: JavaScript, Act: "c", Code: "d", MacCode: "e", Twin: "f", NoControl: "g", Instead: "h", Only: "i", Evidence: Evidence{Text: "j"}}
	table := []Probe{row, {Name: "z"}}
	files := fstest.MapFS{"js/one": {Data: []byte("1")}, "js/two": {Data: []byte("2")}}
	seen := map[string]string{string(suiteDigest(table, files)): "the table itself"}
	note := func(what string, table []Probe, files fstest.MapFS) {
		digest := string(suiteDigest(table, files))
		if other, twice := seen[digest]; twice {
			t.Errorf("%s has the digest of %s", what, other)
		}
		seen[digest] = what
	}
	for what, change := range map[string]func(*Probe){
		"another family": func(p *Probe) { p.Family += "x" }, "another name": func(p *Probe) { p.Name += "x" }, "another kind": func(p *Probe) { p.Kind = Look },
		"another act": func(p *Probe) { p.Act += "x" }, "another code": func(p *Probe) { p.Code += "x" }, "another code on macOS": func(p *Probe) { p.MacCode += "x" },
		"another twin": func(p *Probe) { p.Twin += "x" }, "another reason": func(p *Probe) { p.NoControl += "x" }, "another reason on macOS": func(p *Probe) { p.MacAlone += "x" }, "another way out": func(p *Probe) { p.Instead += "x" },
		"another system": func(p *Probe) { p.Only += "x" }, "another user": func(p *Probe) { p.Owner = true }, "other evidence": func(p *Probe) { p.Evidence.Text += "x" },
		"a letter that moved": func(p *Probe) { p.Family, p.Name = "", "ab" },
	} {
		changed := row
		change(&changed)
		note(what, []Probe{changed, table[1]}, files)
	}
	note("another order", []Probe{table[1], table[0]}, files)
	note("a row less", table[:1], files)
	for what, change := range map[string]func(fstest.MapFS){
		"another source":      func(f fstest.MapFS) { f["js/one"] = &fstest.MapFile{Data: []byte("x")} },
		"a source less":       func(f fstest.MapFS) { delete(f, "js/one") },
		"a source renamed":    func(f fstest.MapFS) { f["js/on"] = f["js/one"]; delete(f, "js/one") },
		"a source and a file": func(f fstest.MapFS) { f["js/three"] = &fstest.MapFile{} },
	} {
		other := maps.Clone(files)
		change(other)
		note(what, table, other)
	}
	if again := Suite(); again != Suite() || seen[string(again)] != "" {
		t.Errorf("Suite is %s, and then another", again)
	}
}
