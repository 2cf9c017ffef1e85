package confine

import (
	"slices"
	"strings"
	"testing"

	"confined/internal/confine/sbpl"
)

// leftOpen are the operations that a run may perform on anything at all, since version 1 leaves them open and no rule shuts them. macos.sb
// says why. What is not here and in no row is denied.
const leftOpen = `darwin-notification-post dynamic-code-generation file-lock file-test-existence fs-quota-get fs-quota-off fs-quota-on
fs-quota-set-limits fs-quota-set-usage fs-quota-stat fs-quota-sync fs-snapshot-mount iokit-open-service mach-bootstrap
mach-cross-domain-lookup mach-derive-port mach-kernel-endpoint mach-task-special-port-get mach-task-special-port-set necp-client-open
process-codesigning socket-ioctl socket-option-get socket-option-set syscall-mach syscall-mig syscall-unix system-fcntl
system-mac-syscall system-memorystatus-control system-necp-client-action system-privilege`

// TestSeatbeltLeavesOpen: of all operations there are, a run may perform on what is not its own exactly those that are known to be left.
func TestSeatbeltLeavesOpen(t *testing.T) {
	for _, l := range macs() {
		profile := l.profile(t)
		var open []string
		for _, o := range sbpl.Operations() {
			if strings.HasSuffix(o.Name, "*") {
				continue
			}
			q := sbpl.Query{Operation: o.Name, Path: sbpl.Path{Resolved: "/Users/bob/x"}, Target: sbpl.Others, Name: "org.example.x"}
			d := profile.Decide(q)
			if d.Disputed {
				t.Errorf("%s: %s is disputed: %s", l.name, o.Name, d.By)
			}
			if d.Allowed {
				open = append(open, o.Name)
			}
		}
		if want := strings.Fields(leftOpen); !slices.Equal(open, want) {
			t.Errorf("%s: open are\n%s, known are\n%s", l.name, strings.Join(open, " "), strings.Join(want, " "))
		}
	}
}

// TestEveryOpenOperationIsNamed: what version 1 leaves open is denied by the template, or its comments say that it is left open.
func TestEveryOpenOperationIsNamed(t *testing.T) {
	families := []string{"syscall-", "socket-option", "mach-", "fs-quota", "process-info", "nvram"}
	for _, o := range sbpl.Operations() {
		family := slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(o.Name, f) })
		if o.Open && !family && !strings.Contains(seatbeltTemplate, o.Name) {
			t.Errorf("macos.sb says nothing of %s", o.Name)
		}
	}
}
