package prove

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
)

// startsAVictim lets this test binary start one, as a suite does, and wait to be killed.
const startsAVictim = "PROVE_TEST_STARTS_A_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(startsAVictim) != "" {
		startVictim()
	}
	os.Exit(m.Run())
}

// startVictim starts a process to act on and stops it, since what is stopped does not see what happens around it.
func startVictim() {
	runtime.LockOSThread()
	v, err := newVictim(us())
	if err == nil {
		err = syscall.Kill(v.pid, syscall.SIGSTOP)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(v.pid)
	select {}
}
