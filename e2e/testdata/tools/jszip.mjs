// Streams an archive of the input to stdout, the members of archives in it included.
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import JSZip from 'jszip';

const date = new Date(0), packed = new JSZip();
for (const name of readdirSync('.').sort()) {
	if (!name.endsWith('.zip')) { packed.file(name, createReadStream(name), { date }); continue; }
	for (const member of Object.values((await JSZip.loadAsync(readFileSync(name))).files)) {
		if (!member.dir) packed.file(`${name}/${member.name}`, member.nodeStream(), { date, createFolders: false });
	}
}
await pipeline(packed.generateNodeStream({ streamFiles: true, compression: 'DEFLATE', platform: 'UNIX' }), process.stdout);
