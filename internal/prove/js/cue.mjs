// Says a word to the host and waits until it has looked. For a host that is gone nobody waits: the parent is another one then.
import fs from 'node:fs';

const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit(3);
}, 1000);

export const cue = (word) => {
  const go = new Promise((resolve) => process.once('SIGUSR2', resolve));
  fs.writeSync(1, `\n${word}\n`);
  return go;
};
