// Does the acts of acts.mjs one after the other, confined or not, and says of each what it returned or the code of its error. The host
// looks at everything twice, before and after: the program says "ready" or "done", and goes on at SIGUSR2.
import fs from 'node:fs';
import { acts, last } from './acts.mjs';
import { cue } from './cue.mjs';

const world = JSON.parse(fs.readFileSync('world.json', 'utf8'));
process.on('uncaughtException', (error) => console.error('late:', error));

const late = () => new Promise((_, reject) => {
  setTimeout(() => reject(Object.assign(new Error('no answer'), { code: 'LATE' })), 10_000).unref();
});

const line = async (name, act) => {
  try {
    return { name, said: String((await Promise.race([act(world), late()])) ?? '') };
  } catch (error) {
    return { name, code: String(error?.code ?? error?.name), text: String(error?.message ?? '') };
  }
};

const perform = async (list) => {
  for (const [name, act] of list) fs.writeSync(1, `\n${JSON.stringify(await line(name, act))}\n`);
};

await cue('ready');
await perform(acts);
await cue('done');
await perform(last);
process.exit(0);
