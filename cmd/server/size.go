package main

import (
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
	digits, factor := text, int64(1)
	for _, u := range units() {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			digits, factor = rest, u.bytes
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	switch {
	case err != nil:
		return fmt.Errorf("want a whole number of bytes, KiB, MiB or GiB, as in 512MiB")
	case int64(n) > math.MaxInt64/factor || int64(n)*factor < minUploadMemory:
		return fmt.Errorf("want at least 1MiB, and no more than memory can be")
	}
	*b = byteSize(int64(n) * factor)
	return nil
}
