package pins

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
)

func TestParseDigest(t *testing.T) {
	good := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	if d, err := ParseDigest(good); err != nil || string(d) != good {
		t.Fatalf("ParseDigest(%q) = %q, %v", good, d, err)
	}
	if d := DigestOf(sha256.Sum256(nil)); d != "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("digest of nothing = %s", d)
	}
	bad := []string{
		"", "sha256:", good[:len(good)-1], good + "0", " " + good, good + "\n", strings.ToUpper(good),
		"SHA256:" + good[7:], "sha512:" + good[7:], good[7:], "sha256:" + strings.Repeat("0", 63) + "g",
		"sha256:" + strings.Repeat("0", 63) + "/", "sha256:" + strings.Repeat("0", 63) + ":", "sha256:" + strings.Repeat("0", 63) + "`",
	}
	for _, s := range bad {
		if d, err := ParseDigest(s); !errors.Is(err, ErrDigestForm) || d != "" {
			t.Errorf("ParseDigest(%q) = %q, %v, want ErrDigestForm", s, d, err)
		}
	}
}
