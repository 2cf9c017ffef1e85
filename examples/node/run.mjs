#!/usr/bin/env node
// Run one program on a running confined daemon, and show its output as it
// arrives. Standard library only, Node.js 18 or newer.
//
//   node examples/node/run.mjs PROGRAM_DIR ENTRY [INPUT_DIR [ARG...]]
//
// The exit code is the program's own when its output can be credited to it; 125
// when no program was started, 126 when the run must not be credited to what was
// pinned, 127 when it is unknown. The socket is $CONFINED_SOCKET, else ~/.confined/socket.
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { constants, homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const socketPath = process.env.CONFINED_SOCKET || join(homedir(), '.confined/socket');

class NothingStarted extends Error {} // no process existed: it may be sent again, changed or later
class Unknown extends Error {} // there may be a process: do not send it again under another id

// A request that got no whole answer. Only a POST starts anything.
const cut = ({ method, path }, error) =>
  new (method === 'POST' ? Unknown : NothingStarted)(`${method} ${path} was not answered whole: ${error.message}`);

// The answer to one request, on a connection of its own, from its head on.
// fetch() cannot speak over a Unix socket; http.request can.
const call = (method, path, body) => new Promise((resolve, reject) => {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/x-ndjson, application/json;q=0.5' };
  const request = http.request({ socketPath, agent: false, method, path, headers }, resolve);
  request.on('error', (error) => reject(error.syscall === 'connect'
    ? new NothingStarted(`no daemon listens on ${socketPath}: ${error.code}`)
    : cut(request, error)));
  // The stream is never silent for longer than 15 s. Giving up cancels the run.
  request.setTimeout(60_000, () => request.destroy(new Error('60 s of silence')));
  request.end(body);
});

async function json(answer) {
  try {
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    return JSON.parse(text);
  } catch (error) {
    throw cut(answer.req, error);
  }
}

// The digest that a request must quote, of /v1/runtime or /v1/profile.
async function pin(path) {
  const answer = await call('GET', path);
  const pinned = await json(answer);
  if (answer.statusCode !== 200) throw new NothingStarted(pinned.detail);
  return pinned.digest;
}

// The files below a directory, as [path, content]. Nothing else can be in a snapshot.
const walk = (directory, below) => readdirSync(join(directory, below), { withFileTypes: true }).flatMap((entry) => {
  const path = below + entry.name;
  if (entry.isDirectory()) return walk(directory, `${path}/`);
  if (entry.isFile()) return [[path, readFileSync(join(directory, path))]];
  throw new Error(`${path} is neither a file nor a directory: a snapshot cannot hold it`);
});

function tree(directory) {
  try {
    return walk(directory, '');
  } catch (error) {
    throw new NothingStarted(error.message);
  }
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

// Digest (docs/snapshot-digest.md) and files of one tree, as a request in JSON holds them.
function snapshot(files) {
  const version = files.some(([path]) => /[@+]/.test(path)) ? 2 : 1;
  const lines = files.map(([path, content]) => `${path}\t${content.length}\t${sha256(content)}\n`).sort();
  return {
    digest: `sha256:${sha256(`sf-confined-snapshot/${version}\n${lines.join('')}`)}`,
    files: files.map(([path, content]) => ({ path, content: { encoding: 'base64', data: content.toString('base64') } })),
  };
}

// A problem is thrown as what it says about a process. Only a 4xx, and a 503, say
// that none existed; and of those not run-id-used: an earlier request had this
// id, and a process of that one may exist.
function refuse({ status, code, detail, errors = [] }) {
  const message = [`${status} ${code}: ${detail}`, ...errors.map((fault) => `  ${fault.pointer}: ${fault.detail}`)].join('\n');
  const nothing = status >= 400 && status < 500 || status === 503;
  const unknown = !nothing || code === 'run-id-used';
  throw unknown ? new Unknown(message) : new NothingStarted(message);
}

// Only what was answered 429 or 503 is sent again: then no process existed. The
// id stays the same, so that even a mistake here starts one program.
async function submit(body, tries = 5) {
  for (;;) {
    const answer = await call('POST', '/v1/runs', body);
    if (answer.statusCode === 200) return answer;
    const problem = await json(answer);
    if (![429, 503].includes(answer.statusCode) || --tries === 0) refuse(problem);
    await sleep(1000 * Number(answer.headers['retry-after']));
  }
}

async function* lines(answer) {
  let rest = '';
  for await (const chunk of answer.setEncoding('utf8')) {
    const [first, ...others] = chunk.split('\n');
    rest += first;
    for (const next of others) {
      yield rest;
      rest = next;
    }
  }
}

// The frozen result, which is the last line of the stream. A stream that ends
// without one says nothing: the process may be alive.
async function follow(answer) {
  let event;
  try {
    for await (const line of lines(answer)) {
      event = JSON.parse(line);
      if (event.type === 'output') process[event.stream].write(Buffer.from(event.bytes.data, event.bytes.encoding));
      if (event.type === 'result' || event.type === 'problem') break;
      // the others are accepted, stage, heartbeat, and whatever a later version adds
    }
  } catch (error) {
    throw cut(answer.req, error);
  }
  if (event?.type === 'problem') refuse(event.problem);
  if (event?.type !== 'result') throw cut(answer.req, new Error('the stream ended before its result'));
  return event.result;
}

async function main(program, entry, inputDirectory, ...args) {
  const result = await follow(await submit(JSON.stringify({
    id: `node-${randomUUID()}`,
    runtime: await pin('/v1/runtime'),
    profile: await pin('/v1/profile'),
    program: { ...snapshot(tree(program)), entry, args },
    input: snapshot(inputDirectory ? tree(inputDirectory) : []),
    timeoutMs: 30_000, maxOutputBytes: 1 << 20, cpuSeconds: 30, maxDescriptors: 256,
  })));
  if (result.status === 'not-started') throw new NothingStarted(`${result.reason}: ${result.message}`);
  if (result.status !== 'observed') throw new Unknown(`${result.status}: the process was not seen gone; it may still run`);
  if (!result.attributable) {
    console.error('run.mjs: not attributable:', result.problems.map((problem) => problem.message).join('; '));
    return 126;
  }
  const { exit, stopped } = result.process;
  if (stopped || exit.signal) console.error(`run.mjs: stopped ${stopped}, signal ${exit.signal}`);
  return exit.code ?? 128 + (constants.signals[exit.signal] ?? 0);
}

if (process.argv.length < 4) {
  console.error('usage: node run.mjs PROGRAM_DIR ENTRY [INPUT_DIR [ARG...]]');
  process.exit(2);
}
try {
  process.exitCode = await main(...process.argv.slice(2));
} catch (error) {
  const unknown = error instanceof Unknown;
  if (!unknown && !(error instanceof NothingStarted)) throw error;
  console.error(`run.mjs: ${unknown ? 'unknown' : 'no program was started'}: ${error.message}`);
  process.exitCode = unknown ? 127 : 125;
}
