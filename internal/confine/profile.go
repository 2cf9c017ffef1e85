package confine

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// profileName heads the template and every instance. Its number changes with the meaning of a word, not with the rules.
const profileName = "confined-linux/1"

// profile is the typed form of an instance: everything the launch stage needs to know that is not the same in every run of every
// profile. parseProfile is the only way to one.
type profile struct {
	limits         limits
	oomScoreAdj    uint64
	coredumpFilter uint64
	user, group    identity
	rootBytes      uint64
	rootInodes     uint64
	entries        []entry
	environment    []variable
	directory      string // the working directory at exec
	executable     string // the path of Node in the private root
	filter         *filter
}

// limits are resource limits in the units of the profile's comments. Soft and hard are always the same.
type limits struct{ cpu, descriptors, core, file, threads, data, stack, memlock, msgqueue, sigpending uint64 }

// words lists the limits in the order of the text.
func (l *limits) words() []limitWord {
	return []limitWord{
		{"cpu", &l.cpu}, {"descriptors", &l.descriptors}, {"core", &l.core}, {"file", &l.file},
		{"threads", &l.threads}, {"data", &l.data}, {"stack", &l.stack}, {"memlock", &l.memlock}, {"msgqueue", &l.msgqueue},
		{"sigpending", &l.sigpending},
	}
}

type limitWord struct {
	name  string
	value *uint64
}

// identity is a uid or gid as seen inside the user namespace and outside.
type identity struct{ inside, outside uint64 }

// kind is the word that an entry of the private root begins with.
type kind string

const (
	kindFile   kind = "file"   // a mounted file, executable mappings allowed
	kindAlias  kind = "alias"  // a symlink
	kindTree   kind = "tree"   // a mounted directory, nothing in it executable
	kindImage  kind = "image"  // a mounted link to the process's own executable, the sealed copy of Node
	kindDir    kind = "dir"    // an empty directory
	kindCanary kind = "canary" // a mounted file under no Landlock rule
	kindDevice kind = "device" // a mounted character device
	kindProc   kind = "proc"   // a mounted file of /proc; its identity is its meaning, so it has no inode here
	kindText   kind = "text"   // a small file with the given content
)

// entry is one line of the private root.
type entry struct {
	kind    kind
	path    string
	id      inode  // file, tree, canary, image: device and inode; device: its major and minor number
	target  string // alias
	content string // text
	rights  rights
}

// inode is a pair of numbers that identifies a file on a running host.
type inode struct{ dev, ino uint64 }

func (i inode) String() string { return fmt.Sprintf("%d:%d", i.dev, i.ino) }

// rights are what Landlock shall allow below an entry's path.
type rights struct{ read, list, execute bool }

func (r *rights) words() []rightWord {
	return []rightWord{{"read", &r.read}, {"list", &r.list}, {"execute", &r.execute}}
}

type rightWord struct {
	name string
	flag *bool
}

// variable is one entry of the environment.
type variable struct{ name, value string }

// first is the first entry of a kind, if there is one.
func (p *profile) first(k kind) (entry, bool) {
	for _, e := range p.entries {
		if e.kind == k {
			return e, true
		}
	}
	return entry{}, false
}

// environmentNames are the variables of every run, in order.
func environmentNames() []string {
	return []string{"LC_ALL", "TZ", "HOME", "TMPDIR", "OPENSSL_CONF"}
}

// String prints the profile in its one canonical form, the one that parseProfile accepts.
func (p *profile) String() string {
	var b strings.Builder
	line := func(words ...string) { b.WriteString(strings.Join(words, " ") + "\n") }
	line(profileName)
	for _, w := range p.limits.words() {
		line("limit", w.name, number(*w.value))
	}
	line("oom-score-adj", number(p.oomScoreAdj))
	line("coredump-filter", number(p.coredumpFilter))
	line("user", number(p.user.inside), "outside", number(p.user.outside))
	line("group", number(p.group.inside), "outside", number(p.group.outside))
	line("root", number(p.rootBytes), "bytes", number(p.rootInodes), "inodes")
	for _, e := range p.entries {
		line(e.words()...)
	}
	for _, v := range p.environment {
		line("environment", v.name, strconv.Quote(v.value))
	}
	line("chdir", strconv.Quote(p.directory))
	line("execute", strconv.Quote(p.executable))
	line(p.filter.String())
	return b.String()
}

func (e entry) words() []string {
	words := []string{string(e.kind), strconv.Quote(e.path)}
	switch e.kind {
	case kindFile, kindTree, kindCanary, kindDevice, kindImage:
		words = append(words, e.id.String())
	case kindAlias:
		words = append(words, strconv.Quote(e.target))
	case kindText:
		words = append(words, strconv.Quote(e.content))
	}
	for _, w := range e.rights.words() {
		if *w.flag {
			words = append(words, w.name)
		}
	}
	return words
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// checkPath accepts absolute, normalised paths of printable ASCII other than the root directory. It is not a judgement of what the path
// leads to; that is the inode's task.
func checkPath(p string) error {
	switch {
	case !strings.HasPrefix(p, "/") || p == "/" || path.Clean(p) != p:
		return fmt.Errorf("path %q is not absolute and normalised", p)
	case len(p) > maxPath:
		return fmt.Errorf("path %q is longer than %d bytes", p, maxPath)
	}
	return checkPrintable(p)
}

// maxPath is a byte less than the kernel's PATH_MAX, which counts the final NUL.
const maxPath = 4095

func checkPrintable(s string) error {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return fmt.Errorf("%q holds a byte that is not printable ASCII", s)
		}
	}
	return nil
}
