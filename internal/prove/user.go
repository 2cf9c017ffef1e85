package prove

import (
	"crypto/rand"
	"os"
	osexec "os/exec"
	"path/filepath"
	"syscall"

	"confined/internal/confine"
)

// user is whom a process belongs to, seen from the host.
type user struct{ uid, gid int }

func us() user { return user{os.Geteuid(), os.Getegid()} }

// runUser is whom the program in a slot belongs to: the daemon's user, or under root one of the slot's own.
func runUser(slot int) user {
	uid, gid := confine.Here().Owner(slot)
	return user{uid, gid}
}

// as makes a command run as u, without supplementary groups when that is another user, in a process group of its own, and no longer than this
// process lives.
func as(u user, cmd *osexec.Cmd) *osexec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithUs(cmd.SysProcAttr)
	if u != us() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.gid)}
	}
	return cmd
}

// reaches says whether u can go to path through every directory above it. Groups and access lists are left out: what they would open is
// taken for closed.
func (u user) reaches(path string) bool {
	if u.uid == 0 {
		return true
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		bit := os.FileMode(0o001)
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == u.uid {
			bit = 0o100
		}
		if info.Mode()&bit == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// random is a word of 26 letters that nobody can guess, so that whoever says it has read it.
func random() string { return rand.Text() }
