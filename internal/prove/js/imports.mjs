import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import net from 'node:net';
import dgram from 'node:dgram';
import dns from 'node:dns';
import http from 'node:http';
import cp from 'node:child_process';
import cluster from 'node:cluster';
import inspector from 'node:inspector';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { SHARE_ENV, Worker } from 'node:worker_threads';
const require = createRequire(import.meta.url);

// What a stream connects to, or why not.
const connect = async (to) => {
  const socket = net.connect(to);
  await once(socket, 'connect');
  socket.destroy();
  return 'connected';
};
// Where a server listens, or why not. It goes on listening.
const listen = async (...where) => {
  const server = net.createServer().listen(...where);
  await once(server, 'listening');
  return server.address().port ?? server.address();
};
// How a child ended, or why there is none.
const ended = async (child) => {
  const [code] = await once(child, 'close');
  return code;
};
// What a worker posts, or the error that it ends with.
const inWorker = async (source, workerData, options) => {
  const worker = new Worker(source, { eval: true, workerData, ...options });
  const [said] = await once(worker, 'message');
  await worker.terminate();
  return said;
};
