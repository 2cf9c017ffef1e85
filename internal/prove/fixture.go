package prove

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"confined/internal/pins"
)

// fixture is one place to act in: the layout of a slot and, around it, throw-away things of the host that the acts aim at. Each belongs to the
// user of the process that acts, so that ordinary permissions never are what stops it.
type fixture struct {
	user
	*ends
	slot      string            // holds program, input, home and canary
	dir       string            // of the fixture, open to everybody
	world     map[string]any    // what the acts know
	expect    map[string]string // what the host knows of the same
	noControl map[string]string // rows whose control cannot be done here, and why
	daemon    *daemon
	undo      *cleanup
	problem   error // the first thing that went wrong with the fixture itself while it was judged

	pid           int // of the process that acts
	before, after map[string]string
	heard         int64   // signals that had reached the daemon before
	view          view    // what the process is held against
	sights        []Probe // looks to take
	looked        map[string]sight
	lines         map[string]line
	noise         string // its other output
	trouble       string // why the acts were not all done
}

// sight is what a look at a live process came to.
type sight struct {
	found string
	weak  bool
}

// newFixture makes a fixture for u around a slot; an empty one means one of the fixture's own. What it makes is taken back by undo.
func newFixture(d *daemon, slot string, u user, undo *cleanup) (*fixture, error) {
	s := &fixture{user: u, slot: slot, daemon: d, undo: undo, expect: map[string]string{}, noControl: strictRows(), looked: map[string]sight{}}
	var err error
	if s.dir, err = s.open(os.TempDir(), "/tmp", "/var/tmp"); err != nil {
		return nil, err
	}
	if slot == "" {
		s.slot = filepath.Join(s.dir, "slot-1")
	}
	private := filepath.Join(s.dir, "private")
	if err := os.Mkdir(private, 0o700); err != nil {
		return nil, err
	}
	if err := s.makeEnds(private); err != nil {
		return nil, err
	}
	s.world = map[string]any{
		"slot": s.slot, "program": s.slot + "/program", "input": s.slot + "/input", "home": s.slot + "/home", "own": s.slot + "/input/own.txt",
		"outside": s.dir + "/outside", "hollow": s.dir + "/hollow", "marker": s.dir + "/marker.cjs",
		"secret": s.dir + "/secret.txt", "symlink": s.dir + "/symlink", "hardlink": s.dir + "/hardlink", "alias": s.dir + "/alias",
		"module": s.dir + "/secret.mjs", "preload": s.dir + "/preload.cjs", "settings": s.dir + "/.env", "database": s.dir + "/database", "foreign": "/etc/passwd",
		"limits": map[string]int{"cpu": int(bounds.CPUSeconds), "descriptors": int(bounds.MaxDescriptors)},
	}
	maps.Copy(s.world, s.endsWorld())
	maps.Copy(s.world, d.world())
	if err := s.fill(); err != nil {
		return nil, err
	}
	s.know()
	return s, nil
}

// open makes a directory that is open to everybody, for as long as the suite lasts.
func (s *fixture) open(parents ...string) (string, error) {
	dir, err := openDir(s.user, s.daemon.note, parents...)
	if err == nil {
		s.undo.try(func() error { return os.RemoveAll(dir) })
	}
	return dir, err
}

// fill writes what the acts aim at, and gives it to the fixture's user.
func (s *fixture) fill() error {
	steps := []error{
		s.hide("file", s.dir+"/secret.txt", "%s"),
		s.hide("module", s.dir+"/secret.mjs", "export default '%s';\n"),
		s.hide("preload", s.dir+"/preload.cjs", "globalThis.preloaded = '%s';\n"),
		s.hide("settings", s.dir+"/.env", "WORD=%s\n"),
		put(s.dir+"/database", ""), // SQLite takes an empty file for a database without tables
		put(s.dir+"/marker.cjs", "require('node:fs').writeFileSync(process.argv[2], ''); process.exit()\n"),
		os.Symlink(s.dir+"/secret.txt", s.dir+"/symlink"),
		os.Symlink(s.dir, s.dir+"/alias"),
		os.Link(s.dir+"/secret.txt", s.dir+"/hardlink"),
		os.Mkdir(s.dir+"/hollow", 0o755),
		os.Mkdir(s.dir+"/outside", 0o755),
	}
	if err := errors.Join(steps...); err != nil {
		return err
	}
	trees := []string{s.dir}
	for _, spot := range spots() {
		if !spot.given || !here(spot.only) {
			continue
		}
		if spot.key != "outside" {
			dir, err := s.open(spot.name)
			if err != nil {
				return fmt.Errorf("a place in %s: %w", spot.name, err)
			}
			s.world[spot.key] = dir
			trees = append(trees, dir)
		}
		if err := s.lay(spot); err != nil {
			return err
		}
	}
	for _, tree := range trees {
		if err := give(tree, s.user); err != nil {
			return err
		}
	}
	return errors.Join(s.nameByNumber(), s.hideForeign())
}

// nameByNumber gives the secret the name that macOS has for a file by its number on its volume.
func (s *fixture) nameByNumber() error {
	if !here("darwin") {
		return nil
	}
	file, err := pins.TakeSource(s.dir + "/secret.txt")
	s.world["volume"] = fmt.Sprintf("/.vol/%d/%d", file.Dev, file.Ino)
	return err
}

// hide writes a word that only the named file holds.
func (s *fixture) hide(name, path, form string) error {
	s.expect[name] = random()
	return put(path, fmt.Sprintf(form, s.expect[name]))
}

// hideForeign makes a file of another user, where the suite can; elsewhere the host's list of users is one.
func (s *fixture) hideForeign() error {
	own := filepath.Join(s.dir, "private")
	if err := os.Lchown(own, us().uid, us().gid); err != nil {
		return err
	}
	if s.user == us() {
		return nil
	}
	s.world["foreign"] = s.dir + "/foreign.txt"
	return s.hide("foreign", s.dir+"/foreign.txt", "%s")
}

// know fills in what the host knows of things that it did not make.
func (s *fixture) know() {
	s.expect["path"], s.expect["name"] = s.dir+"/secret.txt", "secret.txt"
	s.expect["passwd"], _ = readText("/etc/passwd")
	if here("linux") {
		s.expect["kernel"], _ = readText("/proc/cmdline")
	}
	if s.expect["foreign"] == "" {
		s.expect["foreign"] = s.expect["passwd"]
	}
	s.expect["victim"] = s.victims["read"].word
	s.expect["own environment"] = "HOME=" + s.slot + "/home"
	s.expect["canary"], s.expect["slot"] = "canary\n", "home"
	maps.Copy(s.expect, s.daemon.secrets)
}

// lay makes what changes need in a spot that the fixture itself holds.
func (s *fixture) lay(at spot) error {
	for _, x := range targets() {
		if x.spot != at {
			continue
		}
		for _, name := range []string{"f", "g"} {
			if err := put(s.sources(x)+"/"+name, name+" of "+x.row()); err != nil {
				return err
			}
		}
	}
	return nil
}

// sources is the directory of f and g, below the snapshot or the spot.
func (s *fixture) sources(x target) string { return s.world[x.within].(string) + "/" + x.slug() }

// free is n.
func (s *fixture) free(x target) string {
	if x.bare {
		return s.world[x.key].(string) + "/" + x.slug()
	}
	return s.sources(x) + "/n"
}

// look is what the host sees of everything that acts aim at.
func (s *fixture) look() map[string]string {
	seen := map[string]string{
		"hollow": fingerprint(s.world["hollow"].(string)), "canary": fingerprint(s.slot + "/canary"), "nice own": nice(s.pid),
	}
	s.lookAtEnds(seen)
	for _, x := range targets() {
		if here(x.only) {
			found, _ := filepath.Glob(s.free(x) + "*")
			seen["files "+x.slug()] = fingerprint(append(found, s.sources(x), s.sources(x)+"/f", s.sources(x)+"/g")...)
		}
	}
	for prefix, dir := range map[string]string{"mark ": s.world["outside"].(string), "home ": s.world["home"].(string)} {
		marks, _ := filepath.Glob(dir + "/*")
		for _, mark := range marks {
			seen[prefix+filepath.Base(mark)] = fingerprint(mark)
		}
	}
	if here("linux") {
		seen["oom"], _ = readText(fmt.Sprintf("/proc/%d/oom_score_adj", s.pid))
	}
	s.lookNative(seen)
	return seen
}

// signalled says whether a signal of the acts reached the daemon.
func (s *fixture) signalled() bool { return s.daemon.signals.Load() > s.heard }

// broken keeps the first thing that went wrong with the fixture itself.
func (s *fixture) broken(err error) {
	if s.problem == nil {
		s.problem = err
	}
}

// hideSecrets takes what only the host may know out of what a program said: a receipt is for others to read.
func (s *fixture) hideSecrets(said string) string {
	for name, secret := range s.expect {
		if open := []string{"path", "name", "slot", "canary", "own environment"}; secret != "" && !slices.Contains(open, name) {
			said = strings.ReplaceAll(said, secret, "["+name+"]")
		}
	}
	return said
}
