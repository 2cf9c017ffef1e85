package pins

import "testing"

// TestMisspelled: a name that only the file system takes for the same is refused with the one on the disk.
func TestMisspelled(t *testing.T) {
	if err := misspelled("/opt/node", "/opt/node"); err != nil {
		t.Error(err)
	}
	err := misspelled("/opt/Node", "/opt/node")
	if err == nil || err.Error() != "/opt/Node is called /opt/node on the disk; cure: name it so, or name a copy of it" {
		t.Error(err)
	}
}
