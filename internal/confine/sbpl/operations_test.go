package sbpl

import (
	"slices"
	"strings"
	"testing"
)

// openOperations are those that version 1 leaves open under (deny default), as decoded on macOS 14.4. A wildcard stands for all below it.
const openOperations = `
file-map-executable file-link file-clone file-lock file-test-existence dynamic-code-generation process-info* process-codesigning nvram*
iokit-get-properties iokit-open-service darwin-notification-post fs-quota* fs-snapshot-mount mach-bootstrap mach-cross-domain-lookup
mach-derive-port mach-kernel-endpoint mach-task-special-port* necp-client-open system-necp-client-action socket-ioctl socket-option-get
socket-option-set syscall-unix syscall-mach syscall-mig system-fcntl system-mac-syscall system-memorystatus-control system-privilege`

func TestOpenOperations(t *testing.T) {
	open := strings.Fields(openOperations)
	for _, name := range open {
		if _, known := lookup(name); !known {
			t.Errorf("%s is not in the table", name)
		}
	}
	for _, o := range Operations() {
		want := slices.ContainsFunc(o.lineage(), func(name string) bool { return slices.Contains(open, name) })
		if o.Open != want {
			t.Errorf("%s: open %v, want %v", o.Name, o.Open, want)
		}
	}
}

// closedOperations are those of the same decoding that a profile of ours relies on as denied.
const closedOperations = `
file-read-data file-read-metadata file-read-xattr file-write-acl file-write-create file-write-data file-write-flags file-write-mode
file-write-owner file-write-setugid file-write-times file-write-unlink file-write-xattr file-ioctl file-mknod file-chroot file-mount
network-inbound network-bind network-outbound system-socket mach-lookup mach-register mach-priv-host-port mach-priv-task-port
mach-host-special-port-set mach-task-name mach-task-read ipc-posix-shm-read-data ipc-posix-sem-open ipc-sysv-shm iokit-open-user-client
sysctl-read sysctl-write signal pseudo-tty job-creation lsopen appleevent-send user-preference-read user-preference-write system-info
system-fsctl system-debug system-audit process-fork process-exec process-exec-interpreter`

func TestClosedOperations(t *testing.T) {
	for _, name := range strings.Fields(closedOperations) {
		if o, known := lookup(name); !known || o.Open {
			t.Errorf("%s: %+v, known %v", name, o, known)
		}
	}
}

// The table is a tree: each name once, wildcards above and nothing but wildcards above.
func TestOperationTable(t *testing.T) {
	seen := map[string]bool{}
	subjects := []Subject{Nothing, AFile, Process, Sysctl, Service, Syscall}
	for _, o := range Operations() {
		if seen[o.Name] || !slices.Contains(subjects, o.Subject) {
			t.Errorf("%+v is there twice or has no subject", o)
		}
		seen[o.Name] = true
		stem, isWildcard := strings.CutSuffix(o.Parent, "*")
		if o.Parent != "" && (!isWildcard || !seen[o.Parent] || !strings.HasPrefix(o.Name, stem)) {
			t.Errorf("%s is below %s", o.Name, o.Parent)
		}
	}
	if len(seen) < 150 || !seen["user-preference-write"] {
		t.Errorf("%d operations", len(seen))
	}
}

func TestLineage(t *testing.T) {
	for name, want := range map[string]string{
		"file-write-unlink":        "file-write-unlink file-write* file*",
		"process-exec":             "process-exec* process*",
		"process-exec-interpreter": "process-exec-interpreter process-exec* process*",
		"signal":                   "signal",
	} {
		o, _ := lookup(name)
		if got := strings.Join(o.lineage(), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// What a caller does with the table is not seen by the next.
func TestOperationsAreACopy(t *testing.T) {
	Operations()[0].Name = "x"
	if name := Operations()[0].Name; name != "appleevent-send" {
		t.Errorf("the first operation is %s", name)
	}
}
