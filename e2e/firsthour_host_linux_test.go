package e2e

import (
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNoUserNamespaces: in a container that keeps user namespaces from the
// daemon, doctor, the log, /v1/status, /v1/runtime and a run name the same cure,
// and where the container lets them through, programs run.
func TestNoUserNamespaces(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, surroundings string
		refusing, letting  string // arguments of the surroundings
		says               []string
	}{
		{
			"the kernel counts none", countedNamespaces, "0", "1024",
			[]string{"user.max_user_namespaces is 0", "as root: sysctl -w user.max_user_namespaces=1024"},
		},
		{
			"a filter as Docker's", systemCallFilter, fmt.Sprint(unix.CLONE_NEWUSER), "0",
			[]string{
				"a user namespace is refused to the daemon: ", "operation not permitted", "in Docker or Podman: run --security-opt seccomp=unconfined",
				"a systemd unit must not have RestrictNamespaces=",
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := newPlaces(t)
			refused := inside(t, row.surroundings, row.refusing)
			d := bootDaemon(t, p, refused, unready())
			d.saysEverywhere(t, "unsupported-host", row.says, confinedIn(t, p, nil, refused, doctorArgs(p, "--node="+shared.node)...))
			d.end(t)

			let := bootDaemon(t, p, inside(t, row.surroundings, row.letting))
			mustRun(t, let)
			let.end(t)
		})
	}
}

// TestHomeInAContainer: what is not on a volume is on overlayfs there; a root on
// a volume is fit.
func TestHomeInAContainer(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	s := start{places: p}
	s.home(p.dir + "/home")
	container := inside(t, overlayHome, p.dir)
	words := []string{"is on overlayfs (as all of a container is but its volumes, docker run -v)", "name a directory on ext4, xfs or btrfs"}
	mustRefuse(t, confinedIn(t, p, s.env, container, append([]string{"serve"}, s.flags()...)...), 1, words...)
	doctor := confinedIn(t, p, s.env, container, append([]string{"doctor"}, s.flags()...)...)
	for _, w := range words {
		if !strings.Contains(doctor.stdout, w) {
			t.Errorf("doctor does not say: %s\nbut: %s", w, doctor.stdout)
		}
	}
	d := bootDaemon(t, p, func(cmd *osexec.Cmd) {
		cmd.Args = append([]string{cmd.Path, "serve", "--node=/none/node", "--root=" + p.root, "--socket=" + p.socket}, "--state="+p.dir+"/home/state")
		cmd.Env = append(cmd.Env, s.env...)
		container(cmd)
	}, unready())
	d.end(t)
	if _, err := os.Stat(p.dir + "/upper/state"); err != nil {
		t.Errorf("the daemon was not in the container: %v", err)
	}
}
