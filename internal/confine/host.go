package confine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// hostFacts is what a Linux host says of itself, as far as it decides whether the boundary can be had. Files that do not exist are empty.
type hostFacts struct {
	unread       error  // why a file of /proc that is there could not be read
	architecture string // as Go names it
	root         bool   // the daemon's effective uid is 0

	landlockABI int    // 0 when there is none
	landlockOff bool   // the kernel has it and the boot parameters leave it out
	landlockErr string // any other reason why there is none

	maxUserNamespaces  string // /proc/sys/user/max_user_namespaces
	maxMountNamespaces string // /proc/sys/user/max_mnt_namespaces
	unprivilegedClone  string // /proc/sys/kernel/unprivileged_userns_clone, of Debian's kernels
	apparmorRestricts  string // /proc/sys/kernel/apparmor_restrict_unprivileged_userns, of Ubuntu's
	apparmorLabel      string // /proc/self/attr/apparmor/current
	uidMap, gidMap     string // /proc/self/uid_map, gid_map

	filtered bool   // a system call filter is on the daemon
	notify   bool   // seccomp knows SECCOMP_RET_USER_NOTIF
	listener string // why a listener cannot be installed; empty when it can or when no filter is on the daemon

	hardData, hardStack, hardThreads, hardSignals uint64 // the daemon's own hard limits; ^0 is unlimited
}

// minLandlockABI is the first that keeps signals and abstract sockets within the domain: Linux 6.12.
const minLandlockABI = 6

// judge returns the first thing that is missing, with its cure, or nil.
func (f hostFacts) judge() *HostError {
	for _, check := range []func(hostFacts) *HostError{
		hostFacts.judgeReading, hostFacts.judgeArchitecture, hostFacts.judgeLandlock, hostFacts.judgeNamespaces, hostFacts.judgeUnprivileged,
		hostFacts.judgeIDs, hostFacts.judgeSeccomp, hostFacts.judgeLimits,
	} {
		if problem := check(f); problem != nil {
			return problem
		}
	}
	return nil
}

// judgeReading comes first: what was not read is not missing.
func (f hostFacts) judgeReading() *HostError {
	if f.unread == nil {
		return nil
	}
	return &HostError{"what this host has cannot be read: " + f.unread.Error(), CureDescriptors()}
}

func (f hostFacts) judgeArchitecture() *HostError {
	if a := architecture(f.architecture); a == amd64 || a == arm64 {
		return nil
	}
	return &HostError{"the boundary is not made for " + f.architecture, "use a 64-bit x86 or ARM host"}
}

func (f hostFacts) judgeLandlock() *HostError {
	switch {
	case f.landlockOff:
		return &HostError{"Landlock is switched off at boot", "add landlock to the kernel's lsm= boot parameter and reboot"}
	case f.landlockErr != "":
		return &HostError{"Landlock cannot be used: " + f.landlockErr,
			"use Linux 6.12 or later with CONFIG_SECURITY_LANDLOCK, and let a container's system call filter pass landlock_*"}
	case f.landlockABI < minLandlockABI:
		return &HostError{fmt.Sprintf("Landlock has ABI %d here, and %d is needed", f.landlockABI, minLandlockABI), "use Linux 6.12 or later"}
	}
	return nil
}

func (f hostFacts) judgeNamespaces() *HostError {
	for _, bound := range []struct{ name, value string }{{"user", f.maxUserNamespaces}, {"mnt", f.maxMountNamespaces}} {
		switch bound.value {
		case "":
			return &HostError{"the kernel has no " + bound.name + " namespaces, or /proc is not mounted", "use a kernel with CONFIG_USER_NS and mount /proc"}
		case "0":
			key := "user.max_" + bound.name + "_namespaces"
			return &HostError{key + " is 0", "as root: sysctl -w " + key + "=1024"}
		}
	}
	return nil
}

func (f hostFacts) judgeUnprivileged() *HostError {
	switch {
	case f.root:
		return nil
	case f.unprivilegedClone == "0":
		return &HostError{"ordinary users may not make user namespaces: kernel.unprivileged_userns_clone is 0",
			"as root: sysctl -w kernel.unprivileged_userns_clone=1"}
	case f.apparmorRestricts == "1" && f.apparmorLabel == "unconfined":
		return &HostError{"AppArmor lets no unconfined program of an ordinary user make user namespaces",
			"install an AppArmor profile for this binary that says `userns,`, or as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"}
	}
	return nil
}

// judgeIDs makes sure that a root daemon has the ids that its slots get. In a container they may not exist.
func (f hostFacts) judgeIDs() *HostError {
	if !f.root {
		return nil
	}
	for _, ids := range []struct{ file, text string }{{"uid_map", f.uidMap}, {"gid_map", f.gidMap}} {
		if !covers(ids.text, firstOuterID, firstOuterID+maxSlot) {
			return &HostError{
				fmt.Sprintf("the ids %d to %d, one for each slot, do not exist in this user namespace (/proc/self/%s)", firstOuterID, firstOuterID+maxSlot, ids.file),
				"run the daemon as an ordinary user, or give its container these ids"}
		}
	}
	return nil
}

// covers says whether one range of an id map holds all ids from first to last.
func covers(text string, first, last uint64) bool {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		start, err1 := strconv.ParseUint(f[0], 10, 32)
		count, err2 := strconv.ParseUint(f[2], 10, 32)
		if err1 == nil && err2 == nil && start <= first && last < start+count {
			return true
		}
	}
	return false
}

func (f hostFacts) judgeSeccomp() *HostError {
	switch {
	case !f.notify:
		return &HostError{"system call filters with a listener (SECCOMP_RET_USER_NOTIF) are not available", "use Linux 6.12 or later with CONFIG_SECCOMP_FILTER"}
	case f.listener != "":
		return &HostError{"the daemon runs under a system call filter that leaves no room for its own: " + f.listener,
			"run it outside of this container manager's filter: the kernel allows one listener for each process"}
	}
	return nil
}

// judgeLimits compares the daemon's hard limits with the fixed ones of the profile, which a process may not raise.
func (f hostFacts) judgeLimits() *HostError {
	for _, l := range []struct {
		name, letter string
		hard, need   uint64
	}{
		{"data", "d", f.hardData, fixedLimit("data")},
		{"stack", "s", f.hardStack, fixedLimit("stack")},
		{"threads", "u", f.hardThreads, fixedLimit("threads")},
		{"pending signals", "i", f.hardSignals, fixedLimit("sigpending")},
	} {
		if l.hard < l.need {
			return &HostError{fmt.Sprintf("the daemon's own hard limit of %s is %d, and a run needs %d", l.name, l.hard, l.need),
				"raise it where the daemon is started (" + HardLimitSettings("linux", l.letter) + ")"}
		}
	}
	return nil
}

// descriptorBound is the largest n with slots × (n/2)² within half of the watches; a host that does not say how many there are has no bound.
func descriptorBound(watches uint64, slots int) int64 {
	if watches == 0 {
		return math.MaxInt64
	}
	each := watches / 2 / uint64(slots)
	half := int64(math.Sqrt(float64(each)))
	for uint64(half)*uint64(half) > each {
		half--
	}
	return 2*half + 1
}

// fixedLimit is a limit that the template gives as a number.
func fixedLimit(name string) uint64 {
	for line := range strings.Lines(template) {
		f, _ := fieldsOf(strings.TrimSuffix(line, "\n"))
		if len(f) == 3 && f[0] == "limit" && f[1] == name {
			n, _ := strconv.ParseUint(f[2], 10, 64)
			return n
		}
	}
	return 0
}
