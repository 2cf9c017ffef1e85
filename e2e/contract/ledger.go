package contract

import (
	"slices"
	"sync"
)

// Ledger keeps which kinds of answers came. The zero value is empty. It is safe
// for concurrent use.
type Ledger struct {
	mu   sync.Mutex
	seen map[Kind]int
}

func (l *Ledger) note(k Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[Kind]int{}
	}
	l.seen[k]++
}

// Missing are those of kinds that never came.
func (l *Ledger) Missing(kinds []Kind) []Kind {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return l.seen[k] > 0 })
}
