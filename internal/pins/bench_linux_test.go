package pins

import (
	"context"
	"testing"
)

// BenchmarkTakeClosure is what each look at the runtime costs where every file is hashed.
func BenchmarkTakeClosure(b *testing.B) {
	node, launcher := pinnedNode(b), openLauncher(b)
	for b.Loop() {
		if _, err := TakeClosure(context.Background(), node, launcher); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSeal is what sealing costs, once as long as nothing changes.
func BenchmarkSeal(b *testing.B) {
	node, launcher := pinnedNode(b), openLauncher(b)
	for b.Loop() {
		if err := mustSeal(b, node, launcher).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAgain is what each look costs then.
func BenchmarkAgain(b *testing.B) {
	s := mustSeal(b, pinnedNode(b), openLauncher(b))
	defer s.Close()
	for b.Loop() {
		now, err := s.Again(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Unchanged(now); err != nil {
			b.Fatal(err)
		}
	}
}
