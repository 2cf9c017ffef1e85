package main

import (
	"fmt"
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
	return append(found, lookAtDescriptors(maxRetained))
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
func lookAtDescriptors(maxRetained int) finding {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return finding{"descriptors", verdictNote, err.Error(), ""}
	}
	most := confine.MaxDescriptors(maxRetained)
	detail := fmt.Sprintf("hard limit %d, a request may ask for %d", limit.Max, min(most, exec.MaxDescriptors))
	if most < exec.MaxDescriptors {
		detail += " (bounded by fs.epoll.max_user_watches and --max-retained)"
	}
	switch {
	case most < exec.MinDescriptors:
		return finding{"descriptors", verdictNo, detail, "raise fs.epoll.max_user_watches (sysctl), or lower --max-retained"}
	case limit.Max < exec.MinDescriptors:
		return finding{"descriptors", verdictNo, detail, "raise the hard limit of open files (ulimit -Hn, LimitNOFILE=)"}
	case limit.Max < exec.MaxDescriptors:
		return finding{"descriptors", verdictNote, detail + ": requests for more than the limit cannot be met", "raise the hard limit of open files (ulimit -Hn, LimitNOFILE=)"}
	}
	return finding{"descriptors", verdictOK, detail, ""}
}
