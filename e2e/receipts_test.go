package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// unfitReceipt is a receipt that does not count.
type unfitReceipt struct {
	name  string
	edit  func(text string) string        // of a sound one
	under string                          // another name than the edited text calls for
	after func(t *testing.T, path string) // to the file
	state string                          // in the log at start; empty where it is only about something else
	why   string
}

var zeroDigest = "sha256:" + strings.Repeat("0", 64)

// setField gives a field of a receipt another value.
func setField(name, value string) func(string) string {
	field := regexp.MustCompile(`"` + name + `": [^\n]*,\n`)
	return func(text string) string { return field.ReplaceAllLiteralString(text, `"`+name+`": `+value+",\n") }
}

func unfitReceiptRows() []unfitReceipt {
	return []unfitReceipt{
		{name: "one byte changed", edit: setField("durationMs", "1001"), under: nodeVersion + "-20260101T000000Z-0123456789abcdef.json", state: "damaged", why: "its content is not what its name says"},
		{name: "truncated", edit: func(text string) string { return text[:len(text)/2] }, under: "truncated.json", state: "damaged", why: "it is no receipt"},
		{name: "another uid", edit: setField("uid", fmt.Sprint(os.Geteuid()+1)), state: "foreign", why: fmt.Sprintf("was written by uid %d, and this is uid %d", os.Geteuid()+1, os.Geteuid())},
		{name: "another machine", edit: setField("host", `"`+zeroDigest+`"`), state: "foreign", why: "was written on another machine"},
		{name: "others may write it", edit: setField("durationMs", "1002"), state: "foreign", why: "others may write it (mode 0666)",
			after: func(t *testing.T, path string) { must(t, os.Chmod(path, 0o666)) }},
		{name: "a symlink", edit: setField("durationMs", "1003"), state: "foreign", why: "it is no regular file",
			after: func(t *testing.T, path string) {
				away := filepath.Join(filepath.Dir(filepath.Dir(path)), "away.json")
				must(t, os.Rename(path, away))
				must(t, os.Symlink(away, path))
			}},
		{name: "another library", edit: func(text string) string {
			return setField("runtime", `"`+zeroDigest+`"`)(setField("closureDigest", `"`+zeroDigest+`"`)(text))
		}},
		{name: "another kernel", edit: func(text string) string { // the latest: of two that miss by as much it is named
			return setField("durationMs", "3600000")(setField("osBuild", `"kernel-release 1.0"`)(setField("runtime", `"`+zeroDigest+`"`)(text)))
		}},
	}
}

// writeUnfit puts one of them into the state of p and returns its path.
func (u unfitReceipt) write(t *testing.T, p places, sound string) string {
	t.Helper()
	text := u.edit(sound)
	if text == sound {
		t.Fatalf("%s: nothing is changed", u.name)
	}
	name := u.under
	if name == "" {
		sum := sha256.Sum256([]byte(text))
		name = fmt.Sprintf("%s-%s-%x.json", nodeVersion, endedAt(t, text).UTC().Format("20060102T150405Z"), sum[:8])
	}
	path := filepath.Join(p.state, "receipts", name)
	must(t, os.WriteFile(path, []byte(text), 0o400))
	if u.after != nil {
		u.after(t, path)
	}
	return path
}

// endedAt is when the suite was done of which a receipt tells.
func endedAt(t *testing.T, receipt string) time.Time {
	t.Helper()
	written := decode[struct {
		StartedAt  time.Time
		DurationMs int64
	}](t, []byte(receipt))
	return written.StartedAt.Add(time.Duration(written.DurationMs) * time.Millisecond)
}

// unfitReceipts: a daemon that requires receipts starts beside any of them, says
// in its log which do not count and why, and is not ready until it gets the
// sound one, that of the state of proven. One that does not require them goes by the
// built-in entry.
func unfitReceipts(t *testing.T, proven places) {
	sound := ""
	for _, path := range receiptFiles(t, proven) {
		text, err := os.ReadFile(path)
		must(t, err)
		if strings.Contains(string(text), `"node": "`+shared.node+`"`) {
			sound = path
		}
	}
	text, err := os.ReadFile(sound)
	must(t, err)
	p := newPlaces(t)
	must(t, os.MkdirAll(p.state+"/receipts", 0o700))
	must(t, os.Chmod(p.state, 0o700))
	warned := map[string]unfitReceipt{}
	for _, u := range unfitReceiptRows() {
		warned[u.write(t, p, string(text))] = u
	}
	d := startDaemonIn(t, p, withFlags("--require-receipt"), unready())
	says := []string{
		"this build's table has it, and --require-receipt wants a receipt", "is about this Node but on another kernel: then kernel-release 1.0, now ",
		"`confined prove --node " + shared.node + " --state " + p.state + "`",
	}
	doctor := confined(t, p, []string{"CONFINED_REQUIRE_RECEIPT=true"}, doctorArgs(p, "--node="+shared.node)...)
	d.saysEverywhere(t, "runtime-unproven", says, doctor)
	for path, u := range warned {
		line := ""
		for l := range strings.Lines(d.log.String()) {
			if strings.Contains(l, `"`+path+`"`) {
				line += l
			}
		}
		if u.state == "" && line != "" || u.state != "" && (!strings.Contains(line, `"state":"`+u.state+`"`) || !strings.Contains(line, u.why) || !strings.Contains(line, `"WARN"`)) {
			t.Errorf("%s: the log says of %s: %s", u.name, path, line)
		}
		if named := strings.Contains(doctor.stdout, filepath.Base(path)+" is "+u.state+": "); u.state != "" && !named {
			t.Errorf("%s: doctor does not name %s: %s", u.name, path, doctor.stdout)
		}
	}
	builtIn := p
	builtIn.root, builtIn.socket = p.dir+"/root-2", p.dir+"/s2"
	must(t, os.Mkdir(builtIn.root, 0o700))
	if kind := decode[struct{ Proof struct{ Kind string } }](t, startDaemonIn(t, builtIn).get(t, "/v1/runtime").body).Proof.Kind; kind != "built-in" {
		t.Errorf("without --require-receipt the proof is %q", kind)
	}
	must(t, os.WriteFile(p.state+"/receipts/"+filepath.Base(sound), text, 0o400))
	d.mustBeProvenBy(t, p.state+"/receipts/"+filepath.Base(sound))
	d.mustBeReady(t, nil)
	mustRun(t, d)
}
