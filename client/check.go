package client

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"confined/client/api"
)

// check decodes a result and compares it with what was asked for. Its bytes are
// known to be whole.
func (o order) check(raw []byte) (*Result, error) {
	r, err := decodeResult(raw)
	switch {
	case err != nil:
		return nil, err
	case r.RunID != o.ID:
		return nil, fmt.Errorf("the result is of the run %.100q", r.RunID)
	case r.NotStarted != nil:
		return r, nil
	case r.Observed != nil && r.Observed.Attributable != (len(r.Observed.Problems) == 0):
		return nil, fmt.Errorf("the result contradicts itself: attributable is %t, with %d problems", r.Observed.Attributable, len(r.Observed.Problems))
	}
	if err := o.compare(r.identities()); err != nil {
		return nil, err
	}
	if err := errors.Join(readable("stdout", r.Process().Stdout), readable("stderr", r.Process().Stderr)); err != nil {
		return nil, err
	}
	return r, nil
}

// identities are what was run, of a run that was started.
func (r *Result) identities() api.Identities {
	if r.Observed != nil {
		return r.Observed.Identities
	}
	return r.Unresolved.Identities
}

// compare returns an error that names every identity that is not the one asked for.
func (o order) compare(got api.Identities) error {
	var errs []error
	differs := func(what string, equal bool, got, asked any) {
		if !equal {
			errs = append(errs, fmt.Errorf("%s is %.200q, and %.200q was asked for", what, fmt.Sprint(got), fmt.Sprint(asked)))
		}
	}
	text := func(what, got, asked string) { differs(what, got == asked, got, asked) }
	text("program.digest", got.Program.Digest, o.Program.Digest())
	text("program.entry", got.Program.Entry, o.Entry)
	differs("program.args", slices.Equal(got.Program.Args, o.Args), got.Program.Args, o.Args)
	text("input", got.Input, o.Input.Digest())
	text("runtime", got.Runtime, o.Pins.Runtime)
	text("profile.digest", got.Profile.Digest, o.Pins.Profile)
	differs("bounds", got.Bounds == o.Bounds, got.Bounds, o.Bounds)
	if len(errs) > 0 {
		return fmt.Errorf("the result is of another job: %w", errors.Join(errs...))
	}
	return nil
}

// readable returns an error when output cannot be decoded.
func readable(name string, b api.Bytes) error {
	_, err := sumOf(b)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// sumOf is the SHA-256 of the bytes that b stands for.
func sumOf(b api.Bytes) (sum [sha256.Size]byte, err error) {
	r, err := octets(b)
	if err != nil {
		return sum, err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, r)
	return [sha256.Size]byte(hash.Sum(nil)), err
}
