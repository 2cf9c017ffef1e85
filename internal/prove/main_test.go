package prove

import (
	"os"
	"testing"

	"confined/internal/confine"
)

func TestMain(m *testing.M) {
	confine.Stage(os.Args)
	os.Exit(m.Run())
}
