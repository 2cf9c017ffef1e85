package confine

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// filter is the part of a profile that speaks of system calls. What no rule names is refused with EPERM; a call of a foreign architecture
// kills the process.
type filter struct{ rules []rule }

// fixedFilter is the template's, which has no placeholder: it is the same in every run, and half of what there is to read and to compile.
type fixedFilter struct {
	*filter
	text    string
	program childProgram
	err     error
}

var templateFilter = sync.OnceValue(func() fixedFilter {
	var lines []string
	for _, words := range templateLines() {
		if line := strings.Join(words, " "); len(lines) > 0 || line == lineForeign {
			lines = append(lines, line)
		}
	}
	f, r := &filter{}, &reader{lines: lines}
	if r.filter(f); r.err != nil {
		panic("confine: bug: the template's filter: " + r.err.Error())
	}
	program, err := f.compileForChild()
	return fixedFilter{f, strings.Join(lines, "\n"), program, err}
})

// child is the program for a process that is to be.
func (f *filter) child() (childProgram, error) {
	if fixed := templateFilter(); f == fixed.filter {
		return fixed.program, fixed.err
	}
	return f.compileForChild()
}

// verb is the word that a rule begins with.
type verb string

const (
	verbAllow  verb = "allow"  // run the call, if the conditions hold
	verbReturn verb = "return" // do not run it, answer with this error number or 0
	verbOnce   verb = "once"   // ask the listener, which consents once
)

// rule is one line of the filter. Names are plural only where there is no condition.
type rule struct {
	verb   verb
	names  []string
	when   []condition // allow: all must hold
	answer string      // return: the answer; allow with conditions: the answer if they fail
}

// condition holds when the masked argument equals one of the values.
type condition struct {
	arg    int // 0-5
	mask   uint64
	values []uint64
	self   bool // instead of values: the process's own id
}

const noMask = ^uint64(0)

// The two lines that head every filter.
const (
	lineForeign = "foreign-architecture kill"
	lineDefault = "default EPERM"
)

func (f *filter) String() string {
	if fixed := templateFilter(); f == fixed.filter {
		return fixed.text
	}
	var lines []string
	for _, words := range f.lines() {
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "\n")
}

func (f *filter) lines() [][]string {
	lines := [][]string{strings.Fields(lineForeign), strings.Fields(lineDefault)}
	for _, r := range f.rules {
		lines = append(lines, r.words())
	}
	return lines
}

func (r rule) words() []string {
	words := []string{string(r.verb)}
	if r.verb == verbReturn {
		words = append(words, r.answer)
	}
	words = append(words, r.names...)
	for i, c := range r.when {
		words = append(words, [...]string{"when", "and"}[min(i, 1)])
		words = append(words, c.words()...)
	}
	if len(r.when) > 0 {
		words = append(words, "else", r.answer)
	}
	return words
}

func (c condition) words() []string {
	words := []string{"arg" + strconv.Itoa(c.arg)}
	if c.mask != noMask {
		words = append(words, "&", value(c.mask))
	}
	words = append(words, "=")
	if c.self {
		return append(words, "self")
	}
	for _, v := range c.values {
		words = append(words, value(v))
	}
	return words
}

// value prints small numbers, which are enumerators, in decimal and the others, which are flags, in hexadecimal.
func value(n uint64) string {
	if n < 256 {
		return number(n)
	}
	return "0x" + strconv.FormatUint(n, 16)
}

// errno is the number of an answer that a rule may give, the same on both architectures.
func errno(name string) (number uint16, known bool) {
	switch name {
	case "0":
		return 0, true
	case "EPERM":
		return 1, true
	case "EINVAL":
		return 22, true
	case "ENOTTY":
		return 25, true
	case "ENOSYS":
		return 38, true
	}
	return 0, false
}

// check judges the rules together: a call is either named once, or by several conditional lines with one answer; and the exec lock is
// there, once, for execveat, while execve is not.
func (f *filter) check() error {
	seen := map[string]rule{}
	locks := 0
	for _, r := range f.rules {
		if r.verb == verbOnce {
			locks++
		}
		for _, name := range r.names {
			before, again := seen[name]
			if again && (len(before.when) == 0 || len(r.when) == 0 || before.answer != r.answer) {
				return fmt.Errorf("filter: %s has two rules that are not alternatives", name)
			}
			seen[name] = r
		}
	}
	if _, named := seen["execve"]; named {
		return fmt.Errorf("filter: execve must stay refused")
	}
	if lock := seen["execveat"]; locks != 1 || lock.verb != verbOnce {
		return fmt.Errorf("filter: %d exec locks, there must be one, for execveat", locks)
	}
	return nil
}

func (r *reader) rules(p *profile) {
	fixed := templateFilter()
	if r.err == nil && strings.Join(r.lines[r.at:], "\n") == fixed.text {
		p.filter, r.at = fixed.filter, len(r.lines)
		return
	}
	p.filter = &filter{}
	r.filter(p.filter)
}

func (r *reader) filter(f *filter) {
	for _, fixed := range []string{lineForeign, lineDefault} {
		first, second, _ := strings.Cut(fixed, " ")
		r.line(first)
		r.literal(second)
		r.end()
	}
	for r.err == nil && r.at < len(r.lines) {
		rule := rule{verb: verb(r.peek())}
		switch rule.verb {
		case verbAllow, verbReturn, verbOnce:
			r.rule(&rule)
			f.rules = append(f.rules, rule)
		default:
			r.at++
			r.fail("unknown, repeated or misplaced: %q", r.lines[r.at-1])
		}
	}
}

func (r *reader) rule(rule *rule) {
	r.line(string(rule.verb))
	if rule.verb == verbReturn {
		rule.answer = r.errno()
	}
	rule.names = append(rule.names, r.syscall())
	for r.more() && r.next() != "when" {
		rule.names = append(rule.names, r.syscall())
	}
	if r.more() {
		r.conditions(rule)
	}
	r.end()
}

// conditions reads "when CONDITION [and CONDITION]... else ERRNO".
func (r *reader) conditions(rule *rule) {
	if rule.verb != verbAllow || len(rule.names) != 1 {
		r.fail("conditions are for one allowed call")
	}
	r.literal("when")
	rule.when = append(rule.when, r.condition())
	for r.more() && r.next() == "and" {
		r.literal("and")
		rule.when = append(rule.when, r.condition())
	}
	r.literal("else")
	rule.answer = r.errno()
}

func (r *reader) condition() condition {
	c := condition{mask: noMask}
	digit, isArg := strings.CutPrefix(r.word(), "arg")
	if !isArg || len(digit) != 1 || digit[0] < '0' || digit[0] > '5' {
		r.fail("expected an argument, arg0 to arg5")
		return c
	}
	c.arg = int(digit[0] - '0')
	if r.more() && r.next() == "&" {
		r.literal("&")
		c.mask = r.value()
	}
	r.literal("=")
	if r.more() && r.next() == "self" {
		r.literal("self")
		c.self = true
		return c
	}
	c.values = append(c.values, r.value())
	for r.more() && r.next() != "and" && r.next() != "else" {
		c.values = append(c.values, r.value())
	}
	for _, v := range c.values {
		if v&^c.mask != 0 || v>>32 != c.values[0]>>32 {
			r.fail("arg%d can never equal %s, or the values differ in their upper half", c.arg, value(v))
		}
	}
	return c
}

func (r *reader) value() uint64 {
	word := r.word()
	n, err := strconv.ParseUint(word, 0, 64)
	if err != nil || value(n) != word {
		r.fail("%q is not a value", word)
	}
	return n
}

func (r *reader) errno() string {
	name := r.word()
	if _, known := errno(name); !known {
		r.fail("%q is no answer", name)
	}
	return name
}

func (r *reader) syscall() string {
	name := r.word()
	if _, known := syscallNumbers(name); !known && r.err == nil {
		r.fail("%q is no system call of either architecture", name)
	}
	return name
}
