import { readFile } from 'node:fs/promises';
import { threadId } from 'node:worker_threads';
import { minify } from 'terser';

export default async name => ({ name, thread: threadId, ...await minify(await readFile(name, 'utf8'), { module: true }) });
