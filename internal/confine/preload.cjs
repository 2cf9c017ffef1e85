// The program's gate. Node loads this file before the program, in the main thread and again in every worker, where it only tidies up.
// It proves that each of the three layers denies one act that the host would allow, waits for the host's word, says so on descriptor 3
// and lets the program load. Whatever goes wrong, the program does not load. It leaves nothing behind that the program could use.
'use strict';
const { isMainThread } = require('node:worker_threads');
const Module = require('node:module');

if (isMainThread) {
  const fs = require('node:fs');
  const slot = process.env.HOME.slice(0, -'/home'.length);

  const say = (word) => {
    fs.writeSync(3, `sf-confined/1 ${word}\n`);
    fs.closeSync(3);
  };
  const refuse = (reason) => {
    try {
      if (reason) fs.writeSync(2, `confined: preload: ${reason}\n`);
      say('refused');
    } finally {
      process.reallyExit(125);
    }
  };
  const denied = (code, act) => {
    try {
      act();
    } catch (error) {
      return error.code === code;
    }
    return false;
  };

  // Node resolves this file again in each worker, from the working directory, where a package.json can claim any name. If
  // it cannot be resolved at all, workers fail by themselves.
  const replacedInWorkers = () => {
    const preloading = new Module('internal/preload', null);
    preloading.paths = Module._nodeModulePaths(process.cwd());
    try {
      return Module._resolveFilename(__filename, preloading, false) !== __filename;
    } catch {
      return false;
    }
  };

  try {
    const proven =
      // Landlock: the launch stage has just read this very file, as the same user.
      denied('EACCES', () => fs.readFileSync(`${slot}/canary`)) &&
      // The private root: every Linux host has this directory.
      denied('ENOENT', () => fs.statSync('/proc/self/fd')) &&
      // The filter: nothing else stands between a process and the statistics of a directory it can reach.
      denied('EPERM', () => fs.statfsSync(process.env.HOME));
    const gate = Buffer.alloc(1);
    if (!proven || fs.readSync(0, gate, 0, 1, null) !== 1 || gate[0] !== 0x67) refuse();
    process.chdir(`${slot}/input`);
    if (replacedInWorkers()) refuse('package.json of the input answers for the preload in workers: rename that package');
    say('admitted');
  } catch {
    refuse();
  }
}

process.execArgv.length = 0;
delete require.cache[__filename];
for (const key of Object.keys(Module._pathCache)) {
  if (Module._pathCache[key] === __filename) delete Module._pathCache[key];
}
