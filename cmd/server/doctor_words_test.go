package main

import (
	"strings"
	"testing"

	"confined/internal/confine"
	"confined/internal/exec"
	"confined/internal/pins"
	"confined/internal/prove"
)

// linuxWords are cures and names that mean nothing on a Mac.
var linuxWords = []string{"sysctl -w", "/proc", "namespace", "Landlock", "LimitNOFILE", "gcc", "apt", "seccomp", "memfd", "systemd"}

// TestWordsOfMac: what doctor and prove say on macOS names that system's limits and cures, and none of Linux's.
func TestWordsOfMac(t *testing.T) {
	text := func(goos string) string {
		words, all := wordsOf(goos), prove.CompilerCure(goos)+cureUntried(goos)+wanting(goos)
		unsealed := exec.Description{Integrity: exec.IntegrityRehashed, Unsealable: &pins.UnsealableError{Problem: "memfd is forbidden", Cure: "seccomp"}}
		for _, f := range append(words.notes, judgeDescriptors(100, 1<<40, words), judgeDescriptors(10, 1<<40, words), judgeIntegrity(unsealed, words)) {
			all += f.Name + ": " + f.Detail + " " + f.Cure + "\n"
		}
		return all
	}
	mac, linux := text("darwin"), text("linux")
	for _, want := range []string{"/bin/dash, /usr/bin/env, /usr/bin/sandbox-exec", "one SIGXCPU", "no bound on its memory", "does not end a run whose daemon was killed",
		"by its processor time, if it does not catch SIGXCPU",
		"xcode-select --install", "HardResourceLimits", "rehashed: ", "otool"} {
		if !strings.Contains(mac, want) {
			t.Errorf("no %q in\n%s", want, mac)
		}
	}
	known := 0
	for _, word := range linuxWords {
		if strings.Contains(mac, word) {
			t.Errorf("on macOS it is said %q in\n%s", word, mac)
		}
		if strings.Contains(linux, word) {
			known++
		}
	}
	if known < 4 || strings.Contains(linux, "xcode") || strings.Contains(linux, "SIGXCPU") {
		t.Errorf("on Linux it is said\n%s", linux)
	}
}

func TestJudgeDescriptors(t *testing.T) {
	words := wordsOf("linux")
	for _, row := range []struct {
		hard    uint64
		most    int64
		verdict verdict
		says    string
	}{
		{1 << 20, 1 << 40, verdictOK, "hard limit 1048576, a request may ask for 4096"},
		{^uint64(0), 1 << 40, verdictOK, "hard limit unlimited"},
		{1<<63 - 1, 1 << 40, verdictOK, "hard limit unlimited"},
		{100, 1 << 40, verdictNote, "cannot be met"},
		{10, 1 << 40, verdictNo, "hard limit 10"},
		{1 << 20, 10, verdictNo, "max_user_watches"},
	} {
		if f := judgeDescriptors(row.hard, row.most, words); f.Verdict != row.verdict || !strings.Contains(f.Detail, row.says) {
			t.Errorf("%d, %d: %+v", row.hard, row.most, f)
		}
	}
}

// TestCulpritIsNamed: what the boundary says of a profile that macOS refused reaches people whole, from doctor and from prove.
func TestCulpritIsNamed(t *testing.T) {
	refused := &confine.HostError{
		Problem: "this macOS refuses the profile: sandbox-exec: unbound variable: file-clone at <input string>, line 1; (deny file-clone) is refused alone",
		Cure:    "use a version of macOS and of confined that `confined prove` passed on"}
	said := ""
	for _, f := range judgeNode(config{node: "/n", state: "/s"}, exec.Description{}, refused) {
		said += string(f.Verdict) + " " + f.Name + ": " + f.Detail + "; " + f.Cure + "\n"
	}
	if !strings.Contains(said, string(verdictNo)+" confined run: "+refused.Problem) || !strings.Contains(said, refused.Cure) {
		t.Errorf("doctor says\n%s", said)
	}
	if err := unproven(t.Context(), refused); err == nil || err.Error() != refused.Problem+"; cure: "+refused.Cure {
		t.Errorf("prove says %v", err)
	}
}
