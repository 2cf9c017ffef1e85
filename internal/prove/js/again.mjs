// What a process becomes that may become another program.
import fs from 'node:fs';

fs.writeSync(1, `\n${JSON.stringify({ name: 'become another program', said: 'another program' })}\n`);
process.exit(0);
