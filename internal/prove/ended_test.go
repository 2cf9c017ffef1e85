package prove

import (
	osexec "os/exec"
	"testing"
)

// TestAwaitEnd: it waits for the end, and leaves the child to be reaped.
func TestAwaitEnd(t *testing.T) {
	cmd := osexec.Command("sh", "-c", "read line; exit 7")
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		awaitEnd(cmd.Process.Pid)
		close(over)
	}()
	select {
	case <-over:
		t.Error("it did not wait")
	default:
	}
	stdin.Close()
	<-over
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("reaped with %v", cmd.ProcessState)
	}
}
