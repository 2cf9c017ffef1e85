package e2e

import (
	osexec "os/exec"
	"testing"
)

// TestIntegrity: a daemon says how its runs know that Node is the pinned one, and
// where no sealed copy can be had it says why, hashes, and gives the same answers.
func TestIntegrity(t *testing.T) {
	t.Parallel()
	for integrity, row := range map[string]struct {
		surroundings func(*osexec.Cmd)
		says         []string
	}{
		"sealed": {nil, []string{`"msg":"runs execute a sealed copy of Node"`}},
		"rehashed": {underFileLimit, []string{
			`"level":"WARN"`, "Node is hashed before and after each run", "limit of file sizes is less than the size of Node", "LimitFSIZE="}},
	} {
		d := bootDaemon(t, newPlaces(t), row.surroundings)
		if got := decode[struct{ Integrity string }](t, d.get(t, "/v1/runtime").body).Integrity; got != integrity {
			t.Errorf("%q, want %q", got, integrity)
		}
		mustRun(t, d)
		if words := append(row.says, `"integrity":"`+integrity+`"`); !d.logs(words...) {
			t.Errorf("no line of the log has %q:\n%s", words, d.log)
		}
		d.end(t)
	}
}

// underFileLimit has the daemon write no file of the size of Node.
func underFileLimit(cmd *osexec.Cmd) {
	shell := osexec.Command("sh", append([]string{"-c", `ulimit -f 100000; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path, cmd.Args = shell.Path, shell.Args
}
