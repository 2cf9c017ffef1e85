// Another run, alive while the acts are done.
import { cue } from './cue.mjs';

await cue('ready');
process.exit(0);
