package confine

import (
	"fmt"
	"runtime"
	"strings"
)

// cureNamespaceCount is for a host that counts namespaces and has no more to give. Each user namespace around the daemon has counts of its
// own.
const cureNamespaceCount = "as root, on the host and in each container around the daemon: sysctl -w user.max_user_namespaces=1024 user.max_mnt_namespaces=1024"

// cureRefusal names what is known to stand between the daemon and the kernel, and how each kind of it is told to let the boundary through.
func (f hostFacts) cureRefusal() string {
	var docker, others []string
	if f.filtered {
		docker = append(docker, "--security-opt seccomp=unconfined")
		others = append(others, "a systemd unit must not have RestrictNamespaces=, LockPersonality= or a SystemCallFilter= that leaves out @mount")
	}
	if name, mode, _ := strings.Cut(f.apparmorLabel, " "); name != "" && name != "unconfined" && mode != "(complain)" {
		docker = append(docker, "--security-opt apparmor=unconfined")
		others = append(others, fmt.Sprintf("the AppArmor profile %s must have the rules `userns,` `mount,` and `pivot_root,`", name))
	}
	if len(docker) == 0 {
		return "let the daemon do what the message names, or run it outside of the container, chroot or security module that refuses it"
	}
	inDocker := "in Docker or Podman: run " + strings.Join(docker, " ") + ", or a profile of your own that allows user namespaces and mounts in them"
	return strings.Join(append([]string{inDocker}, others...), "; ")
}

// CureDescriptors is for a daemon that has no descriptor left.
func CureDescriptors() string {
	return "try again when the daemon is less busy, or give it more descriptors where it is started (" + HardLimitSettings(runtime.GOOS, "n") + ")"
}

// HardLimitSettings are what raises a daemon's hard limits on an operating system. The limits are named by their letters in ulimit.
func HardLimitSettings(goos, letters string) string {
	units := map[rune]string{'d': "DATA", 'i': "SIGPENDING", 'n': "NOFILE", 's': "STACK", 't': "CPU", 'u': "NPROC"}
	shell, unit := "ulimit", ""
	for _, letter := range letters {
		shell += " -H" + string(letter)
		unit += " Limit" + units[letter] + "="
	}
	if goos == "darwin" {
		return shell + ", HardResourceLimits of a launchd job"
	}
	return shell + "," + unit + " of a systemd unit"
}
