package prove

import (
	"bufio"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
)

// TestKilledSuite: what a suite has started unconfined, even what is stopped, ends with it when it is killed.
func TestKilledSuite(t *testing.T) {
	suite := osexec.CommandContext(t.Context(), os.Args[0])
	suite.Env = append(os.Environ(), startsAVictim+"=1")
	out, err := suite.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := suite.Start(); err != nil {
		t.Fatal(err)
	}
	said, _ := bufio.NewReader(out).ReadString('\n')
	_ = suite.Process.Kill()
	_ = suite.Wait()
	var pid int
	if _, err := fmt.Sscan(said, &pid); err != nil {
		t.Fatalf("%q: %v", said, err)
	}
	v := victim{pid: pid}
	if !within(patience, func() bool { return strings.Trim(v.stat(0), "ZX") == "" }) { // whether it is reaped is for others
		t.Errorf("process %d outlives the suite: %s", pid, v.stat(0))
	}
}
