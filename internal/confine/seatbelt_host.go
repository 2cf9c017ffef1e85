package confine

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// HostProblem implements [Boundary]. An outer sandbox around the daemon cannot be asked for without starting a process: it shows when one
// is started, see [Seatbelt.Explain].
func (s Seatbelt) HostProblem() *HostError { return s.gather().judge() }

// seatbeltFacts is what a host says of itself, as far as it decides whether the boundary can be had.
type seatbeltFacts struct {
	system, architecture string // as Go names them
	root                 bool   // the daemon's effective or real uid is 0
	tools                [][]pathFacts
}

// pathFacts is what lstat says of a path.
type pathFacts struct {
	path string
	mode fs.FileMode
	uid  uint32
	err  error
}

func (s Seatbelt) gather() seatbeltFacts {
	f := seatbeltFacts{system: runtime.GOOS, architecture: runtime.GOARCH, root: os.Geteuid() == 0 || os.Getuid() == 0}
	for _, tool := range s.Tools.Paths() {
		var way []pathFacts
		for _, p := range append(parents(tool), tool) {
			way = append(way, lookAt(p))
		}
		f.tools = append(f.tools, way)
	}
	return f
}

func lookAt(p string) pathFacts {
	info, err := os.Lstat(p)
	if err != nil {
		return pathFacts{path: p, err: err}
	}
	return pathFacts{path: p, mode: info.Mode(), uid: info.Sys().(*syscall.Stat_t).Uid}
}

// judge returns the first thing that is missing, with its cure, or nil.
func (f seatbeltFacts) judge() *HostError {
	switch {
	case f.system != "darwin" || f.architecture != "arm64":
		return &HostError{fmt.Sprintf("Seatbelt is the boundary of macOS on Apple silicon, and this is %s on %s", f.system, f.architecture),
			"run the daemon on a Mac with Apple silicon"}
	case f.root:
		return &HostError{"the daemon runs as root, and a run there would be root too: macOS has no user to give it",
			"run the daemon as an ordinary user, without sudo"}
	}
	for _, way := range f.tools {
		if problem := judgeTool(way); problem != nil {
			return problem
		}
	}
	return nil
}

// judgeTool makes sure that only root can have put the tool where it is. The way is what lies above it, the outermost first, and the tool.
func judgeTool(way []pathFacts) *HostError {
	const cure = "restore what macOS installs there: reinstall macOS over itself, with System Integrity Protection on"
	for i, at := range way {
		wrong := ""
		switch tool := i == len(way)-1; {
		case at.err != nil:
			wrong = fmt.Sprintf("cannot be looked at: %v", at.err)
		case at.mode.Type() == fs.ModeSymlink:
			wrong = "is a symlink"
		case tool && !at.mode.IsRegular():
			wrong = "is no regular file"
		case at.uid != 0:
			wrong = fmt.Sprintf("belongs to user %d, not to root", at.uid)
		case at.mode.Perm()&0o022 != 0:
			wrong = fmt.Sprintf("can be written by others than root: its mode is %#o", at.mode.Perm())
		}
		if wrong != "" {
			return &HostError{fmt.Sprintf("%s, which starts Node, cannot be trusted: %s %s", way[len(way)-1].path, at.path, wrong), cure}
		}
	}
	return nil
}
