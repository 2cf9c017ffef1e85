package confine

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"confined/internal/pins"
)

// template is the commented profile.
//
//go:embed linux.profile
var template string

// preload is the JavaScript that holds the program back until the boundary is proven and the host agrees.
//
//go:embed preload.cjs
var preload string

// preloadName is where the preload lies, beside the snapshots: the one directory whose names are all ours, so that no package.json or
// node_modules of a program is ever above it.
const preloadName = "preload.cjs"

// stageVersion changes with the order and the meaning of the launch's steps.
const stageVersion = "confined-stage/2"

var fixedProfile = sync.OnceValue(func() pins.Profile {
	return pins.NewProfile(profileName, template, environmentNames(), profileParts())
})

func profileParts() []pins.ProfilePart {
	return []pins.ProfilePart{
		{Name: "preload", Content: []byte(preload)},
		{Name: "stage", Content: []byte(stageVersion)},
		{Name: "landlock",
			Content: fmt.Appendf(nil, "fs %#x net %#x scope %#x", landlockHandledFS, landlockHandledNet, landlockScoped)},
	}
}

// firstOuterID is the outer uid and gid of slot 0 under a root daemon. They belong to nobody, and each slot has its own, so that no run
// shares an owner with another run or with anything of the host.
const firstOuterID = 61000

// maxSlot is the highest slot number: 63, and one more for a run outside the root.
const maxSlot = 64

// outerID is the owner of a slot's files, and who its process is to the host: ourselves or, for a root daemon, an id dedicated to the slot,
// 61000 + slot.
func outerID(slot int) (uid, gid int) {
	if os.Geteuid() == 0 {
		return firstOuterID + slot, firstOuterID + slot
	}
	return ourselves()
}

func ourselves() (uid, gid int) { return os.Geteuid(), os.Getegid() }

// linuxLaunch is what a launch on Linux is planned from.
type linuxLaunch struct {
	text    string
	profile *profile // what text says
	argv    []string // Node's
	slot    int
	image   *os.File // Node's sealed copy, or nil
}

// instantiate looks at nothing but j and, for the outer uid and gid, at who we are. It also fails if the runtime's aliases do not lead from
// the loader's name to a file of the closure.
func instantiate(j Job) (linuxLaunch, error) {
	words, err := j.words()
	if err != nil {
		return linuxLaunch{}, fmt.Errorf("instantiate: %w", err)
	}
	text, err := fill(templateLines(), words)
	if err != nil {
		return linuxLaunch{}, fmt.Errorf("instantiate: %w", err)
	}
	profile, err := parseProfile(text)
	if err != nil {
		return linuxLaunch{}, fmt.Errorf("instantiate: %w", err)
	}
	argv, err := j.argv()
	if err != nil {
		return linuxLaunch{}, fmt.Errorf("instantiate: %w", err)
	}
	l := linuxLaunch{text: text, profile: profile, argv: argv, slot: j.Slot}
	if j.Image != nil {
		l.image = j.Image.File()
	}
	return l, nil
}

// argv is Node's argument list.
func (j Job) argv() ([]string, error) { return j.nodeArgs("--require", j.preloadPath()) }

// nodeArgs is Node's argument list with the words that name the preload, which a version run does without. Node takes its own path from the
// first, also in workers.
func (j Job) nodeArgs(preload ...string) ([]string, error) {
	if j.Version {
		if len(j.Args) != 0 {
			return nil, errors.New("the version run takes no arguments")
		}
		return []string{j.Runtime.Node, "--version"}, nil
	}
	if len(j.Args) == 0 || checkPath(j.Args[0]) != nil {
		return nil, errors.New("the first argument must be the absolute path of the entry")
	}
	for _, arg := range j.Args {
		if strings.ContainsRune(arg, 0) {
			return nil, errors.New("an argument holds a NUL")
		}
	}
	return slices.Concat([]string{j.Runtime.Node}, preload, j.Args), nil
}

func (j Job) preloadPath() string { return path.Join(path.Dir(j.Home), preloadName) }

// words gives every placeholder of the template its meaning: for each line it makes, the words that take its place.
func (j Job) words() (map[string][]string, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	uid, gid := outerID(j.Slot)
	libraries, executables, err := j.files()
	if err != nil {
		return nil, err
	}
	aliases := make([]string, 0, len(j.Runtime.Aliases))
	for _, a := range j.Runtime.Aliases {
		aliases = append(aliases, strconv.Quote(a.Path)+" "+strconv.Quote(a.Target))
	}
	one := func(s string) []string { return []string{s} }
	return map[string][]string{
		"cpu":          one(strconv.Itoa(j.Limits.CPUSeconds)),
		"descriptors":  one(strconv.Itoa(j.Limits.Descriptors)),
		"uid":          one(strconv.Itoa(uid)),
		"gid":          one(strconv.Itoa(gid)),
		"libraries":    libraries,
		"executables":  executables,
		"aliases":      aliases,
		"image":        j.image(),
		"node":         one(strconv.Quote(j.Runtime.Node)),
		"program":      one(source(j.Program)),
		"input":        one(source(j.Input)),
		"home":         one(strconv.Quote(j.Home)),
		"canary":       one(source(j.Canary)),
		"preload-path": one(strconv.Quote(j.preloadPath())),
		"preload":      one(strconv.Quote(preload)),
	}, nil
}

func source(s pins.Source) string { return strconv.Quote(s.Path) + " " + inode{s.Dev, s.Ino}.String() }

// ImagePath is what the kernel calls the sealed copy of Node, a memfd of that name, as in /proc/PID/exe and /proc/PID/maps; and where a
// process that runs it finds it.
const ImagePath = "/memfd:" + pins.ImageName + " (deleted)"

// image is the words of the sealed copy, if there is one.
func (j Job) image() []string {
	if j.Image == nil {
		return []string{}
	}
	dev, ino := j.Image.ID()
	return []string{strconv.Quote(ImagePath) + " " + inode{dev, ino}.String()}
}

// check holds the job against what the preload takes for granted: that everything of a run lies in one directory under fixed names.
func (j Job) check() error {
	slot := path.Dir(j.Home)
	for name, p := range map[string]string{"home": j.Home, "program": j.Program.Path, "input": j.Input.Path, "canary": j.Canary.Path} {
		if p != path.Join(slot, name) {
			return fmt.Errorf("%s is at %q, not in the slot %q", name, p, slot)
		}
	}
	if j.Limits.CPUSeconds < 1 || j.Limits.Descriptors < 1 || j.Slot < 0 || j.Slot > maxSlot {
		return fmt.Errorf("limits %+v or slot %d out of range", j.Limits, j.Slot)
	}
	return j.checkNames()
}

// files sorts the closure into what may only be mapped and what may also be the argument of an exec: the ELF interpreter, and Node unless
// it is executed as a sealed copy.
func (j Job) files() (libraries, executables []string, err error) {
	aliases := map[string]string{}
	for _, a := range j.Runtime.Aliases {
		aliases[a.Path] = a.Target
	}
	executable := map[string]bool{}
	if j.Image == nil {
		executable[j.Runtime.Node] = true
	}
	if j.Runtime.Interpreter != "" {
		interpreter, err := resolve(j.Runtime.Interpreter, aliases)
		if err != nil {
			return nil, nil, err
		}
		executable[interpreter] = true
	}
	for _, f := range j.Runtime.Files {
		line := source(pins.Source{Path: f.Path, Dev: f.ID.Dev, Ino: f.ID.Ino})
		if executable[f.Path] {
			executables = append(executables, line)
			delete(executable, f.Path)
		} else {
			libraries = append(libraries, line)
		}
	}
	for missing := range executable {
		return nil, nil, fmt.Errorf("%q is not a file of the runtime's closure", missing)
	}
	return libraries, executables, nil
}

// templateLines are the words of the template's lines, without comments and layout. That it can be read is for a test to show.
var templateLines = sync.OnceValue(func() [][]string {
	lines, err := readTemplate(template)
	if err != nil {
		panic("confine: bug: " + err.Error())
	}
	return lines
})

func readTemplate(template string) ([][]string, error) {
	var lines [][]string
	for i, line := range strings.Split(template, "\n") {
		fields, err := fieldsOf(line)
		if err != nil {
			return nil, fmt.Errorf("template line %d: %w", i+1, err)
		}
		if len(fields) > 0 {
			lines = append(lines, fields)
		}
	}
	return lines, nil
}

// fill replaces the placeholders of a template's lines. Values are whole words, already in their final form, so none can become anything
// else; a line whose placeholder has n values becomes n lines.
func fill(lines [][]string, words map[string][]string) (string, error) {
	var b strings.Builder
	for _, fields := range lines {
		filled, err := fillLine(fields, words)
		if err != nil {
			return "", fmt.Errorf("template: %s: %w", strings.Join(fields, " "), err)
		}
		for _, line := range filled {
			b.WriteString(line + "\n")
		}
	}
	return b.String(), nil
}

// fieldsOf splits a line at runs of spaces outside of quotes, up to a comment.
func fieldsOf(line string) ([]string, error) {
	var fields []string
	for {
		line = strings.TrimLeft(line, " ")
		if line == "" || line[0] == '#' {
			return fields, nil
		}
		field, _, _ := strings.Cut(line, " ")
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("unclosed quote: %s", line)
			}
			field = quoted
		}
		fields = append(fields, field)
		line = line[len(field):]
	}
}

func fillLine(fields []string, words map[string][]string) ([]string, error) {
	lines := []string{""}
	for _, field := range fields {
		values := []string{field}
		if name, isPlaceholder := strings.CutPrefix(field, "$"); isPlaceholder {
			known := false
			if values, known = words[name]; !known {
				return nil, fmt.Errorf("unknown placeholder $%s", name)
			}
		}
		var longer []string
		for _, line := range lines {
			for _, v := range values {
				longer = append(longer, strings.TrimPrefix(line+" "+v, " "))
			}
		}
		lines = longer
	}
	return lines, nil
}
