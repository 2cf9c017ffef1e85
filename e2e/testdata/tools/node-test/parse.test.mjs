import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it, mock, test } from 'node:test';
import { parse } from '../program/node_modules/acorn/dist/acorn.mjs';

describe('a parser', () => {
	let text;
	before(() => { text = readFileSync(new URL(import.meta.url), 'utf8'); });
	after(() => { text = undefined; });
	it('reads this file', () => assert.equal(parse(text, { ecmaVersion: 'latest', sourceType: 'module' }).type, 'Program'));
	it('refuses what is none', () => assert.throws(() => parse('let let', { ecmaVersion: 6 }), SyntaxError));
	it('calls back', () => {
		const seen = mock.fn();
		parse('a + b', { ecmaVersion: 6, onToken: seen });
		assert.equal(seen.mock.callCount(), 4);
	});
	it('is expected to fail here', () => assert.deepEqual(parse('1', { ecmaVersion: 6 }).body.length, 2));
});

test('with subtests', async t => {
	for (const version of [3, 6, 2025]) await t.test(`version ${version}`, () => parse('var x', { ecmaVersion: version }));
});
