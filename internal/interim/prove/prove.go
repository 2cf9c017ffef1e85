// Package prove stands in for the suite until it is merged.
package prove

import (
	"context"
	"errors"

	"confined/internal/pins"
)

type Progress struct {
	Phase       string
	Done, Total int
}

type Options struct {
	Node, State string
	Progress    func(Progress)
}

func Run(ctx context.Context, o Options) (pins.Receipt, error) {
	return pins.Receipt{}, errors.New("no suite yet")
}

func Suite() pins.Digest { return pins.DigestOf([32]byte{1}) }
