package sbpl

import (
	"slices"
	"strings"
	"sync"
)

// Operation is something that Seatbelt decides about.
type Operation struct {
	Name   string
	Parent string // the wildcard that covers it, empty for none
	Open   bool   // (version 1)(deny default) leaves it allowed
	// Alias says that it is another name of its parent, no operation of its own.
	Alias   bool
	Subject Subject
}

// Subject is what an operation is about: what a question must tell, and what a filter can look at.
type Subject string

// The subjects. An operation about nothing takes no filter, and none looks at a service or a call yet: questions tell them all the same.
const (
	Nothing Subject = "nothing"
	AFile   Subject = "path"    // Query.Path
	Process Subject = "process" // Query.Target
	Sysctl  Subject = "sysctl"  // Query.Name, such as hw.ncpu
	Service Subject = "service" // Query.Name, a name of the bootstrap server
	Syscall Subject = "syscall" // Query.Name, such as SYS_fork
)

// operationTable holds the operations that a profile may name, one a line, below the wildcard that covers them. The names are those of
// libsandbox in macOS 14.4; process-exec is none of them, but profiles in use on later versions have it. `open` marks what version 1 leaves
// allowed under (deny default), `alias` another name of what is above. The other word is the subject, which holds for what is below too.
const operationTable = `
appleevent-send
darwin-notification-post open
distributed-notification-post
dynamic-code-generation open
file* path
 file-chroot
 file-clone open
 file-ioctl
 file-issue-extension
 file-link open
 file-lock open
 file-map-executable open
 file-mknod
 file-mount
 file-mount-update
 file-read*
  file-read-data
  file-read-metadata
  file-read-xattr
 file-revoke
 file-search
 file-test-existence open
 file-unmount
 file-write*
  file-write-acl
  file-write-create
  file-write-data
  file-write-finderinfo
  file-write-flags
  file-write-mode
  file-write-owner
  file-write-setugid
  file-write-times
  file-write-unlink
  file-write-xattr
fs-quota* open
 fs-quota-get open
 fs-quota-off open
 fs-quota-on open
 fs-quota-set* open
  fs-quota-set-limits open
  fs-quota-set-usage open
 fs-quota-stat open
 fs-quota-sync open
fs-rename
fs-snapshot*
 fs-snapshot-create
 fs-snapshot-delete
 fs-snapshot-mount open
 fs-snapshot-revert
generic-issue-extension
hid-control
iokit*
 iokit-get-properties open
 iokit-issue-extension
 iokit-open*
  iokit-open-service open
  iokit-open-user-client
 iokit-set-properties
ipc*
 ipc-posix*
  ipc-posix-issue-extension
  ipc-posix-sem*
   ipc-posix-sem-create
   ipc-posix-sem-open
   ipc-posix-sem-post
   ipc-posix-sem-unlink
   ipc-posix-sem-wait
  ipc-posix-shm*
   ipc-posix-shm-read-data
   ipc-posix-shm-write*
    ipc-posix-shm-write-create
    ipc-posix-shm-write-data
    ipc-posix-shm-write-unlink
 ipc-sysv*
  ipc-sysv-msg
  ipc-sysv-sem
  ipc-sysv-shm
job-creation
lsopen
mach*
 mach-bootstrap open
 mach-cross-domain-lookup open
 mach-derive-port open
 mach-host*
  mach-host-exception-port-set
  mach-host-special-port-set
 mach-issue-extension
 mach-kernel-endpoint open
 mach-lookup service
 mach-priv*
  mach-priv-host-port
  mach-priv-task-port
 mach-register service
 mach-task*
  mach-task-inspect
  mach-task-name
  mach-task-read
  mach-task-special-port* open
   mach-task-special-port-get open
   mach-task-special-port-set open
necp-client-open open
network*
 network-bind
 network-inbound
 network-outbound
nvram* open
 nvram-delete open
 nvram-get open
 nvram-set open
process*
 process-codesigning open
 process-exec* path
  process-exec alias
  process-exec-interpreter
 process-fork
 process-info* open process
  process-info-codesignature open
  process-info-dirtycontrol open
  process-info-ledger open
  process-info-listpids open
  process-info-pidfdinfo open
  process-info-pidfileportinfo open
  process-info-pidinfo open
  process-info-rusage open
  process-info-setcontrol open
pseudo-tty
signal process
socket-ioctl open
socket-option*
 socket-option-get open
 socket-option-set open
syscall*
 syscall-mach open
 syscall-mig open
 syscall-unix open syscall
sysctl* sysctl
 sysctl-read
 sysctl-write
system*
 system-acct
 system-audit
 system-automount
 system-debug
 system-fcntl open
 system-fsctl
 system-info
 system-kext*
  system-kext-load
  system-kext-query
  system-kext-unload
 system-mac*
  system-mac-label
  system-mac-syscall open
 system-memorystatus-control open
 system-necp-client-action open
 system-nfssvc
 system-package-check
 system-privilege open
 system-reboot
 system-sched
 system-set-time
 system-socket
 system-suspend-resume
 system-swap
user-preference*
 user-preference-read
 user-preference-write
`

// Operations are those that a profile may name, and the one place where their names stand: an operation that a macOS does not know fails
// the whole profile there.
func Operations() []Operation { return slices.Clone(operations()) }

var operations = sync.OnceValue(func() []Operation {
	var all []Operation
	var above []Operation // the last operation of each depth
	for line := range strings.Lines(strings.TrimPrefix(operationTable, "\n")) {
		words := strings.Fields(line)
		depth := strings.Index(line, words[0])
		o := Operation{Name: words[0], Subject: Nothing}
		if depth > 0 {
			o.Parent, o.Subject = above[depth-1].Name, above[depth-1].Subject
		}
		for _, word := range words[1:] {
			switch word {
			case "open":
				o.Open = true
			case "alias":
				o.Alias = true
			default:
				o.Subject = Subject(word)
			}
		}
		above = append(above[:depth], o)
		all = append(all, o)
	}
	return all
})

var operationsByName = sync.OnceValue(func() map[string]Operation {
	byName := map[string]Operation{}
	for _, o := range operations() {
		byName[o.Name] = o
	}
	return byName
})

// lookup finds an operation. An alias gives what it stands for.
func lookup(name string) (Operation, bool) {
	o, known := operationsByName()[name]
	if o.Alias {
		o = operationsByName()[o.Parent]
	}
	return o, known
}

// lineage is the operation and the wildcards that cover it, the nearest first.
func (o Operation) lineage() []string {
	var names []string
	for name := o.Name; name != ""; name = operationsByName()[name].Parent {
		names = append(names, name)
	}
	return names
}
