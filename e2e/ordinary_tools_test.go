package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
)

// tool is a program that people did not write for this, run on real files.
type tool struct {
	name     string // of the npm package, or of the module of Node
	does     string // for people: see TestDocumentedTools
	stresses string
	row      func(t *testing.T, b toolbox) ordinary
}

// tools are ten of npm, at the versions of packaging/tools, and one of Node.
func tools() []tool {
	return []tool{
		{"typescript", "`tsc -p`: checks, and emits to stdout", "a large heap, look-ups of files", typescript},
		{"prettier", "formats TypeScript, Markdown and JSON", "dynamic imports", prettier},
		{"acorn", "parses 1 MB of JavaScript", "deep recursion", acorn},
		{"sql.js", "builds, queries and exports a database", "WebAssembly with a heap of its own", sqlJS},
		{"node:test", "`run({isolation: 'none'})`, mocks, timers", "contexts, hooks, module loading", nodeTest},
		{"@rollup/wasm-node", "bundles 95 modules, with a source map", "WebAssembly", rollup},
		{"tinypool", "four worker threads that minify", "workers, messages, Atomics", tinypool},
		{"terser", "rewrites 6 MB of JavaScript", "a big heap, long garbage collections", terser},
		{"jszip", "streams archives into an archive", "streams and back-pressure", jszip},
		{"eslint", "lints by every rule", "a deep module tree: 86 packages", eslint},
	}
}

// driven is a row whose program is one of testdata/tools, beside these packages.
func (b toolbox) driven(t *testing.T, main string, packages ...string) ordinary {
	t.Helper()
	program := b.with(t, packages...)
	program["main.mjs"] = driver(t, main)
	return ordinary{program: program}
}

// driver is the text of a file of testdata/tools.
func driver(t *testing.T, name string) string {
	t.Helper()
	return document(t, "e2e/testdata/tools/"+name).text
}

// typescript compiles a package's own sources, and a file with two mistakes.
func typescript(t *testing.T, b toolbox) ordinary {
	o := b.driven(t, "typescript.mjs", "typescript")
	o.input = b.input(t, "zod/src/v3")
	o.input["wrong.ts"] = "import { z } from './v3/index.js';\nexport const n: number = z.string();\nconst unused = 1;\n"
	o.input["tsconfig.json"] = `{"compilerOptions": {"strict": true, "noUnusedLocals": true, "declaration": true, "target": "es2022", "module": "nodenext",
		"types": [], "lib": ["es2022"], "outDir": "out", "listFiles": true}, "include": ["v3/index.ts", "wrong.ts"]}`
	o.args, o.code = []string{"-p", ".", "--pretty", "false"}, 2
	o.holds = []string{
		"wrong.ts(2,14): error TS2322", "wrong.ts(3,7): error TS6133", "// out/v3/types.js\n", "// out/v3/types.d.ts\n",
		"<slot>/program/node_modules/typescript/lib/lib.es2022.d.ts\n",
	}
	return o
}

// prettier is its own command.
func prettier(t *testing.T, b toolbox) ordinary {
	return ordinary{
		program: b.with(t, "prettier"), entry: "node_modules/prettier/bin/prettier.cjs",
		input: b.input(t, "zod/src/v4/core/util.ts", "acorn/README.md", "eslint/package.json"),
		args:  []string{"util.ts", "README.md", "package.json", "--use-tabs", "--print-width=60"},
		holds: []string{"export function clone<T extends schemas.$ZodType>(\n\tinst: T,\n", "# Acorn\n", `"name": "eslint"`},
	}
}

func acorn(t *testing.T, b toolbox) ordinary {
	o := b.driven(t, "acorn.mjs", "acorn")
	o.input = b.input(t, "terser/dist/bundle.min.js", "tinypool/dist/index.js")
	o.holds = []string{"bundle.min.js ", `{"type":"ImportDeclaration"`}
	return o
}

func sqlJS(t *testing.T, b toolbox) ordinary {
	o := b.driven(t, "sql.js.mjs", "sql.js")
	o.input = files{"package-lock.json": document(t, "packaging/tools/package-lock.json").text}
	o.holds = []string{`["eslint",0]`, "\nok\nSQLite format 3\x00"}
	return o
}

func nodeTest(t *testing.T, b toolbox) ordinary {
	o := b.driven(t, "node-test.mjs", "acorn")
	o.input = files{"parse.test.mjs": driver(t, "node-test/parse.test.mjs"), "time.test.mjs": driver(t, "node-test/time.test.mjs")}
	o.holds = []string{`test:pass {"name":"reads this file"`, `test:fail {"name":"is expected to fail here"`, `test:pass {"name":"an hour in no time"`}
	return o
}

func rollup(t *testing.T, b toolbox) ordinary {
	o := b.driven(t, "rollup.mjs", "@rollup/wasm-node")
	o.input = b.input(t, "zod/index.js", "zod/v4")
	o.holds = []string{"\n95 modules\n", "CIRCULAR_DEPENDENCY"}
	return o
}

func tinypool(t *testing.T, b toolbox) ordinary {
	o := b.driven(t, "tinypool.mjs", "tinypool", "terser")
	o.program["worker.mjs"] = driver(t, "tinypool-worker.mjs")
	o.input = b.input(t, "acorn/dist/bin.js", "zod/v4/core/to-json-schema.js", "zod/v4/core/util.js", "zod/v4/core/regexes.js", "tinypool/dist/index.js")
	o.holds = []string{"// bin.js, elsewhere: true\n", "\n4 threads, 5 tasks, ENOENT: no such file"}
	return o
}

func terser(t *testing.T, b toolbox) ordinary {
	o := b.driven(t, "terser.mjs", "terser")
	o.input = files{"large.js": b.input(t, "typescript/lib/_tsc.js")["_tsc.js"]}
	o.resident, o.holds = 256<<20, []string{"executeCommandLine"}
	return o
}

func jszip(t *testing.T, b toolbox) ordinary {
	o := b.driven(t, "jszip.mjs", "jszip")
	o.input = b.input(t, "sql.js/dist/sqljs-wasm.zip", "acorn/dist/acorn.js", "prettier/index.mjs")
	o.holds = []string{"PK\x03\x04", "sqljs-wasm.zip/sql-wasm.wasm"}
	return o
}

func eslint(t *testing.T, b toolbox) ordinary {
	o := b.driven(t, "eslint.mjs", "eslint")
	o.input = b.input(t, "zod/v4/core/util.js", "tinypool/dist/index.js")
	o.holds = []string{"util.js ", `"ruleId":"no-magic-numbers"`, `"fix":{"range":[`}
	return o
}

// TestOrdinaryTools: tools of npm give the bytes that they give under plain
// Node, and other bytes for another input: the comparison can fail.
func TestOrdinaryTools(t *testing.T) {
	t.Parallel()
	d, b := startDaemon(t, withFlags("--workers=2")), openToolbox(t)
	for _, tool := range tools() {
		t.Run(tool.name, func(t *testing.T) {
			t.Parallel()
			tool.row(t, b).check(t, d)
		})
	}
	t.Run("another input", func(t *testing.T) {
		t.Parallel()
		same := jszip(t, b).request(t, d)
		other := same
		other.input = maps.Clone(same.input)
		other.input["index.mjs"] += ";"
		got, _, _ := d.postRun(t, other)
		if want := plainNode(t, same); d.outcome(t, got) == want || want.code != 0 {
			t.Errorf("what jszip makes of another file does not differ: %s", want)
		}
	})
}

// TestDocumentedTools: the table in docs/scripting.md is this one, and
// everything that is pinned directly is in it or is input.
func TestDocumentedTools(t *testing.T) {
	t.Parallel()
	b := openToolbox(t)
	var table strings.Builder
	listed := map[string]bool{"zod": true} // its sources are input
	for _, tool := range tools() {
		listed[tool.name] = true
		fmt.Fprintf(&table, "| %s | %s | %s |\n", strings.TrimSpace(tool.name+" "+b.version(tool.name)), tool.does, tool.stresses)
	}
	if doc := document(t, "docs/scripting.md"); !strings.Contains(doc.text, table.String()) {
		t.Errorf("docs/scripting.md has not this table:\n%s", table.String())
	}
	var top struct{ DevDependencies map[string]string }
	if err := json.Unmarshal([]byte(b.under(t, "package.json")["package.json"]), &top); err != nil {
		t.Fatal(err)
	}
	for name := range top.DevDependencies {
		if !listed[name] {
			t.Errorf("%s is pinned, and nothing runs it", name)
		}
	}
}
