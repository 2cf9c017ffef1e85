package prove_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"confined/internal/prove"
)

const repository = "../.."

// TestSecurityPageIsTrue: each test and each probe that SECURITY.md names is there, and each row of its tables of promises names one.
func TestSecurityPageIsTrue(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests, probes := testsIn(t, repository), map[string]bool{}
	for _, p := range prove.ProbesOn("linux", "amd64") {
		probes[p.Name] = true
	}
	for _, wrong := range untrue(string(text), tests, probes) {
		t.Errorf("SECURITY.md: %s", wrong)
	}

	// Controls: what is gone is missed, and what is shown by nothing too.
	control := "| promise | shown by |\n|---|---|\n| a | `TestSecurityPageIsTrue` |\n| b | `TestThatIsGone` |\n| c | `probe: gone` |\n| d | trust |\n"
	want := []string{"there is no TestThatIsGone", "there is no probe: gone", "nothing shows: d"}
	if got := untrue(control, tests, probes); !slices.Equal(got, want) {
		t.Errorf("of the control it is said %q, want %q", got, want)
	}
}

var (
	namedTest  = regexp.MustCompile("`((?:Test|Fuzz)[A-Z0-9]\\w*)`")
	namedProbe = regexp.MustCompile("`probe: ([^`]+)`")
	promise    = regexp.MustCompile(`(?m)^\| ([^|]+) \|(.*)\|$`)
)

// untrue is what a page claims that is not so. TestName, which explains the notation, is no test.
func untrue(page string, tests, probes map[string]bool) (wrong []string) {
	for _, m := range namedTest.FindAllStringSubmatch(page, -1) {
		if !tests[m[1]] && m[1] != "TestName" {
			wrong = append(wrong, "there is no "+m[1])
		}
	}
	for _, m := range namedProbe.FindAllStringSubmatch(page, -1) {
		if !probes[m[1]] && m[1] != "name" {
			wrong = append(wrong, "there is no probe: "+m[1])
		}
	}
	for _, row := range promise.FindAllStringSubmatch(page, -1) {
		heading := row[1] == "promise" || row[1] == "keep"
		if !heading && !namedTest.MatchString(row[2]) && !namedProbe.MatchString(row[2]) {
			wrong = append(wrong, "nothing shows: "+row[1])
		}
	}
	return wrong
}

// testsIn are the tests of all packages below a directory.
func testsIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z0-9]\w*)\(`)
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != dir && strings.HasPrefix(e.Name(), ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
		return err
	})
	if err != nil || !found["TestSecurityPageIsTrue"] {
		t.Fatalf("the tests of the repository cannot be read: %v", err)
	}
	return found
}
