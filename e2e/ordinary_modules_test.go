package e2e

import (
	"fmt"
	"strings"
)

// modulePrograms: the kinds of modules there are.
func modulePrograms() []ordinary {
	return []ordinary{
		{
			name: "ES modules",
			program: files{
				"main.mjs":      `import { twice } from './lib/twice.mjs'; import * as all from './lib/twice.mjs'; console.log(twice(21), Object.keys(all).join())`,
				"lib/twice.mjs": `import { two } from './two.mjs'; export const twice = n => n * two; export default twice`,
				"lib/two.mjs":   `export const two = 2`,
			},
			stdout: "42 default,twice\n",
		},
		{
			name: "import.meta",
			program: files{"sub/main.mjs": `
				import path from 'node:path';
				import { pathToFileURL, fileURLToPath } from 'node:url';
				console.log(path.relative(process.cwd(), import.meta.filename), path.relative(process.cwd(), import.meta.dirname));
				console.log(pathToFileURL(import.meta.filename).href === import.meta.url, import.meta.main);
				console.log(path.relative(process.cwd(), fileURLToPath(import.meta.resolve('./other.mjs'))));`},
			entry:  "sub/main.mjs",
			stdout: "../program/sub/main.mjs ../program/sub\ntrue true\n../program/sub/other.mjs\n",
		},
		{
			name: "CommonJS",
			program: files{
				"main.cjs": `
					const lib = require('./lib'); const data = require('./data.json'); const path = require('node:path');
					console.log(lib.name, data.n, require.main === module, path.relative(process.cwd(), __filename));
					console.log(Object.keys(require.cache).map(k => path.relative(__dirname, k)).join());`,
				"lib/index.js": `exports.name = __dirname.split('/').pop()`,
				"data.json":    `{"n": 3}`,
			},
			entry:  "main.cjs",
			stdout: "lib 3 true ../program/main.cjs\nmain.cjs,lib/index.js,data.json\n",
		},
		{
			name: "a .js file is what package.json says",
			program: files{
				"main.js":          `import './old/main.js'; console.log(typeof require, import.meta.url.split('/').pop())`,
				"package.json":     `{"type": "module"}`,
				"old/main.js":      `console.log(typeof require, typeof module)`,
				"old/package.json": `{"type": "commonjs"}`,
			},
			entry:  "main.js",
			stdout: "function object\nundefined main.js\n",
		},
		{
			name:    "a .js file without package.json",
			program: files{"main.js": `console.log(typeof require, this === module.exports)`},
			entry:   "main.js", stdout: "function true\n",
		},
	}
}

// typedPrograms: TypeScript, whose types Node strips.
func typedPrograms() []ordinary {
	return []ordinary{
		{
			name: "TypeScript, types stripped",
			program: files{
				"main.ts":   "import { area, type Shape } from './shape.mts';\nimport old from './old.cts';\nconst s: Shape = { w: 6, h: 7 };\nconsole.log(area(s) satisfies number, old.kind as string);\n",
				"shape.mts": "export interface Shape { w: number; h: number }\nexport const area = (s: Shape): number => s.w * s.h;\n",
				"old.cts":   "const kind: string = 'cts';\nmodule.exports = { kind };\n",
			},
			entry: "main.ts", stdout: "42 cts\n",
		},
		{name: "an .mts entry", program: files{"main.mts": "const n: number = 1;\nconsole.log(n, await Promise.resolve<number>(2));\n"}, entry: "main.mts", stdout: "1 2\n"},
		{name: "a .cts entry", program: files{"main.cts": "const n: number = 1;\nconsole.log(n, typeof require);\n"}, entry: "main.cts", stdout: "1 function\n"},
		{
			name:    "an error in TypeScript names the right line",
			program: files{"main.ts": "type A = {\n  a: number\n};\nfunction fail(a: A): never {\n  throw new Error('no ' + a.a);\n}\nfail({ a: 1 });\n"},
			entry:   "main.ts", code: 1, holds: []string{"Error: no 1", "/program/main.ts:5:9"},
		},
	}
}

// importingPrograms: how a program finds its own parts.
func importingPrograms() []ordinary {
	return []ordinary{
		{
			name:    "top-level await",
			program: files{"main.mjs": `import { v } from './slow.mjs'; console.log(v, await Promise.all([1, 2].map(async n => n * 2)))`, "slow.mjs": `export const v = await new Promise(r => setTimeout(r, 5, 'slept'))`},
			stdout:  "slept [ 2, 4 ]\n",
		},
		{
			name: "dynamic import across the tree",
			program: files{
				"src/app/main.mjs": `for (const n of ['a', 'b']) console.log((await import('../../plugins/' + n + '.mjs')).default); console.log((await import('../lib/c.cjs')).default.c)`,
				"plugins/a.mjs":    `export default 'A'`,
				"plugins/b.mjs":    `export default (await import('../src/lib/c.cjs')).c + 'B'`,
				"src/lib/c.cjs":    `exports.c = 'C'`,
			},
			entry: "src/app/main.mjs", stdout: "A\nCB\nC\n",
		},
		{
			name:    "JSON import",
			program: files{"main.mjs": `import data from './data.json' with { type: 'json' }; console.log(data.list.length, data.text)`, "data.json": `{"list": [1, 2], "text": "grün"}`},
			stdout:  "2 grün\n",
		},
		{
			name:  "packages in node_modules, scoped too",
			entry: "src/main.mjs",
			program: files{
				"src/main.mjs": `
					import plain from 'plain'; import scoped from '@a/b+c'; import { deep } from '@a/b+c/deep'; import { createRequire } from 'node:module';
					const require = createRequire(import.meta.url);
					console.log(plain, scoped, deep, require('plain'), import.meta.resolve('plain').split('/program/')[1]);
					try { await import('absent') } catch (e) { console.log(e.code) }
					try { await import('@a/b+c/hidden') } catch (e) { console.log(e.code) }`,
				"node_modules/plain/package.json":               `{"name": "plain", "version": "1.0.0", "exports": {"import": "./esm.mjs", "require": "./cjs.cjs"}}`,
				"node_modules/plain/esm.mjs":                    `export default 'esm'`,
				"node_modules/plain/cjs.cjs":                    `module.exports = 'cjs'`,
				"node_modules/@a/b+c/package.json":              `{"name": "@a/b+c", "type": "module", "exports": {".": "./index.js", "./deep": "./lib/deep.js"}}`,
				"node_modules/@a/b+c/index.js":                  `import dep from 'dep'; export default 'scoped ' + dep`,
				"node_modules/@a/b+c/lib/deep.js":               `export const deep = 'deep'`,
				"node_modules/@a/b+c/hidden.js":                 `export default 1`,
				"node_modules/@a/b+c/node_modules/dep/index.js": `module.exports = 'own dep'`,
			},
			stdout: "esm scoped own dep deep cjs node_modules/plain/esm.mjs\nERR_MODULE_NOT_FOUND\nERR_PACKAGE_PATH_NOT_EXPORTED\n",
		},
	}
}

// bigTrees: as deep and as wide as programs get.
func bigTrees() []ordinary {
	wide := files{}
	const leaves = 499
	var imports strings.Builder
	for i := range leaves {
		path := fmt.Sprintf("d%02d/m%03d.mjs", i%20, i)
		wide[path] = fmt.Sprintf("export default %d\n", i)
		fmt.Fprintf(&imports, "import m%d from './%s'; sum += m%d;\n", i, path, i)
	}
	wide["main.mjs"] = "let sum = 0;\n" + imports.String() + "console.log(sum);\n"
	deep := strings.Repeat("d/", 15) // the file is the 16th segment
	return []ordinary{
		{name: "500 modules", program: wide, stdout: fmt.Sprintf("%d\n", leaves*(leaves-1)/2)},
		{
			name:  "16 segments",
			entry: deep + "main.mjs",
			program: files{
				deep + "main.mjs": `import up from '` + strings.Repeat("../", 15) + `top.mjs'; import { readFileSync } from 'node:fs'; console.log(up, readFileSync('` + deep + `data', 'utf8'))`,
				"top.mjs":         `export default 'top'`,
			},
			input:  files{deep + "data": "deep data"},
			stdout: "top deep data\n",
		},
	}
}
