package confine

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// rootPlan is what the private root consists of, in the order in which it can be made.
type rootPlan struct {
	dirs   []string // parents before children
	links  []entry
	texts  []entry
	mounts []mount
}

// mount is a file or directory of the host that appears in the private root under the same path. Every mount is read-only and nosuid.
type mount struct {
	entry
	directory  bool
	executable bool // else noexec
	device     bool // else nodev
}

// planRoot lays the entries out. It refuses two entries at one path, and an entry below something that is no directory of the root's own.
func planRoot(entries []entry) (rootPlan, error) {
	var plan rootPlan
	taken := map[string]bool{} // path → whether it is a plain directory
	for _, e := range entries {
		if _, again := taken[e.path]; again {
			return rootPlan{}, fmt.Errorf("%s %q: the path is taken", e.kind, e.path)
		}
		for _, dir := range parents(e.path) {
			plain, known := taken[dir]
			if known && !plain {
				return rootPlan{}, fmt.Errorf("%s %q: %q is not a plain directory", e.kind, e.path, dir)
			}
			if !known {
				taken[dir] = true
				plan.dirs = append(plan.dirs, dir)
			}
		}
		taken[e.path] = false
		plan.add(e)
	}
	return plan, nil
}

func (plan *rootPlan) add(e entry) {
	switch e.kind {
	case kindDir:
		plan.dirs = append(plan.dirs, e.path)
	case kindAlias:
		plan.links = append(plan.links, e)
	case kindText:
		plan.texts = append(plan.texts, e)
	default:
		plan.mounts = append(plan.mounts, mount{
			entry: e, directory: e.kind == kindTree, executable: e.kind == kindFile, device: e.kind == kindDevice})
	}
}

// parents lists the directories above p, the outermost first, without the root.
func parents(p string) []string {
	var dirs []string
	for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// Landlock's rights over files, as of ABI 6, and what else a ruleset can restrict.
const (
	landlockExecute  = 1 << 0
	landlockReadFile = 1 << 2
	landlockReadDir  = 1 << 3

	landlockHandledFS  = 1<<16 - 1 // every right up to LANDLOCK_ACCESS_FS_IOCTL_DEV
	landlockHandledNet = 1<<2 - 1  // bind and connect of TCP
	landlockScoped     = 1<<2 - 1  // abstract Unix sockets and signals stay within the domain
)

// landlockRule allows some rights at and below a path.
type landlockRule struct {
	path   string
	access uint64
}

// planLandlock lists the rules. Everything else that a ruleset of ABI 6 can handle is denied.
func planLandlock(entries []entry) []landlockRule {
	var rules []landlockRule
	for _, e := range entries {
		if access := e.rights.landlock(); access != 0 {
			rules = append(rules, landlockRule{e.path, access})
		}
	}
	return rules
}

func (r rights) landlock() (access uint64) {
	if r.read {
		access |= landlockReadFile
	}
	if r.list {
		access |= landlockReadDir
	}
	if r.execute {
		access |= landlockExecute
	}
	return access
}

// resolve follows the aliases from p to the path of the file it names, as the kernel would in a root that holds only them.
func resolve(p string, aliases map[string]string) (string, error) {
	done, rest := "/", strings.Split(strings.TrimPrefix(p, "/"), "/")
	for hops := 0; len(rest) > 0; {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		target, linked := aliases[next]
		if !linked {
			done = next
			continue
		}
		if hops++; hops > 40 {
			return "", fmt.Errorf("%q: too many aliases", p)
		}
		if strings.HasPrefix(target, "/") {
			done = "/"
		}
		rest = append(strings.Split(strings.Trim(target, "/"), "/"), rest...)
	}
	return done, nil
}
