package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dialers are the ways to make a client or a connection.
var dialers = strings.Fields("http.Client http.Transport http.DefaultClient http.DefaultTransport http.Get http.Head http.Post http.PostForm net.Dial net.DialTimeout net.DialUnix net.Dialer")

// mayDial are the functions that do, and why no answer is lost to the contract.
var mayDial = map[string]string{
	"judgedSocket":      "what it makes judges",
	"newDaemon":         "its client has that transport",
	"dial":              "what is read is judged when the test is over",
	"TestMetricsListen": "this port serves /metrics alone and is not the contract's",
	"TestSocketInUse":   "the stranger is no daemon",
	"goJudge":           "another sandbox",
	"judged":            "another sandbox",
}

// TestNobodyBypassesTheContract: no test has a client or a connection whose
// answers are not judged. What curl, Python and Node are answered is out of
// reach here; their tests look at what those print.
func TestNobodyBypassesTheContract(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dials(t, path, string(text)) {
			if used[d.function] = true; mayDial[d.function] == "" {
				t.Errorf("%s: %s uses %s: take d.client or d.dial, which judge what is answered, or say in mayDial why not", d.at, d.function, d.what)
			}
		}
	}
	for function := range mayDial {
		if !used[function] {
			t.Errorf("mayDial names %s, which makes no connection", function)
		}
	}
	const control = "package p\nimport \"net/http\"\nfunc f() { var c http.Client; _ = c; http.Get(\"\") }"
	if got := dials(t, "control.go", control); len(got) != 2 || got[0].function != "f" || got[1].what != "http.Get" {
		t.Errorf("the control has %v", got)
	}
}

// dialing is one use of a dialer.
type dialing struct{ at, function, what string }

func dials(t *testing.T, path, text string) []dialing {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []dialing
	for _, declared := range file.Decls {
		name := "a declaration"
		if f, ok := declared.(*ast.FuncDecl); ok {
			name = f.Name.Name
		}
		ast.Inspect(declared, func(n ast.Node) bool {
			if _, pointer := n.(*ast.StarExpr); pointer { // a field or parameter, which something else made
				return false
			}
			if s, ok := n.(*ast.SelectorExpr); ok {
				if from, ok := s.X.(*ast.Ident); ok && slices.Contains(dialers, from.Name+"."+s.Sel.Name) {
					out = append(out, dialing{files.Position(s.Pos()).String(), name, from.Name + "." + s.Sel.Name})
				}
			}
			return true
		})
	}
	return out
}
