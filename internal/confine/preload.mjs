// The program's gate on macOS. Node loads this module before the program, in the main thread and again in every worker, where it only
// tidies up. It comes as a data: URL, so that no file and no directory of a program, not even the working directory, has a say in what is
// loaded. It proves that Seatbelt denies one act that the file's own permissions allow, waits for the host's word, says so on descriptor 3
// and lets the program load. Whatever goes wrong, the program does not load. It leaves nothing behind that the program could use.
import { isMainThread } from 'node:worker_threads';
import { closeSync, readFileSync, readSync, writeSync } from 'node:fs';

if (isMainThread) {
  const say = (word) => {
    writeSync(3, `sf-confined/1 ${word}\n`);
    closeSync(3);
  };
  const refuse = (reason) => {
    try {
      if (reason) writeSync(2, `confined: preload: ${reason}\n`);
      say('refused');
    } finally {
      process.reallyExit(125);
    }
  };
  // The host has just read this very file, as the same user. EACCES would be the file's permissions, ENOENT no denial at all.
  const denied = (path) => {
    try {
      readFileSync(path);
      return 'nothing';
    } catch (error) {
      return error.code;
    }
  };

  try {
    const answer = denied(`${process.env.HOME.slice(0, -'/home'.length)}/canary`);
    if (answer !== 'EPERM') refuse(`reading the canary met ${answer} instead of EPERM`);
    const gate = Buffer.alloc(1);
    if (readSync(0, gate, 0, 1, null) !== 1 || gate[0] !== 0x67) refuse();
    say('admitted');
  } catch {
    refuse();
  }
}

process.execArgv.length = 0;
