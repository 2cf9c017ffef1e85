package httpapi

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBase64(t *testing.T) {
	long := strings.Repeat("A", 4<<10)
	for text, want := range map[string]string{
		"": "", "QQ==": "", "QUI=": "", "QUJD": "", "+/+/": "", long: "", long + "QQ==": "",
		"QQ": "ends too early", "QQ=": "ends too early", "QUJDR": "ends too early", "Q": "ends too early", long + "Q": "ends too early",
		"QR==": "no bytes", "QUJ=": "no bytes", // bits that are thrown away
		"QQ==QQ==": "no bytes", long[:4<<10-4] + "QQ==QQ==": "follows the padding", long[:4<<10-4] + "QUI=Q": "follows the padding", "====": "no bytes",
		"QU\nJD": `character 3 is '\n'`, "QUJD\r\n": `character 5 is '\r'`, long + "\n": `character 4097 is '\n'`,
		"-_-_": `character 1 is '-'`, "QUJ ": `character 4 is ' '`, long + "é===": `character 4097 is 'é'`, "QU JD": `character 3 is ' '`,
	} {
		for name, as := range map[string]func(io.Reader) io.Reader{"": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader} {
			b := &base64Reader{src: as(strings.NewReader(text))}
			got, err := io.ReadAll(b)
			if err != nil || (b.problem == "") != (want == "") || !strings.Contains(b.problem, want) {
				t.Errorf("%.20q… (%d) %s: %v, %q, want %q", text, len(text), name, err, b.problem, want)
			}
			plain, err := base64.StdEncoding.Strict().DecodeString(text)
			if want == "" && (err != nil || string(got) != string(plain)) {
				t.Errorf("%.20q… (%d) %s: %q, want %q (%v)", text, len(text), name, got, plain, err)
			}
		}
	}
}

func TestBase64PassesErrorsOn(t *testing.T) {
	for _, text := range []string{"", "QUJD", "QU", "-"} {
		b := &base64Reader{src: io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF))}
		if _, err := io.ReadAll(b); err != io.ErrUnexpectedEOF {
			t.Errorf("%q: %v", text, err)
		}
	}
}
