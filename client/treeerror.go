package client

import (
	"fmt"
	"slices"
	"strings"

	"confined/client/api"
	"confined/internal/pins"
)

// TreeError says why files are no snapshot: everything that is wrong with them.
type TreeError struct {
	Dir    string // as given to [ReadTree]; empty from [NewTree]
	Faults []TreeFault
}

// TreeFault is one thing that is wrong with a tree.
type TreeFault struct {
	Code   TreeFaultCode
	Path   string // in the tree, verbatim: it can be any bytes
	Detail string // one line that names the path, printable
}

// TreeFaultCode says which rule of trees is broken.
type TreeFaultCode string

// The codes of [TreeFault]. What the daemon would refuse too has its word there.
const (
	Symlink          TreeFaultCode = "symlink"
	SpecialFile      TreeFaultCode = "special-file" // a pipe, a socket or a device
	Unreadable       TreeFaultCode = "unreadable"
	BadPath                        = TreeFaultCode(api.FaultCodeBadPath)
	DuplicatePath                  = TreeFaultCode(api.FaultCodeDuplicatePath)
	PathClash                      = TreeFaultCode(api.FaultCodePathClash)
	TooManyFiles                   = TreeFaultCode(api.FaultCodeTooManyFiles)
	SnapshotTooLarge               = TreeFaultCode(api.FaultCodeSnapshotTooLarge)
)

// maxListed bounds the lines of a message.
const maxListed = 64

// Error lists the faults, one a line, and then says what to do about links.
func (e *TreeError) Error() string {
	var text strings.Builder
	if e.Dir == "" {
		text.WriteString("these files are no snapshot:")
	} else {
		fmt.Fprintf(&text, "%s is no snapshot:", e.Dir)
	}
	for _, f := range e.Faults[:min(len(e.Faults), maxListed)] {
		text.WriteString("\n  " + f.Detail)
	}
	if more := len(e.Faults) - maxListed; more > 0 {
		fmt.Fprintf(&text, "\n  and %d more", more)
	}
	if e.has(Symlink) || e.has(SpecialFile) {
		text.WriteString("\nA snapshot holds regular files only: exclude the others (--exclude GLOB), or take a copy that holds files in place of links (cp -RL).")
	}
	return text.String()
}

func (e *TreeError) has(code TreeFaultCode) bool {
	return slices.ContainsFunc(e.Faults, func(f TreeFault) bool { return f.Code == code })
}

// treeFaults are faults as this package tells them.
func treeFaults(faults []pins.Fault) []TreeFault {
	var out []TreeFault
	for _, f := range faults {
		out = append(out, TreeFault{TreeFaultCode(f.Code), f.Path, f.Detail})
	}
	return out
}
