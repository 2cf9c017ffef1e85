package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// lastAnswers is how long clients may take to read answers that are complete,
// and uploads that nobody will run may take to notice.
const lastAnswers = 5 * time.Second

// run listens and serves until a signal, then drains. When it returns nil,
// every run is settled, every client was answered and the socket is gone.
func (d *daemon) run(signals <-chan os.Signal) error {
	socket, err := listen(d.config.socket)
	if err != nil {
		return err
	}
	door, err := exclusive(socket)
	if err != nil {
		return fmt.Errorf("--socket: %w", err)
	}
	defer door.Close()
	tcp, err := listenMetrics(d.config.metricsListen)
	if err != nil {
		return fmt.Errorf("--metrics-listen: %w", err)
	}
	d.logStart(tcp)
	ended := make(chan error, 2)
	go func() { ended <- d.server.Serve(door) }()
	if tcp != nil {
		scrapes := newMetricsServer(d.metrics.Handler(d.log), d.log)
		defer scrapes.Close()
		go func() { ended <- scrapes.Serve(tcp) }()
	}
	ctx, cancel := context.WithCancel(context.Background())
	var look sync.WaitGroup
	look.Go(func() { d.logReadiness(ctx) })
	defer look.Wait() // what it started ends with it
	defer cancel()

	select {
	case err := <-ended:
		d.log.Error("a listener failed: draining", "error", err)
		return errors.Join(fmt.Errorf("a listener failed: %w", err), d.drain(signals))
	case s := <-signals:
		d.log.Info("draining", "signal", s.String(), "bound", d.config.drain.String())
		return d.drain(signals)
	}
}

// drain refuses new and waiting runs, lets those that are alive finish within
// the bound, and cancels what is left: at once when a second signal comes. A
// cancelled run settles by itself, whatever its program does. The socket stays
// until then, so that readiness can be asked.
func (d *daemon) drain(signals <-chan os.Signal) error {
	ctx, cancel := context.WithTimeout(context.Background(), d.config.drain)
	defer cancel()
	drained := make(chan error, 1)
	go func() { drained <- d.api.Drain(ctx) }()
	var err error
	select {
	case err = <-drained:
	case s := <-signals:
		d.log.Warn("cancelling the runs that are left", "signal", s.String())
		cancel()
		err = <-drained
	}
	last, done := context.WithTimeout(context.Background(), lastAnswers)
	defer done()
	if d.server.Shutdown(last) != nil {
		d.log.Warn("closing connections that were still open")
		d.server.Close()
	}
	d.log.Info("stopped")
	return err
}

// logStart says where the daemon is, and what it found there.
func (d *daemon) logStart(tcp net.Listener) {
	c := d.config
	attrs := []any{"version", thisBuild().String(), "instance", d.api.Instance(), "socket", c.socket, "root", c.root, "node", c.node,
		"maxRetained", c.maxRetained, "workers", c.workers, "queue", c.queue}
	if tcp != nil {
		attrs = append(attrs, "metrics", tcp.Addr().String())
	}
	d.log.Info("listening", attrs...)
	d.logFound()
}
