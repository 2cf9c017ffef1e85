package pins

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// profileHeader is the version of the layout that [NewProfile] describes.
const profileHeader = "sf-confined-profile/1\n"

// Profile is the identity of what a run may do: everything about the boundary that is the same for every run.
type Profile struct {
	Name        string
	Digest      Digest
	Template    string
	Environment []string
}

// ProfilePart is one fixed part of a profile beside its template, such as the preload or a tool's path.
type ProfilePart struct {
	Name    string
	Content []byte
}

// NewProfile computes the digest of a profile. It is sha256 over "sf-confined-profile/1\n" and then, for each item, three
// strings: kind, name and content, each as its length in bytes (8 bytes, big-endian) followed by its bytes. The items are
//
//	"name"         ""    name
//	"template"     ""    template
//	"environment"  ""    one item for each element of environment, in the order given
//	"part"         Name  Content, one item for each part, in the order given
//
// so that two profiles have one digest only when all of it, and its order, is equal.
func NewProfile(name, template string, environment []string, parts []ProfilePart) Profile {
	text := []byte(profileHeader)
	item := func(fields ...string) {
		for _, f := range fields {
			text = binary.BigEndian.AppendUint64(text, uint64(len(f)))
			text = append(text, f...)
		}
	}
	item("name", "", name)
	item("template", "", template)
	for _, e := range environment {
		item("environment", "", e)
	}
	for _, p := range parts {
		item("part", p.Name, string(p.Content))
	}
	return Profile{Name: name, Digest: DigestOf(sha256.Sum256(text)), Template: template, Environment: slices.Clone(environment)}
}
