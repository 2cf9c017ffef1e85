package confine

import (
	"path"
	"slices"
	"strings"
	"testing"

	"confined/internal/confine/sbpl"
)

// mutant is the template with one change.
type mutant struct {
	name  string // what was changed, in the template's own words
	rules []sbpl.Node
}

// redundant are the changes that no row can notice, each with the reason why.
func redundant() map[string]string {
	const (
		file   = "nothing lies below a file"
		link   = "no resolved path lies below a link"
		open   = "version 1 leaves it open; version 3 would not, and so it is stated"
		more   = "it denies more, which nothing here needs"
		opened = "nothing opens it; said last so that no rule that comes to stand above can"
		shut   = "the deny without a filter holds as long as no rule opens a place that the snapshots lie in; said last for that case"
	)
	known := map[string]string{
		"dropped: (allow dynamic-code-generation)":                                open,
		"dropped: (deny file-map-executable (subpath $program) (subpath $input))": shut,
	}
	for _, f := range []string{"$node", "$libraries"} {
		for _, rule := range []string{"(allow file-read*)", "(allow file-map-executable)"} {
			known["widened: (literal "+f+") in "+rule] = file
		}
	}
	known["widened: (literal $node) in (allow process-exec*)"] = file
	for _, device := range []string{"null", "random", "urandom"} {
		known[`widened: (literal "/dev/`+device+`") in (allow file-read*)`] = file
	}
	for _, name := range []string{"$links", `"/var"`, `"/tmp"`, `"/etc"`} {
		known["widened: (literal "+name+") in (allow file-read-metadata)"] = link
	}
	for _, change := range []string{"dropped", "widened", "narrowed", "begins"} {
		known[change+": (subpath $program) in (deny file-map-executable)"] = shut
		known[change+": (subpath $input) in (deny file-map-executable)"] = shut
	}
	for _, o := range sbpl.Operations() {
		if o.Parent == "file-write*" || o.Parent == "network*" {
			known[o.Parent+" as "+o.Name+": (deny "+o.Parent+")"] = opened
		}
	}
	known["system-socket as system*: (deny system-socket)"] = more
	known["iokit-get-properties as iokit*: (deny iokit-get-properties)"] = more
	for _, operation := range []string{"file-write*", "file-ioctl", "network*", "system-socket", "mach-lookup", "mach-register", "process-fork"} {
		known["dropped: (deny "+operation+")"] = opened
	}
	return known
}

// TestSeatbeltMutants: whatever rule is dropped, turned around, widened or narrowed, a row fails, or the change is one of those that are
// known to change nothing.
func TestSeatbeltMutants(t *testing.T) {
	survived := map[string]bool{}
	mutants := mutantsOf(seatbeltRules())
	for _, m := range mutants {
		if !m.caught(t) {
			survived[m.name] = true
			if redundant()[m.name] == "" {
				t.Errorf("no row notices: %s", m.name)
			}
		}
	}
	for name := range redundant() {
		if !survived[name] {
			t.Errorf("known as redundant, but it is no mutant or a row notices it: %s", name)
		}
	}
	t.Logf("%d mutants, %d of them change nothing", len(mutants), len(survived))
}

// caught says whether a row fails in any layout. The questions that a run asks are left out: rows are to do it alone.
func (m mutant) caught(t *testing.T) bool {
	t.Helper()
	return slices.ContainsFunc(macs(), func(l layout) bool {
		paths, err := l.job.seatbeltPaths()
		if err != nil {
			t.Fatal(err)
		}
		paths["slot"] = []string{l.slot()}
		for name := range paths {
			if !strings.Contains(sbpl.Print(m.rules), "$"+name+")") {
				delete(paths, name)
			}
		}
		filled, err := sbpl.Fill(m.rules, paths)
		if err != nil {
			return false // a rule without filters is refused before it could be judged: in another layout it has some
		}
		p, err := sbpl.Parse(sbpl.Print(filled))
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		failed, _ := l.failures(p)
		return len(failed) > 0
	})
}

// mutantsOf are all changes of all rules. The version and the default come first, and are no rules.
func mutantsOf(rules []sbpl.Node) []mutant {
	var all []mutant
	for i := 2; i < len(rules); i++ {
		with := func(change string, changed ...sbpl.Node) {
			all = append(all, mutant{change + ": " + rules[i].String(), slices.Concat(rules[:i], changed, rules[i+1:])})
		}
		with("dropped")
		with("turned around", turned(rules[i]))
		filters := filtersOf(rules[i])
		for change, r := range otherOperations(rules[i]) {
			all = append(all, mutant{change, slices.Concat(rules[:i], []sbpl.Node{r}, rules[i+1:])})
		}
		if len(filters) > 0 {
			with("without its filters", head(rules[i]))
		}
		for n, f := range filters {
			others := slices.Concat(filters[:n], filters[n+1:])
			of := func(change string, instead ...sbpl.Node) {
				name := change + ": " + f.String() + " in " + head(rules[i]).String()
				all = append(all, mutant{name, slices.Concat(rules[:i], []sbpl.Node{ruleOf(head(rules[i]), slices.Concat(others, instead))}, rules[i+1:])})
			}
			if len(others) > 0 {
				of("dropped")
			}
			for change, instead := range variants(f) {
				of(change, instead)
			}
		}
	}
	return all
}

// head is a rule without its filters.
func head(rule sbpl.Node) sbpl.Node {
	rule.List = slices.DeleteFunc(slices.Clone(rule.List), func(n sbpl.Node) bool { return n.Kind == sbpl.List })
	return rule
}

func filtersOf(rule sbpl.Node) []sbpl.Node {
	return slices.DeleteFunc(slices.Clone(rule.List), func(n sbpl.Node) bool { return n.Kind != sbpl.List })
}

func ruleOf(head sbpl.Node, filters []sbpl.Node) sbpl.Node {
	head.List = slices.Concat(head.List, filters)
	return head
}

func turned(rule sbpl.Node) sbpl.Node {
	rule.List = slices.Clone(rule.List)
	if rule.List[0].Text == "allow" {
		rule.List[0].Text = "deny"
	} else {
		rule.List[0].Text = "allow"
	}
	return rule
}

// otherOperations are the rule with one of its operations gone, or in its place the wildcard above it or one of those below.
func otherOperations(rule sbpl.Node) map[string]sbpl.Node {
	all := map[string]sbpl.Node{}
	operations := head(rule).List[1:]
	for i, n := range operations {
		with := func(change string, instead ...sbpl.Node) {
			r := rule
			r.List = slices.Concat(rule.List[:i+1], instead, rule.List[i+2:])
			all[n.Text+" "+change+": "+rule.String()] = r
		}
		if len(operations) > 1 {
			with("dropped")
		}
		for _, o := range sbpl.Operations() {
			if o.Subject == subject(n.Text) && !o.Alias && (o.Parent == n.Text || o.Name == above(n.Text)) {
				with("as "+o.Name, sbpl.Node{Kind: sbpl.Symbol, Text: o.Name})
			}
		}
	}
	return all
}

// above is the wildcard over an operation.
func above(operation string) string {
	for _, o := range sbpl.Operations() {
		if o.Name == operation {
			return o.Parent
		}
	}
	return ""
}

// variants are the wider and the narrower forms of a filter.
func variants(f sbpl.Node) map[string]sbpl.Node {
	name, value := f.List[0].Text, f.List[1].Text
	form := func(name string, kind sbpl.Kind, value string) sbpl.Node {
		return sbpl.Node{Kind: sbpl.List, List: []sbpl.Node{{Kind: sbpl.Symbol, Text: name}, {Kind: kind, Text: value}}}
	}
	begins := form("prefix", f.List[1].Kind, value)
	switch {
	case name == "literal":
		return map[string]sbpl.Node{"widened": form("subpath", f.List[1].Kind, value), "begins": begins}
	case name == "subpath" && f.List[1].Kind == sbpl.Symbol:
		return map[string]sbpl.Node{"widened": form("subpath", sbpl.Symbol, "$slot"), "narrowed": form("literal", sbpl.Symbol, value), "begins": begins}
	case name == "subpath":
		return map[string]sbpl.Node{"widened": form("subpath", sbpl.String, path.Dir(value)), "narrowed": form("literal", sbpl.String, value), "begins": begins}
	case name == "sysctl-name-prefix" && strings.Count(value, ".") > 1:
		return map[string]sbpl.Node{"widened": form(name, sbpl.String, value[:strings.IndexByte(value, '.')+1])}
	case name == "sysctl-name":
		return map[string]sbpl.Node{"widened": form("sysctl-name-prefix", sbpl.String, value[:strings.IndexByte(value, '.')+1])}
	case name == "target":
		return map[string]sbpl.Node{"turned around": form("target", sbpl.Symbol, "others")}
	}
	return nil
}
