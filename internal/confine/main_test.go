package confine

import (
	"os"
	"testing"
)

// helperName is an environment variable that makes the test binary act as another process of a test: a daemon to be killed, say.
const helperName = "CONFINE_TEST_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperName); name != "" {
		os.Exit(runHelper(name))
	}
	os.Exit(m.Run())
}
