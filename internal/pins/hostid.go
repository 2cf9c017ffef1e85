package pins

import (
	"crypto/sha256"
	"regexp"
	"strings"
)

// hostWord keeps the digest of a machine id apart from every other one: whoever knows one of them learns nothing about this machine from it.
const hostWord = "sf-confined-host/1\n"

var machineIDForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// HostID tells this machine from others without saying which it is: sha256 over a fixed word and the machine's id. It is empty where there is
// none: in some containers, and on macOS (see machineID). A receipt of such a machine is bound to it by the digest of the
// runtime alone, kernel and libraries included. Linux has an id in /etc/machine-id or /var/lib/dbus/machine-id; clones of one image may share it.
func HostID() string { return hostIDOf(machineID()) }

func hostIDOf(machine string) string {
	machine = strings.TrimSuffix(machine, "\n")
	if !machineIDForm.MatchString(machine) {
		return ""
	}
	return string(DigestOf(sha256.Sum256([]byte(hostWord + machine))))
}
