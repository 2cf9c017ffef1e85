package exec

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"confined/internal/pins"
)

// Content is the digest of all that a request asks for: everything in it but
// its id. No field can hold a NUL, so the fields joined by NULs have one reading.
func (r Request) Content() pins.Digest {
	s := r.spec
	fields := append([]string{
		string(s.Runtime), string(s.Profile), string(s.ProgramDigest), s.Entry, string(s.InputDigest),
		fmt.Sprint(s.TimeoutMs, s.MaxOutputBytes, s.CPUSeconds, s.MaxDescriptors),
	}, s.Args...)
	sum := sha256.Sum256([]byte(strings.Join(fields, "\x00")))
	return pins.DigestOf(sum)
}
