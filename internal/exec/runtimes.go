package exec

import (
	"context"
	"errors"
	"sync"
	"time"

	"confined/internal/pins"
)

// runtimes hands out the runtime as it is now: sealed, one copy for all runs, for as long as nothing of it changes; hashed
// where no copy can be had. Its methods may be called from any goroutine.
type runtimes struct {
	node      string
	launchers []pins.Launcher // closed by close

	turn chan struct{} // holds one while somebody seals

	mu         sync.Mutex // never held while anything is read
	current    *sharedSeal
	unsealable *pins.UnsealableError // why there was none, at the time of
	refusedAt  time.Time
}

// sealAgain is how long it is believed that no copy can be had: there may be memory for one later.
const sealAgain = time.Minute

func newRuntimes(node string, launchers []pins.Launcher) *runtimes {
	return &runtimes{node: node, launchers: launchers, turn: make(chan struct{}, 1)}
}

// sharedSeal is a sealed runtime that runs share; the last to release it closes it.
type sharedSeal struct {
	*pins.Sealed
	from  *runtimes
	users int // guarded by from.mu; one of them is from itself, while it is current
}

// takenRuntime is the runtime as it was found for one run, and is to be found again after it.
type takenRuntime struct {
	pins.Closure
	seal       *sharedSeal           // held until release; nil: Node runs from its path
	unsealable *pins.UnsealableError // why so
	from       *runtimes
}

// image is the copy of Node to execute; nil: the file itself.
func (t takenRuntime) image() *pins.Image {
	if t.seal == nil {
		return nil
	}
	return t.seal.Image()
}

func (t takenRuntime) integrity() Integrity {
	if t.seal == nil {
		return IntegrityRehashed
	}
	return IntegritySealed
}

// again takes the closure as it is now. What can have changed unseen is read again.
func (t takenRuntime) again(ctx context.Context) (pins.Closure, error) {
	if t.seal != nil {
		return t.seal.Again(ctx)
	}
	return pins.TakeClosure(ctx, t.from.node, t.from.launchers)
}

// release lets go of the copy.
func (t takenRuntime) release() {
	if t.seal != nil {
		t.seal.release()
	}
}

// take establishes what the runtime is now. The caller releases what it gets.
func (r *runtimes) take(ctx context.Context) (takenRuntime, error) {
	for {
		seal, err := r.valid(ctx)
		if seal == nil && err == nil {
			seal, err = r.renew(ctx)
		}
		var unsealable *pins.UnsealableError
		switch {
		case errors.As(err, &unsealable):
			closure, err := pins.TakeClosure(ctx, r.node, r.launchers)
			return takenRuntime{Closure: closure, unsealable: unsealable, from: r}, err
		case err != nil:
			return takenRuntime{}, err
		case seal != nil:
			return takenRuntime{Closure: seal.Closure, seal: seal, from: r}, nil
		}
	}
}

// valid is the current seal, if nothing of the runtime has changed since it was made; otherwise it is none any more.
func (r *runtimes) valid(ctx context.Context) (*sharedSeal, error) {
	seal := r.borrow()
	if seal == nil {
		return nil, nil
	}
	now, err := seal.Again(ctx)
	if err == nil {
		err = seal.Unchanged(now)
	}
	switch {
	case err == nil:
		return seal, nil
	case ctx.Err() != nil:
		seal.release()
		return nil, err
	}
	r.retire(seal)
	seal.release()
	return nil, nil
}

// renew makes a seal current and returns it, or nothing where another did meanwhile.
func (r *runtimes) renew(ctx context.Context) (*sharedSeal, error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if known, err := r.known(); known {
		return nil, err
	}
	sealed, err := pins.Seal(ctx, r.node, r.launchers)
	if err != nil {
		return nil, r.note(err)
	}
	return r.install(sealed), nil
}

// known says whether there is something to go by: a seal, or why there is none.
func (r *runtimes) known() (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil && r.unsealable != nil && time.Since(r.refusedAt) < sealAgain {
		return true, r.unsealable
	}
	return r.current != nil, nil
}

// note remembers an error of sealing itself.
func (r *runtimes) note(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.As(err, &r.unsealable) {
		r.refusedAt = time.Now()
	}
	return err
}

func (r *runtimes) install(sealed *pins.Sealed) *sharedSeal {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = &sharedSeal{Sealed: sealed, from: r, users: 2} // the caller, and r
	return r.current
}

func (r *runtimes) borrow() *sharedSeal {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		r.current.users++
	}
	return r.current
}

// retire has nobody borrow seal any more.
func (r *runtimes) retire(seal *sharedSeal) {
	r.mu.Lock()
	was := r.current == seal
	if was {
		r.current = nil
	}
	r.mu.Unlock()
	if was {
		seal.release()
	}
}

// close drops the current seal and closes the launchers.
func (r *runtimes) close() error {
	r.drop()
	var errs []error
	for _, l := range r.launchers {
		if l.File != nil {
			errs = append(errs, l.File.Close())
		}
	}
	return errors.Join(errs...)
}

// drop lets go of the current seal. Runs that hold one keep it.
func (r *runtimes) drop() {
	if seal := r.borrow(); seal != nil {
		r.retire(seal)
		seal.release()
	}
}

func (s *sharedSeal) release() {
	s.from.mu.Lock()
	s.users--
	last := s.users == 0
	s.from.mu.Unlock()
	if last {
		_ = s.Close() // nothing was written
	}
}
