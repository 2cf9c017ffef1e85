package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"syscall"

	"confined/internal/confine"
	"confined/internal/exec"
	"confined/internal/pins"
)

// lookAtHost says what the kernel is and what it lacks for the boundary, as far
// as that can be told without starting a process.
func lookAtHost(maxRetained int) []finding {
	found := []finding{{"platform", verdictOK, runtime.GOOS + "/" + runtime.GOARCH, ""}}
	facts, err := pins.HostFacts()
	if err != nil {
		found = append(found, finding{"kernel", verdictNote, err.Error(), ""})
	}
	for _, f := range facts {
		found = append(found, finding{strings.ReplaceAll(strings.ReplaceAll(f.Key, "-", " "), "landlock abi", "Landlock ABI"), verdictOK, f.Value, ""})
	}
	found = append(found, kernelSettings()...)
	if problem := confine.Here().HostProblem(); problem != nil {
		found = append(found, finding{"boundary", verdictNo, problem.Problem, problem.Cure})
	} else {
		found = append(found, finding{"boundary", verdictOK, "nothing is known to be missing for " + confine.Here().Profile().Name, ""})
	}
	words := wordsOf(runtime.GOOS)
	return append(append(found, lookAtDescriptors(maxRetained, words)), words.notes...)
}

// kernelSettings are those that decide about user namespaces; where a system
// has no such setting, nothing is said.
func kernelSettings() []finding {
	var found []finding
	for _, s := range []struct{ name, path string }{
		{"user namespaces", "/proc/sys/user/max_user_namespaces"},
		{"unprivileged user namespaces", "/proc/sys/kernel/unprivileged_userns_clone"},
		{"AppArmor restricts them", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"},
	} {
		if text, err := os.ReadFile(s.path); err == nil {
			found = append(found, finding{s.name, verdictNote, fmt.Sprintf("%s (%s)", strings.TrimSpace(string(text)), s.path), ""})
		}
	}
	return found
}

// lookAtDescriptors compares the most that a request may ask for with what this
// process may hand on, and with what this user's epoll watches allow.
func lookAtDescriptors(maxRetained int, words hostWords) finding {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return finding{"descriptors", verdictNote, err.Error(), ""}
	}
	return judgeDescriptors(limit.Max, confine.Here().MaxDescriptors(maxRetained), words)
}

// judgeDescriptors has the hard limit of this process, and the most that a run
// may be given for the sake of epoll.
func judgeDescriptors(hard uint64, most int64, words hostWords) finding {
	limit := fmt.Sprint(hard)
	if hard >= math.MaxInt64 { // macOS says so, and Linux one more bit
		limit = "unlimited"
	}
	detail := fmt.Sprintf("hard limit %s, a request may ask for %d", limit, min(most, exec.MaxDescriptors))
	if most < exec.MaxDescriptors {
		detail += " (bounded by fs.epoll.max_user_watches and --max-retained)"
	}
	switch {
	case most < exec.MinDescriptors:
		return finding{"descriptors", verdictNo, detail, "raise fs.epoll.max_user_watches (sysctl), or lower --max-retained"}
	case hard < exec.MinDescriptors:
		return finding{"descriptors", verdictNo, detail, "raise the hard limit of open files (" + words.raise + ")"}
	case hard < exec.MaxDescriptors:
		return finding{"descriptors", verdictNote, detail + ": requests for more than the limit cannot be met", "raise the hard limit of open files (" + words.raise + ")"}
	}
	return finding{"descriptors", verdictOK, detail, ""}
}
