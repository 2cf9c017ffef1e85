package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"confined/internal/exec"
	"confined/internal/httpapi"
	"confined/internal/ns"
	"confined/metrics"
)

// serve runs the daemon until it is told to stop.
func serve(args []string, in surroundings) error {
	var c config
	fs := newFlagSet("serve")
	c.serveFlags(fs)
	if err := parse(fs, args, in); err != nil {
		return err
	}
	if err := c.complete(in); err != nil {
		return err
	}
	if err := c.findNode(); err != nil {
		return err
	}
	limitMemory(c.uploadMemory)
	signal.Ignore(syscall.SIGPIPE) // a reader of the log that goes away must not end the runs
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	if !signal.Ignored(syscall.SIGHUP) { // nohup means it
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)

	d, err := newDaemon(c, newLogger(in.stderr, c.logFormat))
	if err != nil {
		return err
	}
	defer d.executor.Close()
	return d.run(signals)
}

// daemon is everything that serve holds together.
type daemon struct {
	config   config
	log      *slog.Logger
	pool     *ns.Pool
	executor *exec.Executor
	herald   *herald
	metrics  *metrics.Set
	api      *httpapi.API
	server   *http.Server // of the Unix socket
}

// newDaemon makes the places, judges the root and wires the parts. Nothing
// listens yet. Whether this host can have the boundary is no condition: the
// daemon is there to say why not.
func newDaemon(c config, log *slog.Logger) (*daemon, error) {
	pool, err := ns.NewPool(ns.Config{Root: c.root, MaxRetained: c.maxRetained, State: c.state})
	if err != nil {
		return nil, usageError{withRoot(err, c)}
	}
	if err := fitsSocket(c.socket); err != nil {
		return nil, err
	}
	fresh := missing(c.root)
	if err := makePlaces(c); err != nil {
		return nil, err
	}
	if err := soundRoot(pool); err != nil {
		if fresh {
			_ = os.Remove(c.root) // it was made in vain
		}
		return nil, fmt.Errorf("--root: %w", withRoot(err, c))
	}
	d := &daemon{config: c, log: log, pool: pool, herald: &herald{proofs: newProofs(c), log: log}, metrics: newMetrics()}
	d.executor, err = exec.New(exec.Options{
		Pool: pool, Node: c.node, State: c.state, Proven: d.herald.of,
		Trace: exec.Join(d.metrics.Trace(), logTrace(log)),
	})
	if err != nil {
		return nil, err
	}
	return d, d.wireAPI()
}

// soundRoot opens the root once, as every run does.
func soundRoot(pool *ns.Pool) error {
	root, err := pool.Open()
	if err != nil {
		return err
	}
	return root.Close()
}
