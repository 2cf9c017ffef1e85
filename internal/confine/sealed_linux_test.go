package confine

import (
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

func sealed(t testing.TB, path string) *os.File {
	from, err := os.Open(path)
	must(t, err)
	defer from.Close()
	fd, err := unix.MemfdCreate(pins.ImageName, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	must(t, err)
	f := os.NewFile(uintptr(fd), path)
	t.Cleanup(func() { _ = f.Close() })
	_, err = io.Copy(f, from)
	must(t, err)
	must(t, unix.Fchmod(fd, 0o555))
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_EXEC|unix.F_SEAL_SEAL)
	must(t, err)
	return f
}

func TestSealed(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `
const fs = require('fs');
const maps = fs.readFileSync('/proc/self/maps', 'latin1').split('\n').filter((l) => / r-xp .*memfd/.test(l)).length;
console.log(process.execPath, fs.readlinkSync('/proc/self/exe'), maps)`})
	j := s.job(t, nodeClosure(t), "main.cjs")
	j.Image = sealed(t, nodeClosure(t).Node)
	i := instance(t, j)
	o := run(t, i)
	t.Log(o.stdout, o.stderr, o.state)
	if !strings.HasSuffix(o.control, admittedRecord) {
		t.Errorf("%+v", o)
	}
}
