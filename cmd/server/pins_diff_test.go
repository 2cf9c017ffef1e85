package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"confined/client/api"
)

// sha makes digests that differ exactly where n does.
func sha(n int) string { return fmt.Sprintf("%064x", n) }

// pinned is a lock as a Linux host makes it; change is what became of the host.
// The digests follow the content only where change sets them.
func pinned(change func(*lock)) lock {
	l := newLock(api.Runtime{
		Digest: "sha256:" + sha(1), ClosureDigest: "sha256:" + sha(2), Os: api.RuntimeOsLinux, Arch: api.RuntimeArchAmd64,
		OsBuild: "kernel-release 6.12, landlock-abi 6", NodeVersion: "v26.8.1", Node: "/n/node",
		Files: []api.File{
			{Path: "/n/node", Size: 9, Sha256: sha(10)}, {Path: "/lib/libm.so", Size: 2, Sha256: sha(12)}, {Path: "/lib/libc.so", Size: 1, Sha256: sha(11)},
		},
		Aliases:   []api.Alias{{Path: "/lib64", Target: "usr/lib64"}},
		Launchers: []api.File{{Path: "/bin/confined", Size: 5, Sha256: sha(20)}},
		Proof:     api.Proof{Kind: api.ProofKindBuiltIn},
	}, api.Profile{Name: "confined-linux/1", Digest: "sha256:" + sha(30), Template: "text", Environment: []string{"TZ", "HOME"}})
	if change != nil {
		change(&l)
	}
	return l
}

func TestDiffPins(t *testing.T) {
	runtime := func(change func(*lockedRuntime)) func(*lock) {
		return func(l *lock) {
			l.Runtime.Digest, l.Runtime.ClosureDigest = "sha256:"+sha(101), "sha256:"+sha(102)
			change(&l.Runtime)
		}
	}
	profile := func(change func(*lockedProfile)) func(*lock) {
		return func(l *lock) {
			l.Profile.Digest = "sha256:" + sha(130)
			change(&l.Profile)
		}
	}
	for name, row := range map[string]struct {
		change func(*lock)
		want   []string
	}{
		"nothing": {nil, nil},
		"Node": {runtime(func(r *lockedRuntime) { r.NodeVersion, r.Files[2].Sha256, r.Files[2].Size = "v26.9.0", sha(99), 8 }), []string{
			"node: Node is v26.9.0, it was v26.8.1",
			"node: Node at /n/node has other bytes: sha256 000000000000… (8 bytes), it was 000000000000… (9 bytes)"}},
		"Node moved": {runtime(func(r *lockedRuntime) { r.Node, r.Files[2].Path = "/opt/node", "/opt/node" }), []string{
			"node: Node is at /opt/node, it was at /n/node, with the same bytes"}},
		"a library": {runtime(func(r *lockedRuntime) { r.Files[0].Sha256 = sha(98) }), []string{
			"library: the library at /lib/libc.so has other bytes: sha256 000000000000… (1 bytes), it was 000000000000… (1 bytes)"}},
		"a library moved": {runtime(func(r *lockedRuntime) { r.Files[0].Path = "/lib/libc-2.so" }), []string{
			"library: the library is at /lib/libc-2.so, it was at /lib/libc.so, with the same bytes"}},
		"a library more": {runtime(func(r *lockedRuntime) { r.Files = append(r.Files, api.File{Path: "/lib/libz.so", Sha256: sha(97)}) }), []string{
			"library: the library /lib/libz.so is new"}},
		"a library less": {runtime(func(r *lockedRuntime) { r.Files = r.Files[1:] }), []string{"library: the library /lib/libc.so is gone"}},
		"a link":         {runtime(func(r *lockedRuntime) { r.Aliases[0].Target = "lib" }), []string{"alias: the link /lib64 leads to lib, it led to usr/lib64"}},
		"another link": {runtime(func(r *lockedRuntime) { r.Aliases[0].Path = "/lib32" }), []string{
			"alias: the link /lib32 is new, and leads to usr/lib64", "alias: the link /lib64 is gone, it led to usr/lib64"}},
		"confined": {runtime(func(r *lockedRuntime) { r.Launchers[0].Path, r.Launchers[0].Sha256 = "/opt/confined", sha(96) }), []string{
			"launcher: confined itself is at /opt/confined, it was at /bin/confined, with other bytes: sha256 000000000000… (5 bytes), it was 000000000000… (5 bytes)"}},
		"only the kernel": {func(l *lock) {
			l.Runtime.Digest, l.Runtime.OSBuild = "sha256:"+sha(101), "kernel-release 6.13, landlock-abi 6"
		}, []string{
			`os: only the operating system is another: Node, its libraries and the launcher are the same. It is "kernel-release 6.13, landlock-abi 6", it was "kernel-release 6.12, landlock-abi 6"`}},
		"an edited digest": {func(l *lock) { l.Runtime.Digest = "sha256:" + sha(101) }, []string{
			"runtime: the digest is sha256:" + sha(101) + ", it was sha256:" + sha(1) + ", and nothing that is listed explains it: was the lock file edited?"}},
		"the kernel too": {runtime(func(r *lockedRuntime) { r.OSBuild, r.Aliases = "6.13", nil }), []string{
			"alias: the link /lib64 is gone, it led to usr/lib64", `os: the operating system is "6.13", it was "kernel-release 6.12, landlock-abi 6"`}},
		"another machine":        {runtime(func(r *lockedRuntime) { r.Arch = "arm64" }), []string{"platform: this is linux/arm64, it was linux/amd64"}},
		"nothing that is listed": {runtime(func(*lockedRuntime) {}), []string{"runtime: the digest is sha256:" + sha(101) + ", it was sha256:" + sha(1) + ", and nothing that is listed explains it: was the lock file edited?"}},
		"the profile": {profile(func(p *lockedProfile) { p.Name, p.Template, p.Environment = "confined-linux/2", "x", []string{"HOME"} }), []string{
			"profile: the profile is confined-linux/2, it was confined-linux/1",
			"profile: the text of the profile is another: GET /v1/profile has it",
			"profile: programs see the variables HOME, they saw HOME TZ"}},
		"beside its text": {profile(func(*lockedProfile) {}), []string{
			"profile: what confined-linux/1 fixes beside its text is another (launch stage, preload or tools): it comes with another build of confined"}},
		"the proof": {func(l *lock) { l.Runtime.Proof = api.Proof{Kind: api.ProofKindReceipt} }, []string{
			"proof: the runtime is proven by receipt, it was by built-in: no part of a pin"}},
	} {
		t.Run(name, func(t *testing.T) {
			was, now := pinned(nil), pinned(row.change)
			var got []string
			for _, c := range diffPins(was, now) {
				got = append(got, c.Kind+": "+c.Text)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(row.want, "\n     "))
			}
			var out bytes.Buffer
			code := exitCode("pins", tellDiff(&out, was, now, false), &out)
			if differs := was.pins() != now.pins(); (code == exitNo) != differs || strings.Contains(out.String(), "are refused") != differs {
				t.Errorf("exit %d, and said %s", code, &out)
			}
		})
	}
}

func TestLockReadsBack(t *testing.T) {
	var first, second bytes.Buffer
	l := pinned(nil)
	if err := l.write(&first); err != nil {
		t.Fatal(err)
	}
	again, err := parseLock(first.Bytes())
	if err == nil {
		err = again.write(&second)
	}
	if err != nil || first.String() != second.String() || len(diffPins(l, again)) > 0 {
		t.Errorf("%v\n%s\n%s", err, &first, &second)
	}
	if text := first.String(); !strings.HasSuffix(text, "}\n") || strings.Index(text, `"path": "/lib/libc.so"`) > strings.Index(text, `"path": "/n/node"`) {
		t.Errorf("not in the order of paths, or without a newline at its end:\n%s", text)
	}
}

func TestLockRefuses(t *testing.T) {
	var whole bytes.Buffer
	if err := pinned(nil).write(&whole); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ text, want string }{
		"nothing":         {"", "no lock file: it is empty"},
		"a list":          {"[]", "it is no JSON object (array)"},
		"two digests":     {`{"runtime": "sha256:` + sha(1) + `"}`, "no lock file: `runtime` cannot hold what it does (string)"},
		"a wrong version": {`{"version": "1"}`, "`version` cannot hold what it does (string)"},
		"no JSON":         {"version: 1", "no lock file"},
		"two of them":     {whole.String() + whole.String(), "something follows"},
		"another version": {strings.Replace(whole.String(), `"version": 1`, `"version": 2`, 1), "of version 1"},
		"a runtime":       {strings.Replace(whole.String(), "sha256:"+sha(1), "sha256:12", 1), "runtime.digest"},
		"a profile":       {strings.Replace(whole.String(), "sha256:"+sha(30), "", 1), "profile.digest"},
		"an answer":       {`{"digest": "sha256:` + sha(1) + `"}`, "of version 1"},
	} {
		if _, err := parseLock([]byte(row.text)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, row.want)
		}
	}
	if code := exitCode("pins", pinsCommand([]string{"--diff", t.TempDir() + "/none", "--socket", "/none"}, surroundings{lookupEnv: func(string) (string, bool) { return "", false }}), &whole); code != exitCannotTell {
		t.Errorf("a lock file that is not there: exit %d", code)
	}
}

// FuzzLock: what is read as a lock has both digests, and is written and read
// back as the same pins.
func FuzzLock(f *testing.F) {
	var seed bytes.Buffer
	if err := pinned(nil).write(&seed); err != nil {
		f.Fatal(err)
	}
	f.Add(seed.Bytes())
	f.Add([]byte(`{"version":1,"runtime":{"digest":"sha256:` + sha(1) + `"},"profile":{"digest":"sha256:` + sha(2) + `"}} `))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parseLock(text)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := errors.Join(l.write(&out)); err != nil {
			t.Fatal(err)
		}
		again, err := parseLock(out.Bytes())
		if err != nil || again.pins() != l.pins() || len(again.Runtime.Digest) != 71 || len(again.Profile.Digest) != 71 {
			t.Errorf("%v: %+v became %+v", err, l.pins(), again.pins())
		}
		diffPins(l, pinned(nil)) // ends, whatever is in it
	})
}
