package sbpl

import (
	"fmt"
	"strings"
	"testing"
)

// row is a question and its answer.
type row struct {
	q    Query
	want bool
}

func file(operation, resolved string, links ...string) Query {
	return Query{Operation: operation, Path: Path{Resolved: resolved, Links: links}}
}

// decide holds a profile against rows, none of which may be disputed.
func decide(t *testing.T, rules string, rows []row) {
	t.Helper()
	p := parse(t, head+rules)
	for _, r := range rows {
		if d := p.Decide(r.q); d.Allowed != r.want || d.Disputed || d.By == "" {
			t.Errorf("%s\n%+v: %+v, want %v", rules, r.q, d, r.want)
		}
	}
}

func TestDecidePaths(t *testing.T) {
	decide(t, `(allow file-read-data (literal "/a") (subpath "/s") (prefix "/p/x"))`, []row{
		{file("file-read-data", "/a"), true},
		{file("file-read-data", "/A"), false},
		{file("file-read-data", "/a/b"), false},
		{file("file-read-data", "/"), false},
		{file("file-read-data", "/s"), true},
		{file("file-read-data", "/s/b/c"), true},
		{file("file-read-data", "/sb"), false},
		{file("file-read-data", "/p/x"), true},
		{file("file-read-data", "/p/xyz/q"), true},
		{file("file-read-data", "/p/y"), false},
		{file("file-read-metadata", "/a"), false},
	})
	decide(t, `(allow file-read-data (subpath "/"))`, []row{
		{file("file-read-data", "/"), true},
		{file("file-read-data", "/a/b"), true},
		{file("file-write-data", "/a/b"), false},
	})
}

func TestDecideOtherSubjects(t *testing.T) {
	decide(t, `(deny process-info*)
(allow process-info* (target self))
(deny process-info-setcontrol (target others))
(allow signal (target self))
(allow sysctl-read (sysctl-name "kern.version") (sysctl-name-prefix "hw."))
(allow mach-lookup)`, []row{
		{Query{Operation: "process-info-pidinfo", Target: Self}, true},
		{Query{Operation: "process-info-pidinfo", Target: Others}, false},
		{Query{Operation: "signal", Target: Self}, true},
		{Query{Operation: "signal", Target: Others}, false},
		{Query{Operation: "sysctl-read", Name: "kern.version"}, true},
		{Query{Operation: "sysctl-read", Name: "kern.versions"}, false},
		{Query{Operation: "sysctl-read", Name: "hw.ncpu"}, true},
		{Query{Operation: "sysctl-read", Name: "hwx"}, false},
		{Query{Operation: "sysctl-write", Name: "hw.ncpu"}, false},
		{Query{Operation: "mach-lookup", Name: "com.apple.x"}, true},
		{Query{Operation: "mach-register", Name: "com.apple.x"}, false},
		{Query{Operation: "syscall-unix", Name: "SYS_fork"}, true},
	})
	decide(t, "", []row{{Query{Operation: "signal", Target: Self}, false}})
}

// A rule for a wildcard covers what is below it, at any depth, and nothing beside it.
func TestDecideWildcards(t *testing.T) {
	decide(t, "(allow file-read*)(allow fs-quota*)(deny fs-quota-set*)(allow process-exec (literal \"/n\"))", []row{
		{file("file-read-xattr", "/a"), true},
		{file("file-write-data", "/a"), false},
		{file("file-ioctl", "/a"), false},
		{file("process-exec", "/n"), true},
		{file("process-exec", "/m"), false},
		{file("process-exec-interpreter", "/n"), true},
		{Query{Operation: "process-fork"}, false},
	})
	decide(t, "(allow ipc*)(deny file*)(deny process-exec*)", []row{
		{Query{Operation: "ipc-posix-shm-write-create"}, true},
		{file("file-link", "/a"), false},
		{file("file-read-data", "/a"), false},
		{file("process-exec", "/n"), false},
	})
}

// The rules stand on lines 3 and 4.
func TestDecidePrecedence(t *testing.T) {
	unlink, data := file("file-write-unlink", "/a"), file("file-write-data", "/a")
	for _, c := range []struct {
		rules    string
		q        Query
		allowed  bool
		disputed bool
		line     int // of the rule that decides; 0 for none
	}{
		{"(allow file-write-unlink)\n(deny file-write-unlink)", unlink, false, false, 4},
		{"(deny file-write-unlink)\n(allow file-write-unlink)", unlink, true, false, 4},
		{"(deny file-write-unlink)\n(allow file-write-unlink (literal \"/b\"))", unlink, false, false, 3},
		{"(deny file-write-unlink (literal \"/b\"))\n(allow file-write*)", unlink, true, false, 4},
		{"(deny file-write-unlink)\n(allow file-write*)", unlink, false, true, 3},
		{"(allow file-write-unlink)\n(deny file-write*)", unlink, true, true, 3},
		{"(deny file-write-unlink)\n(allow file-write*)", data, true, false, 4},
		{"(allow file-write*)\n(deny file-write-unlink)", unlink, false, false, 4},
		{"(allow file-write*)\n(deny file*)", unlink, true, true, 3},
		{"(allow file-write* file-write-unlink)\n(deny file-write-unlink)", unlink, false, false, 4},
		{"", unlink, false, false, 0},
		{"", file("file-link", "/a"), true, false, 0},
		{"(deny process-exec*)\n(allow process-exec)", file("process-exec", "/n"), true, false, 4},
		{"(allow process-exec)\n(deny process-exec*)", file("process-exec", "/n"), false, false, 4},
	} {
		d := parse(t, head+c.rules).Decide(c.q)
		line := 0
		if d.Rule != nil {
			line = d.Rule.Line
		}
		if d.Allowed != c.allowed || d.Disputed != c.disputed || line != c.line {
			t.Errorf("%s\n%+v: %+v of line %d, want %+v", c.rules, c.q, d, line, c)
		}
	}
}

func TestDecideSaysBy(t *testing.T) {
	p := parse(t, head+`(allow file-read-data (literal "/a"))`)
	for _, c := range []struct {
		q  Query
		by string
	}{
		{file("file-read-data", "/a"), `line 3: (allow file-read-data (literal "/a"))`},
		{file("file-read-data", "/b"), "deny default"},
		{file("file-link", "/a"), "version 1 leaves file-link open"},
		{file("file-read-data", "/a", "/l"), "file-read-metadata of the link /l: deny default"},
	} {
		if d := p.Decide(c.q); d.By != c.by {
			t.Errorf("%+v is by %q, want %q", c.q, d.By, c.by)
		}
	}
}

// The matrix measured on macOS 14.4. Its first row is where the evaluator is stricter: /tmp/x was opened without metadata on /tmp.
func TestDecideLinks(t *testing.T) {
	tmp := file("file-read-data", "/private/tmp/x", "/tmp")
	hosts := file("file-read-data", "/private/etc/hosts", "/etc")
	decide(t, `(allow file-read* (literal "/private/tmp/x"))`, []row{{tmp, false}, {file("file-read-data", "/private/tmp/x"), true}})
	decide(t, `(allow file-read* (literal "/private/tmp/x")) (allow file-read-metadata (literal "/tmp"))`, []row{{tmp, true}})
	decide(t, `(allow file-read* (literal "/tmp/x")) (allow file-read-metadata (literal "/tmp"))`, []row{{tmp, false}})
	decide(t, `(allow file-read* (literal "/etc/hosts") (literal "/private/etc/hosts"))`, []row{{hosts, false}})
	decide(t, `(allow file-read* (literal "/private/etc/hosts")) (allow file-read-metadata (literal "/etc"))`, []row{{hosts, true}})
	// Each link counts, and each link is judged by its metadata, whatever is asked about the file.
	exec := file("process-exec", "/c/n", "/l", "/c/m")
	decide(t, `(allow process-exec (subpath "/"))(allow file-read-data (subpath "/"))`, []row{{exec, false}})
	decide(t, `(allow process-exec (literal "/c/n"))(allow file-read-metadata (literal "/l"))`, []row{{exec, false}})
	decide(t, `(allow process-exec (literal "/c/n"))(allow file-read* (literal "/l") (literal "/c/m"))`, []row{{exec, true}})
}

// A dispute about a link is one about the whole answer.
func TestDecideDisputedLinks(t *testing.T) {
	for rules, want := range map[string]bool{
		"(allow file-read-metadata)(deny file-read*)(allow file-read-data)":                  true,
		"(deny file-read-metadata)(allow file-read*)(allow file-read-data)":                  false,
		`(allow file-read-metadata) (deny file-read* (literal "/l")) (allow file-read-data)`: true,
	} {
		if d := parse(t, head+rules).Decide(file("file-read-data", "/a", "/l", "/m")); d.Allowed != want || !d.Disputed {
			t.Errorf("%s: %+v", rules, d)
		}
	}
}

// A question that nothing asks is a mistake of who wrote it, never an answer.
func TestDecidePanics(t *testing.T) {
	p := parse(t, sample)
	for _, q := range []Query{
		{},
		{Operation: "file-reed-data", Path: Path{Resolved: "/"}},
		file("file-read*", "/"),
		file("process-exec*", "/"),
		file("file-read-data", ""),
		file("file-read-data", "a"),
		file("file-read-data", "/a/../b"),
		file("file-read-data", "/a", "l"),
		file("file-read-data", "a", "/l"),
		{Operation: "signal"},
		{Operation: "signal", Target: "children"},
		{Operation: "sysctl-read"},
		{Operation: "mach-lookup"},
		{Operation: "syscall-unix"},
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.HasPrefix(said, "sbpl: bug: ") {
					t.Errorf("%+v: %s", q, said)
				}
			}()
			t.Errorf("%+v is answered: %+v", q, p.Decide(q))
		}()
	}
}
