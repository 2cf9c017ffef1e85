package prove

import (
	"fmt"
	"path/filepath"
	"runtime"
)

// familyFiles are the rows whose acts have files of their own in the input.
const familyFiles = "Creating and changing files"

// targetDirectories are the acts that have files of their own, and the place for all others.
func targetDirectories() []string {
	dirs := []string{"shared"}
	for _, p := range nativeProbes(runtime.GOOS, runtime.GOARCH) {
		if p.Family == familyFiles && here(p.Only) {
			dirs = append(dirs, p.Act)
		}
	}
	return dirs
}

// addNativeTargets adds to an input what native acts aim at.
func addNativeTargets(files map[string]string) {
	for _, dir := range targetDirectories() {
		for _, name := range []string{"f", "g"} {
			files["native/"+dir+"/"+name] = name + " of " + dir + "\n"
		}
	}
}

// changedFiles is for acts on files of their own.
func changedFiles(act string) Evidence {
	e := changed("native " + act)
	e.Text = "the files that it aims at, before and after"
	return e
}

// lookNative is what the host sees of all that native acts aim at and no other acts.
func (s *fixture) lookNative(seen map[string]string) {
	for _, dir := range targetDirectories() {
		at := filepath.Join(s.slot, "input", "native", dir)
		made, _ := filepath.Glob(at + "/n*")
		seen["native "+dir] = fingerprint(append(made, at, at+"/f", at+"/g")...)
	}
	if !here("linux") {
		return
	}
	seen["policy scheduled"] = s.victims["scheduled"].stat(policyField)
	limits, _ := readText(fmt.Sprintf("/proc/%d/limits", s.victims["limited"].pid))
	seen["limits limited"] = limits
}

// nativeVictims are processes that only native acts aim at, and only those of Linux.
func nativeVictims() []string {
	if !here("linux") {
		return nil
	}
	return []string{"tgkilled", "tkilled", "queued", "threadqueued", "pidfdkilled", "limited", "scheduled"}
}
