// Runs the test files of the input in this process and prints every event but how long it took.
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { run } from 'node:test';

const unsteady = (key, value) => /duration|^file$|stack/.test(key) ? undefined : value instanceof Error ? { message: value.message, cause: value.cause?.message } : value;
for await (const { type, data } of run({ files: readdirSync('.').sort().map(name => resolve(name)), isolation: 'none' })) {
	if (!/duration/.test(data.message)) console.log(type, JSON.stringify(data, unsteady));
}
