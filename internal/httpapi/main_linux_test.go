package httpapi

import (
	"os"
	"testing"

	"confined/internal/confine"
)

// TestMain lets the test binary be the launch stage, as main does.
func TestMain(m *testing.M) {
	confine.Stage(os.Args)
	os.Exit(m.Run())
}
