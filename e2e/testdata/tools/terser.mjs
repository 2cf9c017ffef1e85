// Prints the one file of the input without what people need in it and machines do not.
import { readFileSync } from 'node:fs';
import { minify } from 'terser';

const { code } = await minify(readFileSync('large.js', 'utf8'), { compress: false, mangle: false });
process.stdout.write(code);
