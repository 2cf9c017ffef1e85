package confine

import (
	"fmt"
	"path"

	"confined/internal/confine/sbpl"
)

// question is one thing about a run that its profile must allow, or must not. What the evaluator says of a profile is what is known of
// Seatbelt (see package sbpl), which is no proof; but a profile that fails here is wrong by that knowledge already.
type question struct {
	operation string
	path      string
	allowed   bool
}

type questions []question

// questions are those about the paths of this run, which its profile was not written for.
func (j Job) questions() questions {
	canary, made := j.Canary.Path, j.Home+"/x"
	q := questions{
		{"file-read-data", "/", true},
		{"process-exec", j.Runtime.Node, true},
		{"file-read-data", canary, false}, {"file-read-metadata", canary, false},
		{"file-write-create", made, false}, {"file-read-data", made, false},
	}
	for dir := path.Dir(j.Home); dir != path.Dir(dir); dir = path.Dir(dir) {
		q = append(q, question{"file-read-data", dir, false}) // the other slots, whose runs these are
	}
	for _, f := range j.Runtime.Files {
		q = append(q, question{"file-read-data", f.Path, true}, question{"file-map-executable", f.Path, true},
			question{"file-write-data", f.Path, false})
	}
	for _, snapshot := range []string{j.Program.Path, j.Input.Path} {
		file := snapshot + "/x"
		q = append(q, question{"file-read-data", file, true}, question{"file-map-executable", file, false},
			question{"process-exec", file, false}, question{"file-write-data", file, false})
	}
	return q
}

// ask says which answer is not as it must be, or depends on which model of precedence is right; empty when none is.
func (all questions) ask(p *sbpl.Profile) string {
	for _, q := range all {
		d := p.Decide(sbpl.Query{Operation: q.operation, Path: sbpl.Path{Resolved: q.path}})
		switch {
		case d.Disputed:
			return fmt.Sprintf("whether the profile allows %s of %s is not certain (%s)", q.operation, q.path, short(d.By))
		case d.Allowed != q.allowed:
			return fmt.Sprintf("the profile would %s %s of %s (%s)", wouldDo(d.Allowed), q.operation, q.path, short(d.By))
		}
	}
	return ""
}

// short is the beginning of a rule, which can have hundreds of paths.
func short(rule string) string {
	const most = 120
	if len(rule) <= most {
		return rule
	}
	return rule[:most] + " ..."
}

func wouldDo(allowed bool) string {
	if allowed {
		return "allow"
	}
	return "deny"
}
