package e2e

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// misplaced is a root, state or socket that cannot serve.
type misplaced struct {
	name string
	code int                          // that serve ends with
	make func(t *testing.T, s *start) // what is wrong
	says []string                     // by serve, in one line, and by doctor; <dir> is the folder of the places
	cure func(t *testing.T, s *start, said string)
}

// start is how a daemon is started: in these places, where they are named, and
// in this environment.
type start struct {
	places
	env []string
}

func (s start) flags() []string {
	flags := []string{"--node=/none/node"} // places need no Node
	for name, at := range map[string]string{"root": s.root, "state": s.state, "socket": s.socket} {
		if at != "" {
			flags = append(flags, "--"+name+"="+at)
		}
	}
	return flags
}

// home lets every place be the default one, below another home.
func (s *start) home(at string) {
	s.root, s.state, s.socket, s.env = "", "", "", []string{"HOME=" + at}
}

func misplacedOnes() []misplaced {
	chmod := func(path func(s *start) string) func(*testing.T, *start, string) {
		return func(t *testing.T, s *start, said string) {
			if !strings.Contains(said, "chmod 700 "+path(s)) {
				t.Errorf("no chmod of %s in: %s", path(s), said)
			}
			must(t, os.Chmod(path(s), 0o700))
		}
	}
	return []misplaced{
		{
			name: "a root that others may open", code: 1, says: []string{"mode 0750", "chmod 700 <dir>/root"},
			make: func(t *testing.T, s *start) { must(t, os.Chmod(s.root, 0o750)) },
			cure: chmod(func(s *start) string { return s.root }),
		},
		{
			name: "a root that is a link", code: 1, says: []string{"the root <dir>/link is not canonical: it leads to <dir>/root", "name it <dir>/root"},
			make: func(t *testing.T, s *start) {
				must(t, os.Symlink(s.root, s.dir+"/link"))
				s.root = s.dir + "/link"
			},
			cure: func(t *testing.T, s *start, _ string) { s.root = s.dir + "/root" },
		},
		{
			name: "a root that is a file", code: 1, says: []string{"<dir>/file is not a directory"},
			make: func(t *testing.T, s *start) {
				s.root = s.dir + "/file"
				must(t, os.WriteFile(s.root, nil, 0o600))
			},
			cure: func(t *testing.T, s *start, _ string) { s.root = s.dir + "/root" },
		},
		{
			name: "a home on tmpfs", code: 1, says: []string{"is on tmpfs, where a file swapped and swapped back cannot be seen", "name a directory on ext4, xfs or btrfs"},
			make: func(t *testing.T, s *start) {
				home, err := os.MkdirTemp("/dev/shm", "cf")
				must(t, err)
				t.Cleanup(func() { os.RemoveAll(home) })
				s.home(home)
			},
			cure: anotherRoot,
		},
		{
			name: "a home with a space", code: 2, says: []string{`the root "<dir>/Ada L/.confined/root" holds a character other than A-Z a-z 0-9 . _ @ + - /`, "name a root of these characters only; state and socket may stay where they are"},
			make: func(t *testing.T, s *start) {
				must(t, os.Mkdir(s.dir+"/Ada L", 0o700))
				s.home(s.dir + "/Ada L")
			},
			cure: anotherRoot,
		},
		{
			name: "no home", code: 2, says: []string{"HOME is not an absolute path", "set HOME, or give --root, --socket and --state"},
			make: func(t *testing.T, s *start) { s.home("") },
			cure: func(t *testing.T, s *start, _ string) {
				s.root, s.state, s.socket = s.dir+"/root", s.dir+"/state", s.dir+"/s"
			},
		},
		{
			name: "a home where nothing can be made", code: 1, says: []string{"/proc/.confined/root cannot be made in /proc", "name directories of your own, as in --root /var/"},
			make: func(t *testing.T, s *start) { s.home("/proc") },
			cure: func(t *testing.T, s *start, _ string) {
				s.root, s.state, s.socket = s.dir+"/root", s.dir+"/state", s.dir+"/s"
			},
		},
		{
			name: "a home that is a file", code: 1, says: []string{"<dir>/file/.confined/root cannot be made in <dir>/file: not a directory", "name directories of your own, as in --root /var/"},
			make: func(t *testing.T, s *start) {
				must(t, os.WriteFile(s.dir+"/file", nil, 0o600))
				s.home(s.dir + "/file")
			},
			cure: func(t *testing.T, s *start, _ string) {
				s.root, s.state, s.socket = s.dir+"/root", s.dir+"/state", s.dir+"/s"
			},
		},
		{
			name: "a state folder that others may open", code: 1, says: []string{"<dir>/state is open to others (mode 0755)"},
			make: func(t *testing.T, s *start) { must(t, os.Mkdir(s.state, 0o755)) },
			cure: chmod(func(s *start) string { return s.state }),
		},
		{
			name: "a socket in a folder that others may open", code: 1, says: []string{"<dir>/open dir is open to others (mode 0755)", "chmod 700 '<dir>/open dir'"},
			make: func(t *testing.T, s *start) {
				must(t, os.Mkdir(s.dir+"/open dir", 0o755))
				s.socket = s.dir + "/open dir/s"
			},
			cure: func(t *testing.T, s *start, _ string) { must(t, os.Chmod(s.dir+"/open dir", 0o700)) },
		},
		{
			name: "a socket in everybody's folder", code: 1, says: []string{"<dir>/tmp is everybody's", "name a directory of its own, as in <dir>/tmp/confined-" + strconv.Itoa(os.Geteuid())},
			make: func(t *testing.T, s *start) {
				must(t, os.Mkdir(s.dir+"/tmp", 0o700))
				must(t, os.Chmod(s.dir+"/tmp", 0o777|os.ModeSticky))
				s.socket = s.dir + "/tmp/s"
			},
			cure: func(t *testing.T, s *start, _ string) {
				s.socket = s.dir + "/tmp/confined-" + strconv.Itoa(os.Geteuid()) + "/s"
			},
		},
		{
			name: "a file where the socket is to be", code: 1, says: []string{"<dir>/s is in the way and is not a socket (-rw-------)", "move it away, or choose another socket"},
			make: func(t *testing.T, s *start) { must(t, os.WriteFile(s.socket, []byte("mine"), 0o600)) },
			cure: func(t *testing.T, s *start, _ string) {
				content, err := os.ReadFile(s.socket)
				if must(t, err); string(content) != "mine" {
					t.Error("the file in the socket's place was touched")
				}
				must(t, os.Rename(s.socket, s.socket+"-away"))
			},
		},
		{
			name: "a path too long for a socket", code: 1, says: []string{"the path is 108 bytes long and this system takes at most 107", "choose a shorter one, as in --socket <dir>/confined/socket, for clients too"},
			make: func(t *testing.T, s *start) {
				s.socket, s.env = s.dir+"/"+strings.Repeat("s", 107-len(s.dir)), []string{"XDG_RUNTIME_DIR=" + s.dir}
			},
			cure: func(t *testing.T, s *start, _ string) { s.socket = s.dir + "/confined/socket" },
		},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// anotherRoot takes the root that is named as fit, where this host has one,
// looks whether it is, and goes on with one of the test's own.
func anotherRoot(t *testing.T, s *start, said string) {
	named := regexp.MustCompile(`, as in --root (\S+)`).FindStringSubmatch(said)
	if named == nil {
		if fits("/var/tmp") {
			t.Errorf("no other root is named, though /var/tmp has place for one: %s", said)
		}
	} else if doctor := confined(t, s.places, nil, "doctor", "--node=/none/node", "--root="+named[1]); !strings.Contains(doctor.stdout, "ok      root ") && !strings.Contains(doctor.stdout, "note    root ") {
		t.Errorf("doctor does not find %s fit: %s", named[1], doctor.stdout)
	}
	s.root = s.dir + "/root"
}

// TestPlacesUnfit: what cannot serve as root, state or socket is named with its
// cure, by serve and by doctor, and left as it is; the cure works.
func TestPlacesUnfit(t *testing.T) {
	t.Parallel()
	for _, row := range misplacedOnes() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.check(t)
		})
	}
}

func (row misplaced) check(t *testing.T) {
	s := start{places: newPlaces(t)}
	row.make(t, &s)
	var words []string
	for _, w := range row.says {
		words = append(words, strings.ReplaceAll(w, "<dir>", s.dir))
	}
	e := confined(t, s.places, s.env, append([]string{"serve"}, s.flags()...)...)
	mustRefuse(t, e, row.code, words...)
	doctor := confined(t, s.places, s.env, append([]string{"doctor"}, s.flags()...)...)
	for _, w := range words {
		if said := doctor.stdout + doctor.stderr; doctor.code == 0 || !strings.Contains(said, w) {
			t.Errorf("doctor does not say: %s\nbut (%d): %s", w, doctor.code, said)
		}
	}
	row.cure(t, &s, e.stderr)
	s.mustStart(t)
}

// mustStart fails unless a daemon answers and ends well.
func (s start) mustStart(t *testing.T) {
	t.Helper()
	p := s.places
	if p.socket == "" {
		home, _ := strings.CutPrefix(s.env[0], "HOME=")
		p.socket = filepath.Join(home, ".confined", "socket")
	}
	d := bootDaemon(t, p, func(cmd *osexec.Cmd) {
		cmd.Args = append([]string{cmd.Path, "serve"}, s.flags()...)
		cmd.Env = append(cmd.Env, s.env...)
	}, unready())
	d.end(t)
}

// TestSecondDaemon: who starts a daemon where one is gets told which process it
// is; when that was stopped as it says, the second one starts.
func TestSecondDaemon(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	first := bootDaemon(t, p, nil, withNode("/none/node"), unready())
	kill := "kill " + strconv.Itoa(first.cmd.Process.Pid)
	s := start{places: p}
	mustRefuse(t, confined(t, p, nil, append([]string{"serve"}, s.flags()...)...), 1, "another daemon has "+p.socket, "stop it ("+kill+"), or choose another --socket")
	if out, err := osexec.Command("sh", "-c", kill).CombinedOutput(); err != nil {
		t.Errorf("%s: %v %s", kill, err, out)
	}
	first.mustEnd(t, 0)
	s.mustStart(t)
}
