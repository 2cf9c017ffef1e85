package confine

import (
	"io/fs"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
)

// aMac are the facts of a host that lacks nothing, as far as they say.
func aMac() seatbeltFacts {
	f := seatbeltFacts{system: "darwin", architecture: "arm64"}
	for _, way := range [][]string{{"/bin", "/bin/dash"}, {"/usr", "/usr/bin", "/usr/bin/env"}, {"/usr", "/usr/bin", "/usr/bin/sandbox-exec"}} {
		var facts []pathFacts
		for _, p := range way[:len(way)-1] {
			facts = append(facts, pathFacts{path: p, mode: fs.ModeDir | 0o755})
		}
		f.tools = append(f.tools, append(facts, pathFacts{path: way[len(way)-1], mode: 0o755}))
	}
	return f
}

func TestJudgeMac(t *testing.T) {
	if problem := aMac().judge(); problem != nil {
		t.Fatal(problem)
	}
	for name, row := range map[string]struct {
		edit          func(*seatbeltFacts)
		problem, cure string
	}{
		"Linux":          {func(f *seatbeltFacts) { f.system = "linux" }, "this is linux on arm64", "Apple silicon"},
		"Intel":          {func(f *seatbeltFacts) { f.architecture = "amd64" }, "this is darwin on amd64", "Apple silicon"},
		"root":           {func(f *seatbeltFacts) { f.root = true }, "runs as root", "ordinary user"},
		"absent":         {func(f *seatbeltFacts) { f.tools[0][1].err = fs.ErrNotExist }, "/bin/dash cannot be looked at", "reinstall macOS"},
		"absent above":   {func(f *seatbeltFacts) { f.tools[1][0].err = fs.ErrNotExist }, "/usr/bin/env, which starts Node, cannot be trusted: /usr cannot", ""},
		"link":           {func(f *seatbeltFacts) { f.tools[2][2].mode = fs.ModeSymlink | 0o755 }, "/usr/bin/sandbox-exec is a symlink", ""},
		"link above":     {func(f *seatbeltFacts) { f.tools[2][1].mode = fs.ModeSymlink | 0o755 }, "cannot be trusted: /usr/bin is a symlink", ""},
		"directory":      {func(f *seatbeltFacts) { f.tools[0][1].mode = fs.ModeDir | 0o755 }, "no regular file", ""},
		"owner":          {func(f *seatbeltFacts) { f.tools[1][2].uid = 501 }, "belongs to user 501", ""},
		"group can":      {func(f *seatbeltFacts) { f.tools[1][2].mode = 0o775 }, "its mode is 0775", ""},
		"everybody can":  {func(f *seatbeltFacts) { f.tools[1][2].mode = 0o757 }, "its mode is 0757", ""},
		"owner above":    {func(f *seatbeltFacts) { f.tools[1][1].uid = 501 }, "/usr/bin belongs to user 501", ""},
		"open above":     {func(f *seatbeltFacts) { f.tools[1][0].mode = fs.ModeDir | 0o777 }, "/usr can be written", ""},
		"the last of it": {func(f *seatbeltFacts) { f.tools[2][2].mode = 0o777 }, "/usr/bin/sandbox-exec can be written", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := aMac()
			row.edit(&f)
			problem := f.judge()
			if problem == nil || !strings.Contains(problem.Problem, row.problem) || !strings.Contains(problem.Cure, row.cure) {
				t.Errorf("%v", problem)
			}
		})
	}
}

// TestGatherMac reads real files: a tool of root's, one that is not, and a missing one.
func TestGatherMac(t *testing.T) {
	f := Seatbelt{Tools{"/usr/bin/env", "/usr/bin", "/absent/tool"}}.gather()
	if f.system != runtime.GOOS || f.architecture != runtime.GOARCH {
		t.Errorf("%+v", f)
	}
	f.system, f.architecture, f.root = "darwin", "arm64", false
	if problem := judgeTool(f.tools[0]); problem != nil {
		t.Error(problem)
	}
	if problem := f.judge(); problem == nil || !strings.Contains(problem.Problem, "no regular file") {
		t.Errorf("%v", problem)
	}
	if problem := judgeTool(f.tools[2]); problem == nil || !strings.Contains(problem.Problem, "/absent/tool, which starts Node, cannot be trusted: /absent cannot be looked at") {
		t.Errorf("%v", problem)
	}
}

// TestSeatbeltOwner: a run is the daemon's own user, also where Linux would give each slot another.
func TestSeatbeltOwner(t *testing.T) {
	s := Seatbelt{AppleTools()}
	if uid, gid := s.Owner(3); uid != os.Geteuid() || gid != os.Getegid() || s.MaxDescriptors(63) != math.MaxInt64 {
		t.Errorf("%d:%d with at most %d descriptors", uid, gid, s.MaxDescriptors(63))
	}
}
