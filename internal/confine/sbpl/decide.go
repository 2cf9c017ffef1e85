package sbpl

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Target is the process that an operation is about.
type Target string

// The targets: the process that asks, and every other. That `others` leaves out the process itself is inferred.
const (
	Self   Target = "self"
	Others Target = "others"
)

// Path is the file that an operation is about.
type Path struct {
	Resolved string   // canonical: no symbolic link in it, spelled as the disk has it
	Links    []string // each symbolic link met on the way, by the canonical path of the link itself
}

// Query is one question: may the process do this? Which field it needs is told by the operation's Subject.
type Query struct {
	Operation string // no wildcard: nothing asks for those but rules
	Path      Path
	Target    Target
	Name      string
}

// Decision is the answer to a query, and where it comes from.
type Decision struct {
	Allowed bool
	Rule    *Rule  // that decided; nil for the default
	By      string // the rule or the default, in words
	// Disputed says that the two models of precedence differ, so that Allowed is only what the more likely one says.
	Disputed bool
}

// Decide answers a query. It panics if the query is none: an operation that is not in the table or a wildcard, or one without its subject.
func (p *Profile) Decide(q Query) Decision {
	o := q.operation()
	metadata, _ := lookup("file-read-metadata")
	disputed := false
	for _, link := range q.Path.Links {
		d := p.check(metadata, Query{Path: Path{Resolved: link}})
		disputed = disputed || d.Disputed
		if !d.Allowed {
			d.By = "file-read-metadata of the link " + link + ": " + d.By
			d.Disputed = disputed
			return d
		}
	}
	d := p.check(o, q)
	d.Disputed = d.Disputed || disputed
	return d
}

// check decides about one operation on a subject without links.
func (p *Profile) check(o Operation, q Query) Decision {
	lineage := o.lineage()
	rule := p.nearest(lineage, q)
	d := Decision{Allowed: o.allowed(rule), Rule: rule, By: "deny default"}
	d.Disputed = d.Allowed != o.allowed(p.last(lineage, q))
	switch {
	case rule != nil:
		d.By = fmt.Sprintf("line %d: %s", rule.Line, rule)
	case o.Open:
		d.By = "version 1 leaves " + o.Name + " open"
	}
	return d
}

func (o Operation) allowed(r *Rule) bool {
	if r == nil {
		return o.Open
	}
	return r.Action == Allow
}

// nearest is the likely model: the last matching rule of the operation itself decides, else that of its wildcard, and so on up.
func (p *Profile) nearest(lineage []string, q Query) *Rule {
	for i := range lineage {
		if r := p.last(lineage[i:i+1], q); r != nil {
			return r
		}
	}
	return nil
}

// last is the other model: the last matching rule of all that name the operation or a wildcard over it decides.
func (p *Profile) last(names []string, q Query) *Rule {
	for i := len(p.Rules) - 1; i >= 0; i-- {
		if r := &p.Rules[i]; r.about(names) && r.matches(q) {
			return r
		}
	}
	return nil
}

// about says whether the rule is one for any of the operations.
func (r *Rule) about(names []string) bool {
	return slices.ContainsFunc(r.Operations, func(name string) bool {
		o, _ := lookup(name)
		return slices.Contains(names, o.Name)
	})
}

func (r *Rule) matches(q Query) bool {
	return len(r.Filters) == 0 || slices.ContainsFunc(r.Filters, func(f Filter) bool {
		k, known := filterKindOf(f.Name)
		return known && k.matches(f.Value, q)
	})
}

// operation is what the query asks for.
func (q Query) operation() Operation {
	o, known := lookup(q.Operation)
	if !known || strings.HasSuffix(q.Operation, "*") {
		panic(fmt.Sprintf("sbpl: bug: nothing asks for operation %q", q.Operation))
	}
	told := true
	for _, p := range append([]string{q.Path.Resolved}, q.Path.Links...) {
		told = told && (o.Subject != AFile || path.IsAbs(p) && path.Clean(p) == p)
	}
	switch o.Subject {
	case Process:
		told = q.Target == Self || q.Target == Others
	case Sysctl, Service, Syscall:
		told = q.Name != ""
	}
	if !told {
		panic(fmt.Sprintf("sbpl: bug: %s is asked for without its %s: %+v", q.Operation, o.Subject, q))
	}
	return o
}
