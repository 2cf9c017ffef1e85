package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a flag that takes 512MiB, 64KiB, 1GiB or a plain count of bytes.
type byteSize int64

type unit struct {
	name  string
	bytes int64
}

// units are those a size may end in, the largest first.
func units() []unit { return []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} }

func (b *byteSize) String() string {
	for _, u := range units() {
		if n := int64(*b); n > 0 && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.name)
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *byteSize) Set(text string) error {
	n, err := parseSize(text)
	if err == nil && n < minUploadMemory {
		err = errors.New("want at least 1MiB")
	}
	if err == nil {
		*b = byteSize(n)
	}
	return err
}

// parseSize reads a count of bytes with or without a unit.
func parseSize(text string) (int64, error) {
	digits, factor := text, int64(1)
	for _, u := range units() {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			digits, factor = rest, u.bytes
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	switch {
	case err != nil:
		return 0, errors.New("want a whole number of bytes, KiB, MiB or GiB, as in 512MiB")
	case int64(n) > math.MaxInt64/factor:
		return 0, errors.New("want no more than memory can be")
	}
	return int64(n) * factor, nil
}
