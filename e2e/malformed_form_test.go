package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// formDefects break a form, and the place of the document in it or in an
// archive.
func formDefects(r *rand.Rand, b *base) []defect {
	if b.media != formType && b.media != tarType {
		return nil
	}
	var out []defect
	listed := func(name, code string, faults []string, change func([]entry) []entry) {
		out = append(out, defect{name: "entries: " + name, code: code, faults: faults, change: func(d *draft) { d.entries = change }})
	}
	if b.document != nil {
		n := 1 + r.IntN(2)
		listed("the document is not first", "malformed-request", nil, func(l []entry) []entry { l[0], l[n] = l[n], l[0]; return l })
		listed("no document", "malformed-request", nil, func(l []entry) []entry { return l[1:] })
		listed("nothing", "malformed-request", nil, func(l []entry) []entry { return nil })
		listed("two documents", "malformed-request", nil, func(l []entry) []entry { return append(l, l[0]) })
		for _, other := range []string{"other", "program", "Program/main.mjs", "programs/x", "input", "Input/x", "request2", "output/x", "/program/x"} {
			listed("one named "+other, "invalid-request", []string{"unknown-field /" + escaped(other)}, func(l []entry) []entry { return append(l, entry{file: file{other, ""}}) })
		}
		spelt := pick(r, "Request", "REQUEST", "request ", "request.txt", "manifest", "program/request")
		listed("the document is named "+spelt, "malformed-request", nil, func(l []entry) []entry { l[0].path = spelt; return l })
	}
	if b.media == formType {
		out = append(out, multipartDefects(r)...)
	}
	return out
}

// multipartDefects break the syntax of a form, or what may stand in a part's
// head.
func multipartDefects(r *rand.Rand) []defect {
	var out []defect
	body := func(name string, change func(string) string) {
		out = append(out, defect{name: "form: " + name, code: "malformed-request", change: func(d *draft) {
			d.body = func(b []byte) []byte { return []byte(change(string(b))) }
		}})
	}
	cut := r.Float64()
	body("cut off", func(s string) string { return s[:int(cut*float64(len(s)-len("-\r\n")))] })
	last := len("-\r\n") + r.IntN(len(bound))
	body("cut within the last boundary", func(s string) string { return s[:len(s)-last] })
	body("nothing", func(string) string { return "" })
	other := pick(r, "other", "Bound", "boun", "")
	body("another boundary", func(s string) string { return strings.ReplaceAll(s, bound, other) })
	body("no boundary", func(s string) string { return strings.ReplaceAll(s, "--"+bound, "") })
	for _, head := range []string{
		"", "X: 1\r\n", "no colon\r\n", ": no name\r\n", "Content Disposition: form-data; name=\"x\"\r\n",
		"Content-Disposition: attachment; name=\"x\"\r\n", "Content-Disposition: form-data\r\n", "Content-Disposition: form-data; filename=\"x\"\r\n",
		"Content-Disposition: form-data; name=a/b\r\n", "Content-Disposition: form-data; name=\"x\r\n", "Content-Disposition: form-data; name=\"x\"; name=\"y\"\r\n",
		"Content-Disposition: form-data; name=\"x\x01\"\r\n", "Content-Disposition: ; name=\"x\"\r\n", "Content-Disposition: form-data, name=\"x\"\r\n",
		"Content-Disposition: form-data; name=\"x\"\r\nContent-Disposition: form-data; name=\"x\"\r\n",
		"Content-Disposition: form-data; name=\"x\"\r\nContent-Transfer-Encoding: " + pick(r, "base64", "quoted-printable", "8bit", "binary", "7bit") + "\r\n",
		"Content-Disposition: form-data; name=\"x\"\r\nContent-Type: multipart/mixed; boundary=inner\r\n",
	} {
		where := r.Uint64()
		out = append(out, defect{name: fmt.Sprintf("form: the head %.60q", head), code: "malformed-request", change: func(d *draft) {
			d.entries = func(l []entry) []entry {
				one := entry{file: file{"x", "x"}, head: head + "\r\n"}
				if head != "" {
					one.head = head
				}
				return slices.Insert(l, len(l)-int(where%2), one)
			}
		}})
	}
	long := "Content-Disposition: form-data; name=\"x\"\r\nX-Long: " + strings.Repeat("x", 11<<20) + "\r\n"
	return append(out, defect{name: "form: a head of 11 MiB", code: "too-large", change: func(d *draft) {
		d.entries = func(l []entry) []entry { return append(l, entry{file: file{"x", ""}, head: long}) }
	}})
}
