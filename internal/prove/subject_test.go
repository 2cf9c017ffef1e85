package prove

import (
	"testing"
)

// TestPlainWorld: the world as the native probe reads it.
func TestPlainWorld(t *testing.T) {
	got := plainWorld(map[string]any{"slot": "/s", "daemon": 7, "names": map[string]string{"abstract": "\x00x"}, "victims": map[string]int{"read": 8}})
	if want := "daemon\t7\nnames.abstract\t@x\nslot\t/s\nvictims.read\t8\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
