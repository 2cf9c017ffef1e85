// Minifies every file of the input, four at a time, each in a worker thread.
import { readdirSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import Tinypool from 'tinypool';

const pool = new Tinypool({ filename: new URL('worker.mjs', import.meta.url).href, minThreads: 4, maxThreads: 4 });
const done = await Promise.all(readdirSync('.').sort().map(name => pool.run(name)));
for (const { name, code, thread } of done) console.log(`// ${name}, elsewhere: ${thread !== threadId}\n${code}`);
console.log(pool.threads.length, 'threads,', pool.completed, 'tasks,', await pool.run('none').catch(error => error.message));
await pool.destroy();
