package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"confined/internal/pins"
)

// config is what the flags and the environment say, judged and made whole.
type config struct {
	root, socket, node, state string
	maxRetained               int
	workers, queue            int
	uploadMemory              int64 // bytes
	drain                     time.Duration
	metricsListen             netip.AddrPort // not valid when there is no such listener
	logFormat                 string
	requireReceipt            bool
	json                      bool // doctor, prove and version
}

// The bounds of the flags, and what they are when nobody sets them.
const (
	maxRetainedLimit    = 64
	defaultMaxRetained  = 8
	queueLimit          = 10_000
	defaultQueue        = 256
	defaultUploadMemory = 512 << 20
	minUploadMemory     = 1 << 20
	defaultDrain        = 30 * time.Second
	drainLimit          = 15 * time.Minute
)

// errNoNode is what Node's place is when --node was left out and PATH has none.
var errNoNode = &unfitError{"there is no node in PATH", pins.CureOfficial()}

// newFlagSet is a set that says nothing by itself: the caller prints one line.
func newFlagSet(command string) *flag.FlagSet {
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

// placeFlags are those that serve and doctor share.
func (c *config) placeFlags(fs *flag.FlagSet) {
	fs.StringVar(&c.root, "root", "", "private directory on ext4, xfs or btrfs (macOS: APFS) that holds the slots (default ~/.confined/root)")
	fs.StringVar(&c.socket, "socket", "", "Unix socket to listen on, in a private directory (default ~/.confined/socket)")
	c.proofFlags(fs)
	fs.IntVar(&c.maxRetained, "max-retained", defaultMaxRetained, "entries the root may hold, live runs included, 1 to 64")
}

// proofFlags are those by which serve, doctor and prove agree on what is proven.
func (c *config) proofFlags(fs *flag.FlagSet) {
	fs.StringVar(&c.state, "state", "", "private directory of the daemon's own records, receipts among them (default ~/.confined/state)")
	fs.StringVar(&c.node, "node", "", "the Node.js binary to run programs with (default node, from PATH)")
	fs.BoolVar(&c.requireReceipt, "require-receipt", false, "a receipt of `confined prove` alone admits a Node, no built-in entry does")
}

func (c *config) serveFlags(fs *flag.FlagSet) {
	c.placeFlags(fs)
	c.uploadMemory = defaultUploadMemory
	fs.IntVar(&c.workers, "workers", 0, "programs that run at the same time (default the smaller of the processors and --max-retained)")
	fs.IntVar(&c.queue, "queue", defaultQueue, "runs that may wait for a worker")
	fs.Var((*byteSize)(&c.uploadMemory), "upload-memory", "memory for the files of requests that are being read, waiting or running, as in 512MiB")
	c.drain = defaultDrain
	fs.Func("drain", "how long running programs may still take after SIGTERM, as in 30s (default "+defaultDrain.String()+")", c.setDrain)
	fs.Func("metrics-listen", "also serve /metrics, and nothing else, on a loopback address, as in 127.0.0.1:9464", c.setMetricsListen)
	fs.StringVar(&c.logFormat, "log-format", "auto", "text, json, or auto: text on a terminal, else json")
}

func (c *config) setDrain(value string) (err error) {
	if c.drain, err = time.ParseDuration(value); err != nil {
		return errors.New("want a duration with its unit, as in 30s")
	}
	return nil
}

func (c *config) setMetricsListen(value string) error {
	address, err := netip.ParseAddrPort(value)
	switch {
	case err != nil:
		return errors.New("want an address and a port, as in 127.0.0.1:9464")
	case !address.Addr().IsLoopback():
		return fmt.Errorf("%s is not a loopback address: metrics are for this machine only, as in 127.0.0.1:9464", address.Addr())
	}
	c.metricsListen = address
	return nil
}

// overlay sets every flag that has a variable, and that the command line left
// alone, from that variable. An empty variable counts as none.
func overlay(fs *flag.FlagSet, lookup func(string) (string, bool)) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var first error
	fs.VisitAll(func(f *flag.Flag) {
		value, _ := lookup(variable(f.Name))
		if first != nil || given[f.Name] || value == "" || !hasVariable(fs.Name(), f.Name) {
			return
		}
		if err := fs.Set(f.Name, value); err != nil {
			first = usageError{fmt.Errorf("invalid value %q for %s: %w", value, variable(f.Name), err)}
		}
	})
	return first
}

// variable is the name of a flag in the environment.
func variable(name string) string {
	return "CONFINED_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

func printHelp(fs *flag.FlagSet, to io.Writer) {
	fmt.Fprintln(to, manual(fs.Name()))
	fs.VisitAll(func(f *flag.Flag) {
		_, text := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" {
			text += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(to, "  --%-15s %s\n", f.Name, text)
		if hasVariable(fs.Name(), f.Name) {
			fmt.Fprintf(to, "  %-17s %s\n", "", variable(f.Name))
		}
	})
}

// completePlaces fills in the places that depend on this user, and makes all of
// them absolute but the root: how that is worded is for ns to judge.
func (c *config) completePlaces(in surroundings) error {
	if c.maxRetained < 1 || c.maxRetained > maxRetainedLimit {
		return outOfRange("max-retained", c.maxRetained, 1, maxRetainedLimit)
	}
	return c.defaultPlaces(in)
}

// complete does that, fills in what depends on this machine, and judges the
// values together.
func (c *config) complete(in surroundings) error {
	if err := c.completePlaces(in); err != nil {
		return err
	}
	if c.workers == 0 {
		c.workers = min(runtime.NumCPU(), c.maxRetained)
	}
	switch {
	case c.workers < 1 || c.workers > c.maxRetained:
		return usageError{fmt.Errorf("--workers %d is not within 1 to --max-retained, %d: each running program has a slot", c.workers, c.maxRetained)}
	case c.queue < 1 || c.queue > queueLimit:
		return outOfRange("queue", c.queue, 1, queueLimit)
	case c.drain < 0 || c.drain > drainLimit:
		return outOfRange("drain", c.drain, 0, drainLimit)
	case !slices.Contains([]string{"auto", "text", "json"}, c.logFormat):
		return usageError{fmt.Errorf("--log-format %q is not text, json or auto", c.logFormat)}
	}
	return nil
}

func outOfRange[T any](name string, value, low, high T) error {
	return usageError{fmt.Errorf("--%s %v is not within %v to %v", name, value, low, high)}
}

func (c *config) defaultPlaces(in surroundings) error {
	const all = "--root, --socket and --state"
	if c.root == "" {
		if err := defaultPlace(in, "root", &c.root, all); err != nil {
			return err
		}
	}
	if err := wholePlace(in, "socket", &c.socket, all); err != nil {
		return err
	}
	return wholePlace(in, "state", &c.state, all)
}

// defaultPlace is what a place is when nobody names it; all are the flags that
// would do without HOME.
func defaultPlace(in surroundings, name string, place *string, all string) error {
	home, _ := in.lookupEnv("HOME")
	if !filepath.IsAbs(home) {
		return usageError{fmt.Errorf("HOME is not an absolute path, and without it there is no default for --%s: set HOME, or give %s", name, all)}
	}
	*place = filepath.Join(home, ".confined", name)
	return nil
}

// wholePlace does that where it is needed, and makes what was named absolute.
func wholePlace(in surroundings, name string, place *string, all string) error {
	if *place == "" {
		return defaultPlace(in, name, place, all)
	}
	absolute, err := filepath.Abs(*place)
	if err != nil {
		return fmt.Errorf("--%s %s: %w", name, *place, err)
	}
	*place = absolute
	return nil
}

// findNode makes --node absolute. A word without a slash is looked up in PATH.
// Symlinks stay as they are: they are part of what is pinned.
func (c *config) findNode() error {
	name := c.node
	if name == "" {
		name = "node"
	}
	if !strings.Contains(name, "/") {
		found, err := osexec.LookPath(name)
		if err != nil && c.node == "" {
			return errNoNode
		} else if err != nil {
			return &unfitError{fmt.Sprintf("--node %s: there is no such program in PATH", name), "name the file, as in --node /path/to/node"}
		}
		name = found
	}
	absolute, err := filepath.Abs(name)
	if err != nil {
		return fmt.Errorf("--node %s: %w", name, err)
	}
	c.node = absolute
	return nil
}
