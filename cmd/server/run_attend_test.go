package main

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"confined/client"
)

// attended is what attend does with a run that behaves as ask and stop do, when
// signals come after these times.
func attended(ask func(context.Context, <-chan struct{}) (*client.Result, error), stopErr func(asked int) error, at ...time.Duration) (outcome, time.Duration, int) {
	signals := make(chan os.Signal, 2)
	go func() {
		for _, d := range at {
			time.Sleep(d)
			signals <- syscall.SIGINT
		}
	}()
	began, stopped := time.Now(), make(chan struct{})
	var asked atomic.Int32
	stop := func(context.Context) error {
		err := stopErr(int(asked.Add(1)))
		if err == nil {
			close(stopped)
		}
		return err
	}
	a := attend(signals, "r-1", func(ctx context.Context) (*client.Result, error) { return ask(ctx, stopped) }, stop)
	return a, time.Since(began), int(asked.Load())
}

func TestAttend(t *testing.T) {
	result := observed(0, nil)
	works := func(int) error { return nil }
	obedient := func(ctx context.Context, stopped <-chan struct{}) (*client.Result, error) {
		select {
		case <-stopped:
			return result, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	deaf := func(ctx context.Context, _ <-chan struct{}) (*client.Result, error) {
		<-ctx.Done()
		return nil, &client.UnknownError{RunID: "r-1", Err: ctx.Err()}
	}
	stuck := func(ctx context.Context, _ <-chan struct{}) (*client.Result, error) {
		<-ctx.Done()
		time.Sleep(time.Hour)
		return nil, ctx.Err()
	}
	for name, row := range map[string]struct {
		ask   func(context.Context, <-chan struct{}) (*client.Result, error)
		stop  func(int) error
		at    []time.Duration
		took  time.Duration
		asked int
		left  bool
		known bool
	}{
		"no signal": {func(context.Context, <-chan struct{}) (*client.Result, error) {
			time.Sleep(time.Minute)
			return result, nil
		}, works, nil, time.Minute, 0, false, true},
		"a signal":                  {obedient, works, []time.Duration{time.Second}, time.Second, 1, false, true},
		"a signal before it is run": {obedient, func(asked int) error { return map[bool]error{true: errors.New("run-unknown")}[asked < 4] }, []time.Duration{time.Second}, time.Second + 3*stopAgain, 4, false, true},
		"no answer to it":           {deaf, works, []time.Duration{time.Second}, time.Second + stopPatience, 1, false, false},
		"no end of the connection":  {stuck, works, []time.Duration{time.Second}, time.Second + stopPatience + cutPatience, 1, true, false},
		"a second signal":           {deaf, works, []time.Duration{time.Second, time.Second}, 2 * time.Second, 1, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, took, asked := attended(row.ask, row.stop, row.at...)
				if took != row.took || asked != row.asked || a.left != row.left || (a.err == nil) != row.known {
					t.Errorf("took %s, asked %d times to stop, %+v", took, asked, a)
				}
				if code := runExit(a.result, a.err); (code == exitUnknown) == row.known {
					t.Errorf("exit %d", code)
				}
				time.Sleep(2 * time.Hour) // what is stuck ends in this bubble's time
			})
		})
	}
}
