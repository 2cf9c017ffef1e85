package ns

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

// helper is what the test binary does in a process of its own. Every act works on <root> <state>.
func helper(act string, args []string) error {
	pool, err := NewPool(Config{Root: args[0], State: args[1], MaxRetained: 8})
	if err != nil {
		return err
	}
	switch act {
	case "hold":
		return helpHold(pool)
	case "many":
		return helpMany(pool, args[2:])
	case "few-descriptors":
		return helpFewDescriptors(pool)
	case "full":
		return helpFull(pool)
	case "claims":
		return helpClaims(pool, args[2])
	case "release":
		return helpRelease(pool, args[2])
	}
	return helpHost(act, pool, args[2:])
}

// helpHold keeps a filled slot until its standard input ends, or it is killed.
func helpHold(pool *Pool) error {
	s, err := helpFilled(pool, map[string]string{"main.mjs": "1\n"})
	if err != nil {
		return err
	}
	fmt.Println(s.Name())
	io.Copy(io.Discard, os.Stdin)
	fmt.Println(s.Remove(SetupIncomplete).State)
	return nil
}

func helpFilled(pool *Pool, files map[string]string) (*Slot, error) {
	snap, err := helpSnapshot(files)
	if err != nil {
		return nil, err
	}
	s, err := tryClaim(pool)
	if err != nil {
		return nil, err
	}
	return s, s.Materialise("helper", snap, snap, ourselves())
}

func helpSnapshot(files map[string]string) (pins.Snapshot, error) {
	var b pins.Builder
	for path, content := range files {
		if err := b.Add(path, strings.NewReader(content)); err != nil {
			return pins.Snapshot{}, err
		}
	}
	s, faults := b.Snapshot()
	if len(faults) > 0 {
		return s, fmt.Errorf("%v", faults)
	}
	return s, nil
}

// helpMany takes a snapshot of args[0] files, as deep as may be, through the whole life of a slot with no more descriptors to spare than
// its workers may have, and prints how long each stage took.
func helpMany(pool *Pool, args []string) error {
	count, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	files := map[string]string{strings.Repeat("d/", 15) + "deepest.js": "1\n"}
	for i := range count - 1 {
		files[fmt.Sprintf("dir%02d/sub%d/f%05d.js", i%40, i%3, i)] = strings.Repeat("x", 4096)
	}
	program, err := helpSnapshot(files)
	if err != nil {
		return err
	}
	input, err := helpSnapshot(nil)
	if err != nil {
		return err
	}
	if _, err := pool.List(); err != nil { // which also makes the runtime take the descriptors of its poller
		return err
	}
	// The slot's two, and for each worker one a level, from the slot's to that of the deepest file, and one for the file.
	if err := spareDescriptors(2 + min(runtime.GOMAXPROCS(0), mostWorkers)*(17+1)); err != nil {
		return err
	}
	s, err := tryClaim(pool)
	if err != nil {
		return err
	}
	return helpStages(s, program, input)
}

func helpStages(s *Slot, program, input pins.Snapshot) error {
	start := time.Now()
	lap := func(stage string) {
		fmt.Println(stage, time.Since(start).Round(time.Millisecond))
		start = time.Now()
	}
	if err := s.Materialise("many", program, input, ourselves()); err != nil {
		return err
	}
	lap("materialise")
	v, err := s.Verify()
	if err != nil {
		return err
	}
	lap("verify")
	if err := s.Recheck(v); err != nil {
		return err
	}
	lap("recheck")
	if d := s.Remove(NamespaceChanged); d.State != StateRemoved || !d.Durable {
		return fmt.Errorf("%+v", d)
	}
	lap("remove")
	return nil
}

// spareDescriptors leaves this process n descriptors beyond those it has.
func spareDescriptors(n int) error {
	highest := 0
	for range n {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		highest = max(highest, fd)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = uint64(highest) + 1
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
}

func moreDescriptors() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
}

// helpFewDescriptors runs out of descriptors in the middle of Materialise, and takes the part away when it has descriptors again.
func helpFewDescriptors(pool *Pool) error {
	deep, err := helpSnapshot(map[string]string{"a.js": "1\n", strings.Repeat("d/", 15) + "deepest.js": "1\n"})
	if err != nil {
		return err
	}
	s, err := tryClaim(pool)
	if err != nil {
		return err
	}
	if err := spareDescriptors(8); err != nil {
		return err
	}
	failed := s.Materialise("few", deep, deep, ourselves())
	fmt.Println(failed)
	if err := moreDescriptors(); err != nil {
		return err
	}
	d := s.Remove(SetupIncomplete)
	if failed == nil || d.State != StateRemoved || !d.Durable {
		return fmt.Errorf("materialise: %v, then %+v", failed, d)
	}
	return nil
}

// helpFull meets the end of the space for a file in the middle of it.
func helpFull(pool *Pool) error {
	signal.Ignore(syscall.SIGXFSZ)
	big, err := helpSnapshot(map[string]string{"a.js": "1\n", "big": strings.Repeat("x", 1<<20)})
	if err != nil {
		return err
	}
	s, err := tryClaim(pool)
	if err != nil {
		return err
	}
	limit := unix.Rlimit{Cur: 100_000, Max: 100_000}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	failed := s.Materialise("full", big, big, ourselves())
	fmt.Println(failed)
	d := s.Remove(SetupIncomplete)
	if failed == nil || d.State != StateRemoved || !d.Durable {
		return fmt.Errorf("materialise: %v, then %+v", failed, d)
	}
	return nil
}

// helpClaims claims and removes as fast as it can, telling each claim.
func helpClaims(pool *Pool, rounds string) error {
	n, err := strconv.Atoi(rounds)
	if err != nil {
		return err
	}
	for range n {
		s, err := helpFilled(pool, map[string]string{"main.mjs": "1\n"})
		if err != nil {
			return err
		}
		if _, err := s.Verify(); err != nil {
			return err
		}
		if d := s.Remove(NamespaceChanged); d.State != StateRemoved {
			return fmt.Errorf("%+v", d)
		}
	}
	return nil
}

// helpRelease releases a slot as it is.
func helpRelease(pool *Pool, name string) error {
	c, err := pool.Show(context.Background(), name)
	if err != nil {
		return err
	}
	d, err := pool.Release(context.Background(), name, c.Tag)
	fmt.Println(d.State)
	return err
}
