package confine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parseProfile reads an instance. It accepts exactly what profile.String prints: one space between words, no comment, no blank line, every
// section in its place and complete. Host and stage share it, so that both read the same thing or nothing.
func parseProfile(text string) (*profile, error) {
	lines, ended := strings.CutSuffix(text, "\n")
	if !ended {
		return nil, errors.New("profile: the last line does not end")
	}
	r := &reader{lines: strings.Split(lines, "\n")}
	p := &profile{}
	r.header(p)
	r.root(p)
	r.start(p)
	r.rules(p)
	if r.err != nil {
		return nil, fmt.Errorf("profile: line %d: %w", r.at, r.err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if p.String() != text {
		return nil, errors.New("profile: not in canonical form")
	}
	return p, nil
}

// check judges what no single line shows.
func (p *profile) check() error {
	if _, err := planRoot(p.entries); err != nil {
		return err
	}
	for _, e := range p.entries {
		if e.kind == kindImage || e.path == p.executable && e.kind == kindFile && e.rights.execute {
			return p.filter.check()
		}
	}
	return fmt.Errorf("%q is to be executed but is no executable file of the private root", p.executable)
}

// reader reads lines word by word. The first error stays and stops all further reading.
type reader struct {
	lines []string
	at    int    // lines taken
	rest  string // of the line taken last
	err   error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// peek is the first word of the next line, or empty.
func (r *reader) peek() string {
	if r.err != nil || r.at == len(r.lines) {
		return ""
	}
	first, _, _ := strings.Cut(r.lines[r.at], " ")
	return first
}

// line takes the next line, which must begin with the given word.
func (r *reader) line(first string) {
	if r.err != nil {
		return
	}
	if r.at == len(r.lines) {
		r.fail("missing: %s", first)
		return
	}
	r.rest = r.lines[r.at]
	r.at++
	r.literal(first)
}

// end demands that nothing is left of the line.
func (r *reader) end() {
	if r.rest != "" {
		r.fail("unexpected %q", r.rest)
	}
}

// more says whether the line goes on.
func (r *reader) more() bool { return r.err == nil && r.rest != "" }

// next is the next word of the line without taking it.
func (r *reader) next() string {
	word, _, _ := strings.Cut(r.rest, " ")
	return word
}

// word takes the next bare word.
func (r *reader) word() string {
	if r.err != nil {
		return ""
	}
	word, rest, more := strings.Cut(r.rest, " ")
	if word == "" || more && rest == "" {
		r.fail("expected a word, found %q", r.rest)
		return ""
	}
	r.rest = rest
	return word
}

func (r *reader) literal(want string) {
	if got := r.word(); got != want {
		r.fail("expected %q, found %q", want, got)
	}
}

// number takes a decimal number without sign or leading zero.
func (r *reader) number() uint64 {
	word := r.word()
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil || number(n) != word {
		r.fail("%q is not a number", word)
	}
	return n
}

// text takes a string as strconv.Quote writes it.
func (r *reader) text() string {
	if r.err != nil {
		return ""
	}
	quoted, err := strconv.QuotedPrefix(r.rest)
	if err != nil {
		r.fail("expected a quoted string, found %q", r.rest)
		return ""
	}
	rest := r.rest[len(quoted):]
	after, spaced := strings.CutPrefix(rest, " ")
	text, err := strconv.Unquote(quoted)
	if err != nil || strconv.Quote(text) != quoted || rest != "" && (!spaced || after == "") {
		r.fail("a string is not quoted as it should be: %s", r.rest)
		return ""
	}
	r.rest = after
	return text
}

func (r *reader) path() string {
	p := r.text()
	if err := checkPath(p); err != nil {
		r.fail("%w", err)
	}
	return p
}

func (r *reader) inode() inode {
	word := r.word()
	dev, ino, _ := strings.Cut(word, ":")
	var i inode
	var errs [2]error
	i.dev, errs[0] = strconv.ParseUint(dev, 10, 64)
	i.ino, errs[1] = strconv.ParseUint(ino, 10, 64)
	if errors.Join(errs[:]...) != nil || i.String() != word {
		r.fail("%q is not device:inode", word)
	}
	return i
}

func (r *reader) header(p *profile) {
	r.line(profileName)
	r.end()
	for _, w := range p.limits.words() {
		r.line("limit")
		r.literal(w.name)
		*w.value = r.number()
		r.end()
	}
	p.oomScoreAdj = r.single("oom-score-adj")
	p.coredumpFilter = r.single("coredump-filter")
	p.user = r.identity("user")
	p.group = r.identity("group")
	r.line("root")
	p.rootBytes = r.number()
	r.literal("bytes")
	p.rootInodes = r.number()
	r.literal("inodes")
	r.end()
}

func (r *reader) single(name string) uint64 {
	r.line(name)
	n := r.number()
	r.end()
	return n
}

// identity reads a uid or gid. 0, inside or outside, is none that a program may have.
func (r *reader) identity(name string) identity {
	r.line(name)
	var i identity
	i.inside = r.id()
	r.literal("outside")
	i.outside = r.id()
	r.end()
	return i
}

func (r *reader) id() uint64 {
	n := r.number()
	if n == 0 || n >= 1<<32-1 {
		r.fail("%d is no id for a program", n)
	}
	return n
}

func (r *reader) root(p *profile) {
	for {
		e := entry{kind: kind(r.peek())}
		switch e.kind {
		case kindFile, kindAlias, kindTree, kindDir, kindCanary, kindDevice, kindProc, kindText, kindImage:
			r.entry(&e)
			p.entries = append(p.entries, e)
		default:
			return
		}
	}
}

func (r *reader) entry(e *entry) {
	r.line(string(e.kind))
	e.path = r.path()
	switch e.kind {
	case kindFile, kindTree, kindCanary, kindDevice, kindImage:
		e.id = r.inode()
	case kindAlias:
		e.target = r.text()
		if err := checkPrintable(e.target); err != nil || e.target == "" {
			r.fail("alias %q leads nowhere", e.path)
		}
	case kindText:
		e.content = r.text()
	}
	for _, w := range e.rights.words() {
		if r.more() && r.next() == w.name {
			*w.flag = r.word() == w.name
		}
	}
	r.end()
	if err := e.checkRights(); err != nil {
		r.fail("%w", err)
	}
}

// checkRights refuses rights that the kind of entry cannot have: Landlock knows directory rights and file rights, and only files of the
// runtime execute.
func (e *entry) checkRights() error {
	var most rights
	switch e.kind {
	case kindFile:
		most = rights{read: true, execute: true}
	case kindTree:
		most = rights{read: true, list: true}
	case kindDir:
		most = rights{list: true}
	case kindDevice, kindProc, kindText:
		most = rights{read: true}
	}
	allowed := most.words()
	for i, w := range e.rights.words() {
		if *w.flag && !*allowed[i].flag {
			return fmt.Errorf("%s %q cannot be given %q", e.kind, e.path, w.name)
		}
	}
	return nil
}

func (r *reader) start(p *profile) {
	for _, name := range environmentNames() {
		r.line("environment")
		r.literal(name)
		v := variable{name: name, value: r.text()}
		if err := checkPrintable(v.value); err != nil {
			r.fail("%w", err)
		}
		p.environment = append(p.environment, v)
		r.end()
	}
	r.line("chdir")
	p.directory = r.text()
	if p.directory != "/" {
		r.fail("the process starts in %q, not in the root directory", p.directory)
	}
	r.end()
	r.line("execute")
	p.executable = r.path()
	r.end()
}
