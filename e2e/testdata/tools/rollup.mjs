// Bundles the input and prints the code, its source map and the warnings. The parser is WebAssembly.
import { rollup } from '@rollup/wasm-node';

const warnings = []; // in the order in which files happened to be read
const bundle = await rollup({ input: 'index.js', onLog: (level, { code, message }) => warnings.push(`${level} ${code} ${message}`) });
const { output: [chunk] } = await bundle.generate({ format: 'es', sourcemap: true });
console.log(chunk.code);
console.log(JSON.stringify(chunk.map));
console.log(Object.keys(chunk.modules).length, 'modules');
console.log(warnings.sort().join('\n'));
