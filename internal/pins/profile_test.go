package pins

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
)

// TestProfileText writes the text of a digest out, by the layout that NewProfile documents.
func TestProfileText(t *testing.T) {
	text := "sf-confined-profile/1\n" +
		"\x00\x00\x00\x00\x00\x00\x00\x04name" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x01n" +
		"\x00\x00\x00\x00\x00\x00\x00\x08template" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x02t\n" +
		"\x00\x00\x00\x00\x00\x00\x00\x0benvironment" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x02TZ" +
		"\x00\x00\x00\x00\x00\x00\x00\x04part" + "\x00\x00\x00\x00\x00\x00\x00\x07preload" + "\x00\x00\x00\x00\x00\x00\x00\x02\x00\xff"
	want := Digest(fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))))
	environment := []string{"TZ"}
	got := NewProfile("n", "t\n", environment, []ProfilePart{{"preload", []byte{0, 0xff}}})
	environment[0] = "changed"
	if got.Digest != want || got.Name != "n" || got.Template != "t\n" || !slices.Equal(got.Environment, []string{"TZ"}) {
		t.Errorf("%+v, want digest %s", got, want)
	}
}

type profileInput struct {
	name, template string
	environment    []string
	parts          []ProfilePart
}

// TestEveryPartMovesTheProfileDigest: no two of these profiles share a digest, also those whose parts laid end to end
// are the same bytes.
func TestEveryPartMovesTheProfileDigest(t *testing.T) {
	base := func() profileInput {
		return profileInput{"name", "template", []string{"A", "B"}, []ProfilePart{{"p", []byte("x")}, {"q", []byte("y")}}}
	}
	edits := map[string]func(*profileInput){
		"nothing":                    func(*profileInput) {},
		"name":                       func(p *profileInput) { p.name += "1" },
		"template":                   func(p *profileInput) { p.template += "\n" },
		"name into template":         func(p *profileInput) { p.name, p.template = "nam", "etemplate" },
		"environment name":           func(p *profileInput) { p.environment[0] = "C" },
		"environment order":          func(p *profileInput) { slices.Reverse(p.environment) },
		"an environment name less":   func(p *profileInput) { p.environment = p.environment[:1] },
		"environment names joined":   func(p *profileInput) { p.environment = []string{"AB"} },
		"part name":                  func(p *profileInput) { p.parts[0].Name = "r" },
		"part content":               func(p *profileInput) { p.parts[1].Content = []byte("z") },
		"part order":                 func(p *profileInput) { slices.Reverse(p.parts) },
		"a part less":                func(p *profileInput) { p.parts = p.parts[:1] },
		"an empty part":              func(p *profileInput) { p.parts = append(p.parts, ProfilePart{}) },
		"part name into its content": func(p *profileInput) { p.parts[0] = ProfilePart{"", []byte("px")} },
		"environment as a part": func(p *profileInput) {
			p.environment, p.parts = p.environment[:1], append([]ProfilePart{{"", []byte("B")}}, p.parts...)
		},
		"nothing at all": func(p *profileInput) { *p = profileInput{} },
	}
	seen := map[Digest]string{}
	for what, edit := range edits {
		in := base()
		edit(&in)
		d := NewProfile(in.name, in.template, in.environment, in.parts).Digest
		if other, again := seen[d]; again {
			t.Errorf("%q and %q give one digest", what, other)
		}
		seen[d] = what
		if _, err := ParseDigest(string(d)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
