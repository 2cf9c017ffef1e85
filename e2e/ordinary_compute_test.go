package e2e

// computations: threads and WebAssembly.
func computations() []ordinary {
	return []ordinary{
		{
			name: "four workers and shared memory",
			program: files{
				"main.mjs": `
					import { Worker } from 'node:worker_threads';
					const shared = new Int32Array(new SharedArrayBuffer(8));
					const ends = Array.from({ length: 4 }, (_, id) => new Promise((done, fail) => {
						const w = new Worker(new URL('./worker.mjs', import.meta.url), { workerData: { shared, id } });
						let said; w.on('message', m => said = m); w.on('error', fail); w.on('exit', code => done([said, code]));
					}));
					for (let seen = 0; (seen = Atomics.load(shared, 1)) < 4;) await Atomics.waitAsync(shared, 1, seen).value;
					console.log(JSON.stringify(await Promise.all(ends)), shared[0]);`,
				"worker.mjs": `
					import { parentPort, workerData, isMainThread } from 'node:worker_threads';
					for (let i = 0; i < 1000; i++) Atomics.add(workerData.shared, 0, 1);
					Atomics.add(workerData.shared, 1, 1); Atomics.notify(workerData.shared, 1);
					parentPort.postMessage([workerData.id, isMainThread, process.cwd().split('/').pop()]);`,
			},
			stdout: `[[[0,false,"input"],0],[[1,false,"input"],0],[[2,false,"input"],0],[[3,false,"input"],0]] 4000` + "\n",
		},
		{
			name: "a worker that fails, and one that ends",
			source: `
				import { Worker } from 'node:worker_threads';
				const run = (code, more) => new Promise(done => {
					const w = new Worker(code, { eval: true, ...more });
					let error = null; w.on('error', e => error = e.code ?? e.message); w.on('exit', code => done([error, code]));
				});
				console.log(await run("throw new Error('of mine')"));
				console.log(await run("process.exit(9)"));`,
			stdout: "[ 'of mine', 1 ]\n[ null, 9 ]\n",
		},
		{
			name: "WebAssembly",
			source: `
				const bytes = new Uint8Array([0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,100,100,0,0,10,9,1,7,0,32,0,32,1,106,11]);
				const { instance } = await WebAssembly.instantiate(bytes);
				const memory = new WebAssembly.Memory({ initial: 1, maximum: 1024 });
				memory.grow(512);
				console.log(instance.exports.add(40, 2), WebAssembly.validate(bytes), memory.buffer.byteLength);
				let hot = 0; for (let i = 0; i < 2e5; i++) hot = instance.exports.add(hot, i) | 0;
				console.log(hot);`,
			stdout: "42 true 33619968\n-1474936480\n",
		},
	}
}

// compiledIn: the libraries that are part of the Node binary.
func compiledIn() []ordinary {
	return []ordinary{
		{
			name: "crypto",
			source: `
				import * as c from 'node:crypto';
				console.log(c.createHash('sha256').update('abc').digest('hex'));
				console.log(c.createHmac('sha512', 'key').update('abc').digest('base64').length, c.hash('sha1', 'abc'));
				console.log(c.randomBytes(32).length, c.randomBytes(8).equals(c.randomBytes(8)), c.randomUUID().length, c.randomInt(5, 6));
				const { publicKey, privateKey } = c.generateKeyPairSync('ed25519');
				const signature = c.sign(null, Buffer.from('text'), privateKey);
				console.log(signature.length, c.verify(null, Buffer.from('text'), publicKey, signature), c.verify(null, Buffer.from('texT'), publicKey, signature));
				console.log(c.scryptSync('password', 'NaCl', 64, { N: 1024, r: 8, p: 16 }).toString('hex').slice(0, 16), c.pbkdf2Sync('p', 's', 1000, 16, 'sha256').toString('hex'));
				const key = Buffer.alloc(32, 1), iv = Buffer.alloc(12, 2), seal = c.createCipheriv('aes-256-gcm', key, iv);
				const sealed = Buffer.concat([seal.update('secret'), seal.final()]), open = c.createDecipheriv('aes-256-gcm', key, iv).setAuthTag(seal.getAuthTag());
				console.log(sealed.toString('hex'), open.update(sealed, null, 'utf8') + open.final('utf8'));
				const { publicKey: rsa } = await new Promise((ok, no) => c.generateKeyPair('rsa', { modulusLength: 1024 }, (e, publicKey) => e ? no(e) : ok({ publicKey })));
				console.log(rsa.asymmetricKeyDetails.modulusLength, c.getHashes().length, c.getCiphers().length);
				const { subtle } = globalThis.crypto, k = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
				const s = await subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, k.privateKey, Buffer.from('x'));
				console.log(await subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, k.publicKey, s, Buffer.from('x')), Buffer.from(await subtle.digest('SHA-256', Buffer.from('abc'))).toString('hex').slice(0, 8));`,
			holds: []string{
				"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n", "32 false 36 5\n", "64 true false\n",
				"fdbabe1c9d347200 ", " secret\n", "true ba7816bf\n",
			},
		},
		{
			name: "zlib",
			source: `
				import * as z from 'node:zlib'; import { promisify } from 'node:util'; import { pipeline } from 'node:stream/promises'; import { Readable, Writable } from 'node:stream';
				const text = Buffer.from('the same words again and again. '.repeat(5000));
				for (const [pack, unpack] of [['gzip', 'gunzip'], ['deflate', 'inflate'], ['deflateRaw', 'inflateRaw'], ['brotliCompress', 'brotliDecompress'], ['zstdCompress', 'zstdDecompress']]) {
					const packed = await promisify(z[pack])(text), sync = z[pack + 'Sync'](text);
					console.log(pack, packed.length < 2000, (await promisify(z[unpack])(sync)).equals(text), (await promisify(z[unpack])(packed)).equals(text));
				}
				const out = []; await pipeline(Readable.from([text]), z.createGzip(), z.createGunzip(), new Writable({ write(b, _, done) { out.push(b); done(); } }));
				console.log(Buffer.concat(out).equals(text), z.crc32('hello'));
				try { z.gunzipSync(Buffer.from('no gzip')) } catch (e) { console.log(e.code) }`,
			stdout: "gzip true true true\ndeflate true true true\ndeflateRaw true true true\nbrotliCompress true true true\nzstdCompress true true true\ntrue 907060870\nZ_DATA_ERROR\n",
		},
		{
			name: "Intl",
			source: `
				const at = new Date(Date.UTC(2026, 1, 3, 4, 5, 6));
				console.log(new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(1234567.891).replace(/\s/g, ' '));
				console.log(new Intl.DateTimeFormat('ja-JP', { dateStyle: 'full', timeStyle: 'long', timeZone: 'Asia/Tokyo' }).format(at));
				console.log(at.toLocaleString('de-DE', { timeZone: 'America/New_York' }), new Intl.DateTimeFormat().resolvedOptions().timeZone, at.toString());
				console.log([...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment('👩‍👩‍👧‍👦e\u0301x')].length, [...new Intl.Segmenter('ja', { granularity: 'word' }).segment('吾輩は猫である')].length);
				console.log(['z', 'ä', 'a'].sort(new Intl.Collator('sv').compare).join(''), new Intl.PluralRules('ar').select(3), new Intl.RelativeTimeFormat('fr').format(-2, 'day'));
				console.log('ß'.toLocaleUpperCase('de'), 'e\u0301'.normalize('NFC').length, new Intl.ListFormat('en').format(['a', 'b', 'c']), Intl.supportedValuesOf('currency').length > 100);`,
			holds: []string{"1.234.567,89 €\n", "2026年2月3日", " UTC Tue Feb 03 2026 04:05:06 GMT+0000", "3 5\n", "azä few il y a 2 jours\n", "SS 1 a, b, and c true\n"},
		},
	}
}

// librariesOfNode: the standard library, as programs use it.
func librariesOfNode() []ordinary {
	return []ordinary{
		{
			name: "timers and abort",
			source: `
				import { setTimeout as sleep, setInterval as every } from 'node:timers/promises';
				const log = []; setImmediate(() => log.push('immediate')); process.nextTick(() => log.push('tick')); queueMicrotask(() => log.push('micro'));
				const before = performance.now(); await sleep(20); const took = performance.now() - before;
				console.log(log.join(), took >= 19, took < 5000, performance.timeOrigin > 1.7e12);
				const c = new AbortController(); setTimeout(() => c.abort(new Error('enough')), 5);
				console.log(await sleep(60_000, 0, { signal: c.signal }).catch(e => e.name + ' ' + e.cause.message), AbortSignal.timeout(1e6).aborted);
				let n = 0; for await (const _ of every(1)) if (++n === 3) break;
				const t = setTimeout(() => { throw 1 }, 1e6); t.unref(); console.log(n, process.hrtime.bigint() > 0n);`,
			stdout: "micro,tick,immediate true true true\nAbortError enough false\n3 true\n",
		},
		{
			name: "streams, URLs, text and clones",
			source: `
				import { pipeline } from 'node:stream/promises'; import { Readable, Transform } from 'node:stream'; import { text } from 'node:stream/consumers';
				const upper = new Transform({ transform: (c, _, done) => done(null, String(c).toUpperCase()) });
				const [out] = await Promise.all([text(upper), pipeline(Readable.from(['a', 'b', 'c']), upper)]);
				console.log(out, await text(new Blob(['blob']).stream().pipeThrough(new TextDecoderStream())));
				const u = new URL('../x?q=ü#h', 'https://user:p@exämple.org:8080/a/b'); console.log(u.href, new URLSearchParams('a=1&a=2').getAll('a').length);
				console.log(new TextDecoder('shift_jis').decode(new Uint8Array([0x93, 0xfa])), new TextDecoder().decode(new Uint8Array([0xff])), new TextEncoder().encode('€').length);
				const m = new Map([['k', { when: new Date(0), re: /x/gi }]]); m.set('self', m); const copy = structuredClone(m);
				console.log(copy.get('self') === copy, copy.get('k').when.getTime(), copy.get('k').re.flags, atob(btoa('hi')));
				console.log(await (await fetch('data:text/plain,hello')).text());`,
			stdout: "ABC blob\nhttps://user:p@xn--exmple-cua.org:8080/x?q=%C3%BC#h 2\n日 \ufffd 3\ntrue 0 gi hi\nhello\n",
		},
		{
			name: "events, contexts, vm, assert and the rest",
			source: `
				import { EventEmitter, once } from 'node:events'; import { AsyncLocalStorage } from 'node:async_hooks'; import vm from 'node:vm'; import v8 from 'node:v8';
				import assert from 'node:assert/strict'; import util from 'node:util'; import path from 'node:path'; import qs from 'node:querystring'; import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
				import { StringDecoder } from 'node:string_decoder'; import dc from 'node:diagnostics_channel';
				const e = new EventEmitter(); setTimeout(() => e.emit('x', 7)); console.log(await once(e, 'x'));
				const store = new AsyncLocalStorage(); console.log(await store.run('ctx', async () => { await null; return store.getStore() }));
				console.log(vm.runInNewContext('a + 1', { a: 1 }), v8.deserialize(v8.serialize({ a: 1n })), v8.getHeapStatistics().heap_size_limit > 5e8);
				try { assert.deepEqual({ a: 1 }, { a: 2 }) } catch (x) { console.log(x.code) }
				console.log(util.inspect({ a: { b: { c: {} } } }, { depth: 0 }), util.format('%s %d %j', 'a', 1, { b: 2 }), path.posix.join('a', '../b'), qs.stringify({ a: [1, 2] }));
				const { port1, port2 } = new MessageChannel(); port1.postMessage({ hi: 1 }); console.log(receiveMessageOnPort(port2).message); port1.close();
				console.log(new StringDecoder('utf8').write(Buffer.from([0xe2, 0x82])), dc.channel('x').hasSubscribers, util.types.isProxy(new Proxy({}, {})));
				console.log(typeof gc, [1, 2, 3].toSorted((a, b) => b - a), Object.groupBy([1, 2, 3], n => n % 2 ? 'odd' : 'even'), new Intl.Locale('de').language);`,
			holds: []string{"[ 7 ]\nctx\n2 { a: 1n } true\nERR_ASSERTION\n", "{ a: [Object] } a 1 {\"b\":2} b a=1&a=2\n{ hi: 1 }\n"},
		},
		{
			name: "node:sqlite in memory",
			source: `
				import { DatabaseSync } from 'node:sqlite';
				const db = new DatabaseSync(':memory:');
				db.exec('create table t (id integer primary key, name text, data blob)');
				const add = db.prepare('insert into t (name, data) values (?, ?)');
				db.exec('begin'); for (let i = 0; i < 1000; i++) add.run('n' + i, new Uint8Array([i & 255])); db.exec('commit');
				console.log({ ...db.prepare('select count(*) as n, max(id) as last from t').get() }, db.prepare('select name from t where id = ?').get(7).name);
				db.function('double', n => n * 2); console.log(db.prepare('select double(21) as v').get().v);
				try { db.exec('selekt') } catch (e) { console.log(e.code) }
				db.close();`,
			holds: []string{"{ n: 1000, last: 1000 } n6\n42\nERR_SQLITE_ERROR\n"},
		},
		{
			name: "node:test in the process",
			source: `
				import { test, describe, it, mock } from 'node:test'; import assert from 'node:assert';
				test('adds', () => assert.equal(1 + 1, 2));
				describe('group', () => { it('mocks', () => { const f = mock.fn(() => 3); assert.equal(f(), 3); assert.equal(f.mock.callCount(), 1); }); });
				test('fails', () => assert.equal(1, 2));`,
			code: 1, loose: true, holds: []string{"pass 2", "fail 1", "adds", "mocks"},
		},
	}
}
