package confined

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What builds for macOS and not for Linux is run by no test here. So it may hold thin system calls and nothing else: what plans, parses or
// decides is in files that build, and are tested, on Linux too.
const (
	thinLines    = 20 // of a function, its braces included
	thinBranches = 5  // of a function: if, for, each case, && and ||
	thinFile     = 150
)

// thinImports are what such a file may use: the system, and what names errors and types.
func thinImports() []string {
	return []string{"bytes", "context", "encoding/binary", "errors", "fmt", "io/fs", "net", "os", "runtime", "syscall", "unsafe",
		"golang.org/x/sys/unix", "confined/internal/httpapi", "confined/internal/pins"}
}

// TestOnlyThinCallsAreForMacAlone looks at every file that no test on Linux reaches.
func TestOnlyThinCallsAreForMacAlone(t *testing.T) {
	seen := 0
	for _, path := range goFiles(t) {
		if !builds(t, path, "darwin", "arm64") || builds(t, path, "linux", "amd64") {
			continue
		}
		seen++
		for _, fault := range thickness(t, path, nil) {
			t.Errorf("%s: %s", path, fault)
		}
	}
	if seen < 6 {
		t.Errorf("%d files, where each package with files for macOS has at least one", seen)
	}
}

// systems are those that a file may be for, or not: each that has files of its own, and one that has none.
var systems = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"freebsd", "amd64"}}

// TestWhereSystemsDiffer: the packages with files for one operating system are those that ARCHITECTURE.md names.
func TestWhereSystemsDiffer(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sentence, found := strings.Cut(string(text), "files for one operating system live in ")
	sentence, _, whole := strings.Cut(sentence, ";")
	if !found || !whole {
		t.Fatal("ARCHITECTURE.md does not say where files for one operating system live")
	}
	var named, there []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(sentence, -1) {
		named = append(named, m[1])
	}
	for _, path := range goFiles(t) {
		everywhere := builds(t, path, systems[0][0], systems[0][1])
		for _, s := range systems[1:] {
			if builds(t, path, s[0], s[1]) != everywhere {
				there = append(there, strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "internal/"))
				break
			}
		}
	}
	slices.Sort(named)
	slices.Sort(there)
	if there = slices.Compact(there); !slices.Equal(named, there) {
		t.Errorf("ARCHITECTURE.md names %q, and there are %q", named, there)
	}
}

// TestThickness: each rule can fail.
func TestThickness(t *testing.T) {
	const good = "package x\n\nimport \"os\"\n\nfunc f() error { return os.Remove(\"x\") }\n"
	for name, row := range map[string]struct{ source, says string }{
		"thin":          {good, ""},
		"an import":     {strings.Replace(good, `"os"`, `"strings"`, 1), "imports strings"},
		"long":          {good + "func g() {\n" + strings.Repeat("\tf()\n", thinLines) + "}\n", "has 22 lines"},
		"branches":      {good + "func g(a bool) bool { return " + strings.Repeat("a && ", 6) + "a }\n", "has 6 branches"},
		"cases":         {good + "func g(a int) { switch a { " + strings.Repeat("case 1:\n", 6) + "} }\n", "has 6 branches"},
		"a long file":   {good + strings.Repeat("\n", thinFile), "lines, more than"},
		"a method":      {good + "type m int\nfunc (m) g() {\n" + strings.Repeat("\tf()\n", thinLines) + "}\n", "g has 22 lines"},
		"in a variable": {good + "var g = func() {\n" + strings.Repeat("\tf()\n", thinLines) + "}\n", "has 22 lines"},
	} {
		faults := thickness(t, name+".go", []byte(row.source))
		if row.says == "" && len(faults) > 0 || row.says != "" && !strings.Contains(strings.Join(faults, "; "), row.says) {
			t.Errorf("%s: %q, want %q", name, faults, row.says)
		}
	}
}

// openers are the calls of x/sys and of package syscall that open without close-on-exec on macOS, whatever they are given: a program that is
// forked before the descriptor is marked, or closed again, holds it too. What reads a directory opens it anew there.
func openers() []string {
	return []string{"Accept", "Dup", "Dup2", "Getdirentries", "Pipe", "ReadDirent", "Socket", "Socketpair"}
}

// TestWhatOpensOnMacHoldsTheForkLock: no function that builds for macOS calls one of them without syscall.ForkLock, or opens by path without
// O_CLOEXEC. A queue of kqueue(2) is not inherited.
func TestWhatOpensOnMacHoldsTheForkLock(t *testing.T) {
	seen := 0
	for _, path := range goFiles(t) {
		if !builds(t, path, "darwin", "arm64") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			held := names(d, "syscall", "ForkLock")
			for _, opener := range openers() {
				if names(d, "unix", opener) || names(d, "syscall", opener) {
					seen++
					if !held {
						t.Errorf("%s: %s without syscall.ForkLock", path, opener)
					}
				}
			}
			if !held && opensCarelessly(d) {
				t.Errorf("%s: opens without O_CLOEXEC", path)
			}
		}
	}
	for source, careless := range map[string]bool{
		"unix.Open(p, unix.O_RDONLY, 0); unix.Open(q, unix.O_CLOEXEC, 0)":                 true,
		"syscall.Openat(d, p, 0, unix.O_CLOEXEC|0)":                                       false,
		"unix.Openat(d, p, flags|unix.O_CLOEXEC, 0); os.Open(p); unix.O_CLOEXEC.String()": false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() { "+source+" }", 0)
		if err != nil || opensCarelessly(file.Decls[0]) != careless {
			t.Errorf("the control %s: %v", source, err)
		}
	}
	if seen < 2 {
		t.Errorf("%d calls, where at least one that accepts and one that reads a directory are", seen)
	}
}

// opensCarelessly says whether one of a declaration's calls opens a path without O_CLOEXEC among its arguments.
func opensCarelessly(d ast.Decl) (careless bool) {
	system := func(n ast.Node, name string) bool { return names(n, "unix", name) || names(n, "syscall", name) }
	ast.Inspect(d, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && (system(call.Fun, "Open") || system(call.Fun, "Openat")) {
			careless = careless || !slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return system(a, "O_CLOEXEC") })
		}
		return true
	})
	return careless
}

// names says whether a piece of a program names something of a package.
func names(d ast.Node, pkg, name string) bool {
	found := false
	ast.Inspect(d, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if ok && s.Sel.Name == name {
			x, ok := s.X.(*ast.Ident)
			found = found || ok && x.Name == pkg
		}
		return !found
	})
	return found
}

// goFiles are the Go files of this module that are no tests.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func builds(t *testing.T, path, goos, goarch string) bool {
	t.Helper()
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled = goos, goarch, false
	match, err := c.MatchFile(filepath.Split(path))
	if err != nil {
		t.Fatal(err)
	}
	return match
}

// thickness says what of a file is more than thin system calls. A nil source is read from the path.
func thickness(t *testing.T, path string, source []byte) (faults []string) {
	t.Helper()
	set := token.NewFileSet()
	var from any
	if source != nil {
		from = source
	}
	file, err := parser.ParseFile(set, path, from, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := set.File(file.FileStart).LineCount(); n > thinFile {
		faults = append(faults, strconv.Itoa(n)+" lines, more than "+strconv.Itoa(thinFile))
	}
	for _, i := range file.Imports {
		if name, _ := strconv.Unquote(i.Path.Value); !slices.Contains(thinImports(), name) {
			faults = append(faults, "imports "+name)
		}
	}
	for _, d := range file.Decls {
		name := "a declaration"
		if f, ok := d.(*ast.FuncDecl); ok {
			name = f.Name.Name
		}
		if lines := set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1; lines > thinLines && holdsCode(d) {
			faults = append(faults, name+" has "+strconv.Itoa(lines)+" lines")
		}
		if n := branches(d); n > thinBranches {
			faults = append(faults, name+" has "+strconv.Itoa(n)+" branches")
		}
	}
	return faults
}

func holdsCode(d ast.Decl) bool {
	found := false
	ast.Inspect(d, func(n ast.Node) bool {
		_, block := n.(*ast.BlockStmt)
		found = found || block
		return !found
	})
	return found
}

func branches(d ast.Decl) int {
	count := 0
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.CaseClause, *ast.CommClause:
			count++
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				count++
			}
		}
		return true
	})
	return count
}
