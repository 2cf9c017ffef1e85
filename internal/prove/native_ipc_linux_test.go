package prove

import (
	"encoding/json"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// refusedRemovals has every removal of what outlasts a process take place, and then says that it was refused.
const refusedRemovals = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#define REFUSED(call) { int r = call; errno = r == 0 ? EPERM : 999; return -1; }
#define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))
int shmctl(int id, int command, void *to) REFUSED(REAL("shmctl", int (*)(int, int, void *))(id, command, to))
int semctl(int id, int n, int command) REFUSED(REAL("semctl", int (*)(int, int, int))(id, n, command))
int msgctl(int id, int command, void *to) REFUSED(REAL("msgctl", int (*)(int, int, void *))(id, command, to))
int shm_unlink(const char *name) REFUSED(REAL("shm_unlink", int (*)(const char *))(name))
int sem_unlink(const char *name) REFUSED(REAL("sem_unlink", int (*)(const char *))(name))
int mq_unlink(const char *name) REFUSED(REAL("mq_unlink", int (*)(const char *))(name))
`

// TestWhatIsMadeIsMade: an act that made what outlasts the process took place, though removing it was refused.
func TestWhatIsMadeIsMade(t *testing.T) {
	dir := t.TempDir()
	probe, library := filepath.Join(dir, "probe"), filepath.Join(dir, "refused.so")
	if _, err := compileProbe(t.Context(), probe); err != nil {
		t.Fatal(err)
	}
	cc := osexec.CommandContext(t.Context(), "cc", slices.Concat(compilerFlags(), sharedFlags("linux"), []string{"-x", "c", "-o", library, "-"})...)
	cc.Stdin = strings.NewReader(refusedRemovals)
	if said, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	home, input := filepath.Join(dir, "home"), filepath.Join(dir, "input")
	for _, d := range []string{home, input} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(input, "world.txt"), []byte("input\t"+input+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, act := range []string{"shared_memory", "semaphores", "messages", "named_memory", "named_semaphore", "message_queue"} {
		run := osexec.CommandContext(t.Context(), probe, "-", "-", "act", act)
		run.Stdin, run.Env = strings.NewReader("\x67"), []string{"HOME=" + home, "LD_PRELOAD=" + library}
		said, err := run.Output()
		var l line
		if err != nil || json.Unmarshal(said, &l) != nil {
			t.Fatalf("%s: %v, %q", act, err, said)
		}
		if l.Code != "" || l.Said != "made, and not removed: Operation not permitted" {
			t.Errorf("%s: %+v", act, l)
		}
	}
}
