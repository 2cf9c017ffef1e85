package prove

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dependent is one line of `otool -L`.
type dependent struct {
	name string
	weak bool // it may be missing
}

// dependents reads what `otool -L` prints of one file, without the file's own name (of a library the first line is the name that it gives itself,
// as `otool -D` prints it). Each line is "TAB name (compatibility version X, current version Y)", with a word such as weak before the last
// parenthesis since recent versions.
func dependents(text, ownName string) ([]dependent, error) {
	head, rest, _ := strings.Cut(text, "\n")
	if !strings.HasSuffix(head, ":") || strings.HasPrefix(head, "\t") {
		return nil, fmt.Errorf("otool -L begins with %.100q", head)
	}
	var all []dependent
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		name, found := strings.CutPrefix(line, "\t")
		at := strings.LastIndex(name, " (compatibility version ")
		if !found || at <= 0 || !strings.HasSuffix(name, ")") {
			return nil, fmt.Errorf("otool -L prints %.100q", line)
		}
		words := strings.Split(strings.TrimSuffix(name[at:], ")"), ", ")
		if name = name[:at]; name != ownName {
			all = append(all, dependent{name, slices.Contains(words, "weak")})
		}
	}
	return all, nil
}

// givenName reads what `otool -D` prints of one file: its path and a colon, and of a library the name that it gives itself.
func givenName(text string) string {
	_, name, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(name, "\n")
}

// runPaths reads the LC_RPATH commands in what `otool -l` prints of one file.
func runPaths(text string) []string {
	var all []string
	within := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if command, is := strings.CutPrefix(line, "cmd "); is {
			within = command == "LC_RPATH"
		}
		path, is := strings.CutPrefix(line, "path ")
		if at := strings.LastIndex(path, " (offset "); within && is && at > 0 {
			all = append(all, path[:at])
		}
	}
	return all
}

// image is a file of a closure on its way: what asked for it comes before it.
type image struct {
	path     string   // canonical
	runPaths []string // its own, and after them those of all that led to it; @loader_path and @executable_path are filled in
}

// otool derives the closure of a program from what Apple's otool prints, and from nothing that package pins has read.
type otool struct {
	ask     func(arguments ...string) (string, error)
	node    string          // canonical
	seen    map[string]bool // all of the closure
	through map[string]bool // those whose own libraries were looked for
}

// closureByOtool is the canonical path of the program and of each library that is not the system's, in order.
func closureByOtool(node string, ask func(arguments ...string) (string, error)) ([]string, error) {
	node, err := filepath.EvalSymlinks(node)
	if err != nil {
		return nil, err
	}
	o := &otool{ask: ask, node: node, seen: map[string]bool{node: true}, through: map[string]bool{}}
	if err := o.follow(image{path: node}); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(o.seen)), nil
}

// follow looks for all that an image asks for, and then goes through each of those before anything else: in dyld's order, which decides whose run
// paths count.
func (o *otool) follow(i image) error {
	const most = 512 // files: a bound on what a mistake can cost
	o.through[i.path] = true
	next, err := o.needs(i)
	if err != nil {
		return fmt.Errorf("%s: %w", i.path, err)
	}
	if len(o.seen) > most {
		return errors.New("there is no end to it")
	}
	for _, n := range next {
		if o.through[n.path] {
			continue
		}
		if err := o.follow(n); err != nil {
			return err
		}
	}
	return nil
}

// needs are the libraries that an image asks for.
func (o *otool) needs(i image) ([]image, error) {
	var said [3]string
	for n, flag := range []string{"-D", "-L", "-l"} {
		var err error
		if said[n], err = o.ask("-arch", "arm64", flag, i.path); err != nil {
			return nil, err
		}
	}
	all, err := dependents(said[1], givenName(said[0]))
	if err != nil {
		return nil, err
	}
	var own []string
	for _, path := range runPaths(said[2]) {
		own = append(own, o.filled(path, i))
	}
	i.runPaths = append(own, i.runPaths...)
	var more []image
	for _, d := range all {
		path, err := o.find(d, i)
		if err != nil {
			return nil, err
		}
		if path != "" {
			o.seen[path] = true
			more = append(more, image{path, i.runPaths})
		}
	}
	return more, nil
}

// filled is a path with what @loader_path and @executable_path mean in an image.
func (o *otool) filled(path string, i image) string {
	for word, from := range map[string]string{"@loader_path": i.path, "@executable_path": o.node} {
		if rest, is := strings.CutPrefix(path, word); is && (rest == "" || rest[0] == '/') {
			return filepath.Dir(from) + rest
		}
	}
	return path
}

// find is the canonical path of what an image asks for; empty for what is the system's, which is in no file of its own, and for a weak one that is
// not there.
func (o *otool) find(d dependent, i image) (string, error) {
	if strings.HasPrefix(d.name, "/usr/lib/") || strings.HasPrefix(d.name, "/System/Library/") {
		return "", nil
	}
	candidates := []string{o.filled(d.name, i)}
	if rest, is := strings.CutPrefix(d.name, "@rpath/"); is {
		candidates = nil
		for _, path := range i.runPaths {
			candidates = append(candidates, path+"/"+rest)
		}
	}
	for _, path := range candidates {
		if _, err := os.Stat(path); err == nil {
			return filepath.EvalSymlinks(path)
		}
	}
	if d.weak {
		return "", nil
	}
	return "", fmt.Errorf("%s is nowhere", d.name)
}

// closureDiffers says what only one of two closures has, or nothing.
func closureDiffers(pinned, derived []string) string {
	var words []string
	for _, side := range []struct {
		of, against []string
		name        string
	}{{pinned, derived, "only pinned"}, {derived, pinned, "only in otool's"}} {
		for _, path := range side.of {
			if !slices.Contains(side.against, path) {
				words = append(words, side.name+": "+path)
			}
		}
	}
	return strings.Join(words, "; ")
}
