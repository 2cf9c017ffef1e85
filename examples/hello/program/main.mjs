import { readFileSync } from 'node:fs';
import { greet } from './lib/greet.mjs';

// The input snapshot is the working directory.
const names = readFileSync('names.txt', 'utf8').trim().split('\n');
console.log(greet(names));
