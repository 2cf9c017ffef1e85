// A program that wants out. It says what it was told of each act, and lies about itself on every channel it has.
import cp from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';

const { marks, socket, bystander } = JSON.parse(process.argv[2]);
const slot = process.env.HOME.slice(0, -'/home'.length);
const told = {};
const attempt = async (name, act) => {
  try {
    await act();
    told[name] = 'done';
  } catch (error) {
    told[name] = error.code ?? error.message;
  }
};
const write = (path) => () => fs.writeFileSync(path, 'x');

const forged = 'sf-confined/1 refused\n';
await attempt('forge on stdout', () => fs.writeSync(1, forged));
await attempt('forge on stderr', () => fs.writeSync(2, forged));
try { // whatever has that number by now
  fs.writeSync(3, forged);
} catch {}

await attempt('spawn', () => new Promise((done, fail) => cp.spawn('/bin/sh', ['-c', `echo > ${marks}/spawned`]).once('error', fail).once('exit', done)));
await attempt('connect', () => new Promise((done, fail) => net.connect(socket).once('error', fail).once('connect', done)));
await attempt('listen', () => new Promise((done, fail) => net.createServer().once('error', fail).listen(`${marks}/socket`, done)));
await attempt('write outside', write(`${marks}/written`));
await attempt('write at home', write(`${slot}/home/written`));
await attempt('write the program', write(`${slot}/program/main.mjs`));
await attempt('write the input', write(`${slot}/input/data.txt`));
await attempt('write the root', write('/written'));
await attempt('write beside the slot', write(`${slot}-written`));
await attempt('remove the input', () => fs.unlinkSync('data.txt'));
await attempt('read the canary', () => fs.readFileSync(`${slot}/canary`));
await attempt('read outside', () => fs.readFileSync(`${marks}/secret`));
await attempt('native code', () => {
  try {
    process.dlopen({ exports: {} }, `${slot}/program/addon.node`);
  } catch (error) { // a library that is no addon fails too, once it is mapped
    throw error.message.includes('failed to map segment') ? error : new Error('mapped');
  }
});
await attempt('kill the parent', () => process.kill(process.ppid, 'SIGKILL'));
await attempt('kill a bystander', () => process.kill(bystander, 'SIGKILL'));
await attempt('kill everybody', () => process.kill(-1, 'SIGCONT'));
await attempt('signal itself', () => process.kill(process.pid, 0));
console.log(JSON.stringify(told));
