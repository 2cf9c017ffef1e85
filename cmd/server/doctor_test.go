package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"confined/internal/exec"
	"confined/internal/ns"
	"confined/internal/pins"
)

const notAbleText = `✓ ok      platform  linux/amd64
✗ fails   boundary  user namespaces are switched off
                    cure: sysctl -w user.max_user_namespaces=1000
· note    root      /r does not exist yet; serve makes it

This host is not able to run confined programs: what is marked ✗ above keeps it from that.
`

const ableText = `✓ ok      platform  linux/amd64

This host is able to run confined programs.
`

func TestReportForPeople(t *testing.T) {
	for want, r := range map[string]report{
		notAbleText: {Findings: []finding{
			{"platform", verdictOK, "linux/amd64", ""},
			{"boundary", verdictNo, "user namespaces are switched off", "sysctl -w user.max_user_namespaces=1000"},
			{"root", verdictNote, "/r does not exist yet; serve makes it", ""}}},
		"✓ ok      node  /^[[31m <U+202E>n\n                cure: a b\n" + ableText[strings.Index(ableText, "\n")+1:]: {
			Able: true, Findings: []finding{{"node", verdictOK, "/\x1b[31m\n\u202en", "a\nb"}}},
		ableText: {Able: true, Findings: []finding{{"platform", verdictOK, "linux/amd64", ""}}},
	} {
		var out bytes.Buffer
		if err := r.print(&out); err != nil || out.String() != want {
			t.Errorf("%v\n got\n%s\nwant\n%s", err, out.String(), want)
		}
	}
}

func TestJudgeNode(t *testing.T) {
	sum := [32]byte{1, 2}
	rt := pins.Runtime{NodeVersion: "26.8.1"}
	rt.Node = "/opt/node"
	rt.Files = []pins.RuntimeFile{{Path: "/lib/x"}, {Path: "/opt/node", SHA256: sum}}
	old := rt
	old.NodeVersion = "20.1.0"
	rt.Files[1].Size = 150 << 20
	proven := exec.Description{Runtime: rt, Proof: pins.Proof{Kind: "built-in"}, Integrity: exec.IntegritySealed}
	hashed := exec.Description{Runtime: rt, Proof: pins.Proof{Kind: "built-in"}, Integrity: exec.IntegrityRehashed,
		Unsealable: &pins.UnsealableError{Problem: "memfd is forbidden", Cure: "allow it"}}
	for name, row := range map[string]struct {
		d    exec.Description
		err  error
		able bool
		want []string
	}{
		"proven":   {proven, nil, true, []string{"/opt/node, version 26.8.1, sha256 0102", "proven (built-in)", "sealed: ", "takes 150 MiB of memory"}},
		"hashed":   {hashed, nil, true, []string{"proven (built-in)", "rehashed: ", "memfd is forbidden", "allow it"}},
		"host":     {exec.Description{}, &exec.HostError{Problem: "no Landlock", Cure: "a newer kernel"}, false, []string{"no Landlock", "a newer kernel"}},
		"unproven": {exec.Description{}, &exec.UnprovenError{Runtime: old, Why: "no receipt"}, false, []string{"version 20.1.0, sha256 0102", "; the boundary is not proven with it: no receipt", "`confined prove --node /opt/node --state /var/s`", "name an official Node"}},
		"receipts": {exec.Description{}, &exec.UnprovenError{Runtime: old, Why: "no receipt", ReceiptsOnly: true}, false, []string{"`confined prove --node /opt/node --state /var/s` as the user of the daemon, which tries the boundary with it on this host and writes a receipt\n"}},
		"receipt":  {exec.Description{Runtime: rt, Proof: pins.Proof{Kind: "receipt", File: "/var/r", ProvenAt: time.Date(2026, 11, 30, 1, 2, 3, 4e6, time.FixedZone("", 3600))}}, nil, true, []string{"proven (receipt of 2026-11-30T00:02:03Z, /var/r)"}},
		"shim":     {exec.Description{}, &pins.UnavailableError{Path: "/shim", Problem: "is a script", Cure: "name the binary"}, false, []string{"/shim is a script", "name the binary"}},
		"other":    {exec.Description{}, errors.New("interrupted"), false, []string{"interrupted"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := judgeNode(config{node: "/opt/node", state: "/var/s"}, row.d, row.err)
			text, able := "", true
			for _, f := range found {
				text += f.Detail + "\n" + f.Cure + "\n"
				able = able && f.Verdict != verdictNo
			}
			for _, want := range row.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %q", want, text)
				}
			}
			if able != row.able {
				t.Errorf("able is %v: %+v", able, found)
			}
		})
	}
}

func TestLookAtPlaces(t *testing.T) {
	dir := t.TempDir()
	c := config{root: dir + "/root", state: dir + "/state", socket: dir + "/run/socket", maxRetained: 1}
	for _, f := range []finding{lookAtRoot(c), lookAtState(c), lookAtSocket(c)} {
		if f.Verdict != verdictNote || !strings.Contains(f.Detail, "serve makes it") {
			t.Errorf("before: %+v", f)
		}
	}
	if err := makePlaces(c); err != nil {
		t.Fatal(err)
	}
	for _, f := range []finding{lookAtRoot(c), lookAtState(c), lookAtSocket(c)} {
		if f.Verdict != verdictOK {
			t.Errorf("made: %+v", f)
		}
	}
	l, err := listen(c.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if f := lookAtSocket(c); f.Verdict != verdictNote || !strings.Contains(f.Detail, "a daemon answers there") {
		t.Errorf("answered: %+v", f)
	}
	c.socket = dir + "/run/file"
	if err := os.WriteFile(c.socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := lookAtSocket(c); f.Verdict != verdictNo || !strings.Contains(f.Detail, "is not a socket") {
		t.Errorf("in the way: %+v", f)
	}
	c.root = tmpfsDir(t) + "/not/yet"
	if f := lookAtRoot(c); f.Verdict != verdictNo || !strings.Contains(f.Detail, "tmpfs") || f.Cure == "" {
		t.Errorf("on tmpfs, before: %+v", f)
	}
	if left, err := os.ReadDir(filepath.Dir(filepath.Dir(c.root))); err != nil || len(left) != 0 {
		t.Errorf("looking left %v, %v", left, err)
	}
	c.root = "/no space/root"
	if f := lookAtRoot(c); f.Verdict != verdictNo || f.Cure == "" {
		t.Errorf("words: %+v", f)
	}
}

func TestUnfitKeepsTheCure(t *testing.T) {
	f := unfit("root", &ns.RootError{Problem: "it is on tmpfs", Cure: "name one on ext4"})
	if f.Detail != "it is on tmpfs" || f.Cure != "name one on ext4" {
		t.Errorf("%+v", f)
	}
}

// TestDoctorOnThisHost is the real thing: Node runs inside the boundary.
func TestDoctorOnThisHost(t *testing.T) {
	places := newPlaces(t)
	start := time.Now()
	code, out := confined(t, append([]string{"doctor"}, places.args()...)...)
	if code != exitOK || !strings.Contains(out, "node --version ran inside the whole boundary") || !strings.Contains(out, "proven (built-in)") || !strings.Contains(out, "sealed: runs execute a copy of Node") {
		t.Errorf("exit code %d after %v\n%s", code, time.Since(start), out)
	}
	code, out = confined(t, append([]string{"doctor", "--json", "--root", "/dev/shm/confined root"}, places.args()[2:]...)...)
	if code != exitNo || !strings.Contains(out, `"able": false`) || !strings.Contains(out, `"cure"`) {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
