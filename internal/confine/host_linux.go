package confine

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

func hostProblem() *HostError { return gatherFacts().judge() }

func refusalCure() string { return gatherFacts().cureRefusal() }

func gatherFacts() hostFacts {
	f := hostFacts{
		architecture: runtime.GOARCH,
		root:         os.Geteuid() == 0,
		hardData:     hardLimit(unix.RLIMIT_DATA),
		hardStack:    hardLimit(unix.RLIMIT_STACK),
		hardThreads:  hardLimit(unix.RLIMIT_NPROC),
		hardSignals:  hardLimit(unix.RLIMIT_SIGPENDING),
	}
	for path, word := range map[string]*string{
		"/proc/sys/user/max_user_namespaces":                     &f.maxUserNamespaces,
		"/proc/sys/user/max_mnt_namespaces":                      &f.maxMountNamespaces,
		"/proc/sys/kernel/unprivileged_userns_clone":             &f.unprivilegedClone,
		"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": &f.apparmorRestricts,
		"/proc/self/attr/apparmor/current":                       &f.apparmorLabel,
		"/proc/self/uid_map":                                     &f.uidMap,
		"/proc/self/gid_map":                                     &f.gidMap,
	} {
		var err error
		if *word, err = readWord(path); errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
			f.unread = err
		}
	}
	f.askLandlock()
	f.askSeccomp()
	return f
}

// readWord reads a small file of /proc; one that cannot be read says nothing.
func readWord(path string) (string, error) {
	text, err := os.ReadFile(path)
	return strings.TrimSpace(string(text)), err
}

// epollWatches is how many watches one user may have, 0 if the kernel does not say (epoll(7), /proc interfaces).
func epollWatches() uint64 {
	word, _ := readWord("/proc/sys/fs/epoll/max_user_watches")
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func hardLimit(which int) uint64 {
	var limit unix.Rlimit
	if err := unix.Prlimit(0, which, nil, &limit); err != nil {
		return 0
	}
	return limit.Max
}

func (f *hostFacts) askLandlock() {
	abi, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch e {
	case 0:
		f.landlockABI = int(abi)
	case unix.EOPNOTSUPP:
		f.landlockOff = true
	default:
		f.landlockErr = e.Error()
	}
}

func (f *hostFacts) askSeccomp() {
	action := uint32(verdictNotify)
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	f.notify = e == 0
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	if f.filtered = err != nil || mode != unix.SECCOMP_MODE_DISABLED; !f.filtered {
		return
	}
	if err := tryListener(); err != nil {
		f.listener = err.Error()
		if errors.Is(err, unix.EBUSY) {
			f.listener = "it has a listener already"
		}
	}
}

// tryListener installs a filter that allows everything, with a listener, on a thread of its own. The goroutine never unlocks the thread, so
// that the Go runtime ends it, and the filter with it.
func tryListener() error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			result <- err
			return
		}
		pass := unix.SockFilter{Code: opReturn, K: verdictAllow}
		filter := unix.SockFprog{Len: 1, Filter: &pass}
		listener, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
			unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&filter)))
		if e != 0 {
			result <- e
			return
		}
		result <- unix.Close(int(listener))
	}()
	return <-result
}
