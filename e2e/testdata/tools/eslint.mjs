// Lints the input by every rule there is and prints all that is found, with the fixes.
import js from '@eslint/js';
import { ESLint } from 'eslint';

const eslint = new ESLint({ overrideConfigFile: true, overrideConfig: js.configs.all });
for (const { filePath, messages } of await eslint.lintFiles(['**/*.js'])) {
	console.log(filePath.slice(process.cwd().length + 1), messages.length);
	for (const message of messages) console.log(JSON.stringify(message));
}
