package pins

import (
	"context"
	"os"
	"testing"
)

func mustSeal(t testing.TB, node string, launcher *os.File) *Sealed {
	t.Helper()
	s, err := Seal(context.Background(), node, launcher)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
