package pins

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
)

// ProofOptions are what a [Proofs] decides by.
type ProofOptions struct {
	Dir          string // of the receipts; it need not exist, and without one there are none
	Profile      Digest // the boundary of this build
	Suite        Digest // the suite of this build
	ReceiptsOnly bool   // an entry of the built-in table is not enough
}

// Proofs decides what proves the boundary with a runtime: an entry of the built-in table, or a receipt in a directory. It may be used from any
// goroutine. What a file says is remembered for as long as the file looks the same, so that a run pays a look at the directory.
type Proofs struct {
	o    ProofOptions
	host string

	mu    sync.Mutex
	known map[string]receiptFile // by name
}

// ErrReceiptsOnly is in an error of Of where a receipt alone would do: no other Node would do without one either.
var ErrReceiptsOnly = errors.New("--require-receipt wants a receipt")

// NewProofs are the built-in entries, unless only receipts count, and the receipts in o.Dir.
func NewProofs(o ProofOptions) *Proofs {
	return &Proofs{o: o, host: HostID(), known: map[string]receiptFile{}}
}

// Of returns the proof of rt, the latest receipt where several are about it, or an error that says why there is none: what was looked for, and
// what comes nearest to it. Receipts that were written or removed a moment ago count, or no longer count, at once.
func (p *Proofs) Of(rt Runtime) (Proof, error) {
	builtIn, official := BuiltIn(rt)
	if official && !p.o.ReceiptsOnly {
		return builtIn, nil
	}
	files, err := p.look()
	if err == nil {
		var proof Proof
		if proof, err = p.among(files, rt); err == nil {
			return proof, nil
		}
	}
	if official {
		return Proof{}, fmt.Errorf("this build's table has it, and %w; %w", ErrReceiptsOnly, err)
	}
	if p.o.ReceiptsOnly {
		return Proof{}, fmt.Errorf("%w; %w", ErrReceiptsOnly, err)
	}
	return Proof{}, fmt.Errorf("it is no official build of this build's table; %w", err)
}

// among is the proof that files hold for rt. The error names the nearest miss.
func (p *Proofs) among(files []receiptFile, rt Runtime) (Proof, error) {
	var best, nearest *receiptFile
	var misses []miss
	for i, f := range files {
		if f.err != nil {
			continue
		}
		found := p.misses(f.receipt, rt)
		switch {
		case len(found) == 0 && (best == nil || f.receipt.EndedAt().After(best.receipt.EndedAt())):
			best = &files[i]
		case len(found) > 0 && (nearest == nil || closer(found, f, misses, *nearest)):
			nearest, misses = &files[i], found
		}
	}
	switch {
	case best != nil:
		return Proof{Kind: ProofReceipt, Receipt: best.digest, File: filepath.Join(p.o.Dir, best.name), ProvenAt: best.receipt.EndedAt()}, nil
	case nearest != nil && !slices.ContainsFunc(misses, func(m miss) bool { return m.otherNode }):
		return Proof{}, fmt.Errorf("the nearest receipt, %s, is about this Node but %s%s", filepath.Join(p.o.Dir, nearest.name), joinMisses(misses), restart(misses))
	}
	return Proof{}, p.none(files)
}

// closer says whether a receipt misses by less: first those about this Node, then by how much differs, then the later one.
func closer(a []miss, af receiptFile, b []miss, bf receiptFile) bool {
	other := func(list []miss) int {
		if slices.ContainsFunc(list, func(m miss) bool { return m.otherNode }) {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(other(a), other(b)), cmp.Compare(len(a), len(b)), bf.receipt.EndedAt().Compare(af.receipt.EndedAt())) < 0
}

// none is the error when no sound receipt is about this Node.
func (p *Proofs) none(files []receiptFile) error {
	said, others, unsound := "there is no receipt about it", 0, []receiptFile{}
	for _, f := range files {
		switch {
		case f.err == nil:
			others++
		case f.state != ReceiptUnfinished:
			unsound = append(unsound, f)
		}
	}
	if p.o.Dir != "" {
		said += " in " + p.o.Dir
	}
	if others > 0 {
		said += fmt.Sprintf(", where %d %s about another Node", others, isOrAre(others))
	}
	if len(unsound) > 0 {
		said += fmt.Sprintf("; %s does not count: %s", unsound[0].name, unsound[0].err)
	}
	if more := len(unsound) - 1; more > 0 {
		said += fmt.Sprintf(" (files that do not count beside it: %d)", more)
	}
	return errors.New(said)
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// look is what the directory holds now, in the order of names.
func (p *Proofs) look() ([]receiptFile, error) {
	if p.o.Dir == "" {
		return nil, nil
	}
	root, err := receiptDir(p.o.Dir)
	if root == nil {
		return nil, err
	}
	defer root.Close()
	infos, err := entriesOf(root)
	if err != nil {
		return nil, fmt.Errorf("the receipts in %s cannot be read: %w", p.o.Dir, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fresh := make(map[string]receiptFile, len(infos))
	var files []receiptFile
	for _, info := range infos {
		name := info.Name()
		id, err := fileID(info)
		if err != nil {
			return nil, err
		}
		f, known := p.known[name]
		if !known || f.id != id || f.unread {
			f = readReceiptFile(root, name, id, info)
		}
		fresh[name], files = f, append(files, f)
	}
	p.known = fresh
	slices.SortFunc(files, func(a, b receiptFile) int { return cmp.Compare(a.name, b.name) })
	return files, nil
}
