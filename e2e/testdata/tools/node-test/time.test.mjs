import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

test('an hour in no time', t => {
	t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
	let fired = 0;
	setTimeout(() => fired++, 3_600_000);
	t.mock.timers.tick(3_599_999);
	assert.equal(fired, 0);
	t.mock.timers.tick(1);
	assert.deepEqual([fired, Date.now()], [1, 3_600_000]);
});
test('later', { todo: 'not yet' }, () => assert.fail('as said'));
test('not here', { skip: true }, () => process.exit(1));
test('nothing leaks', () => assert.ok(Date.now() > 1e12 && mock.timers));
