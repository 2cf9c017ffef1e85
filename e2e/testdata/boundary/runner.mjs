// Does the acts of acts.mjs one after the other, confined or not, and says of each what it returned or the code of its error. The host
// looks at everything twice, before and after: the program calls itself "ready" or "done", which the host sees in /proc, and goes on at SIGUSR2.
import fs from 'node:fs';
import { acts } from './acts.mjs';

const world = JSON.parse(fs.readFileSync('world.json', 'utf8'));
setInterval(() => {}, 1 << 30);
process.on('uncaughtException', (error) => console.error('late:', error));

const told = (title) => {
  const go = new Promise((resolve) => process.once('SIGUSR2', resolve));
  process.title = title;
  return go;
};

const late = () => new Promise((_, reject) => {
  setTimeout(() => reject(Object.assign(new Error('no answer'), { code: 'LATE' })), 10_000).unref();
});

const line = async (name, act) => {
  try {
    return { name, said: String(await Promise.race([act(world), late()])) };
  } catch (error) {
    return { name, code: String(error?.code ?? error?.name), text: String(error?.message) };
  }
};

await told('ready');
for (const [name, act] of acts) fs.writeSync(1, `\n${JSON.stringify(await line(name, act))}\n`);
await told('done');
process.exit(0);
