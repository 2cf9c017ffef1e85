package pins

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Digest names content: "sha256:" and 64 lowercase hexadecimal digits.
type Digest string

const digestPrefix = "sha256:"

// ErrDigestForm is wrapped by every error of [ParseDigest].
var ErrDigestForm = errors.New(`a digest is "sha256:" and 64 lowercase hexadecimal digits`)

// ParseDigest returns s as a Digest when it has exactly the form of one. It accepts one spelling only (no upper case,
// no spaces, no other algorithm), so that two equal digests are always equal strings.
func ParseDigest(s string) (Digest, error) {
	digits, found := strings.CutPrefix(s, digestPrefix)
	if !found || len(digits) != hex.EncodedLen(sha256.Size) {
		return "", fmt.Errorf("%.100q is no digest: %w", s, ErrDigestForm)
	}
	for i := range len(digits) {
		if c := digits[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", fmt.Errorf("%.100q is no digest: %w", s, ErrDigestForm)
		}
	}
	return Digest(s), nil
}

// DigestOf is the Digest of the bytes that sum was computed over.
func DigestOf(sum [sha256.Size]byte) Digest {
	return Digest(digestPrefix + hex.EncodeToString(sum[:]))
}
