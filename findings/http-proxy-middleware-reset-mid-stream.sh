#!/bin/sh
# http-proxy-middleware 4.2.2 (JavaScript, express 5.3.0, default settings): when the upstream's connection is reset in the middle of a
# stream, the proxy writes its error message into the body and ends it as complete. Readers of server-sent events ignore such a line, so
# half an answer of a model looks like a whole one. When the upstream closes the connection at the same place, the client's is cut, as it
# should be. fast-proxy 2.2.0 does the same with "read ECONNRESET".
#
# Seen: 'reset: complete, last line "Error occurred while trying to proxy: 127.0.0.1:PORT/reset"', 'closed: cut, last line "data: two"' and
# 'reset behind fast-proxy: complete, last line "read ECONNRESET"'. Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund http-proxy-middleware@4.2.2 fast-proxy@2.2.0 express@5.3.0
cat > run.js <<'JS'
import { createServer, get } from 'node:http';
import { createServer as createRawServer } from 'node:net';
import express from 'express';
import createFastProxy from 'fast-proxy';
import { createProxyMiddleware } from 'http-proxy-middleware';

async function listen(server) {
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${server.address().port}`;
}

const upstream = createRawServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', (head) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n');
    for (const text of ['data: one\n\n', 'data: two\n\n']) socket.write(`${text.length.toString(16)}\r\n${text}\r\n`);
    // Later than the client has both events.
    setTimeout(() => (head.includes('/reset') ? socket.resetAndDestroy() : socket.end()), 500);
  });
});
const target = await listen(upstream);
const middleware = await listen(createServer(express().use(createProxyMiddleware({ target, changeOrigin: true }))));
const { proxy } = createFastProxy({ base: target });
const fast = await listen(createServer((request, response) => proxy(request, response, request.url, {})));

/** How the stream ended for a client, and its last line. */
function read(url) {
  return new Promise((done) => {
    let text = '';
    const tell = (how) => done(`${how}, last line ${JSON.stringify(text.trim().split('\n').at(-1).replace(/:\d+\//, ':PORT/'))}`);
    get(url, { agent: false }, (response) => {
      response.setEncoding('utf8').on('data', (piece) => (text += piece));
      response.on('end', () => tell('complete')).on('error', () => tell('cut'));
    }).on('error', () => tell('cut'));
  });
}

const seen = [
  `reset: ${await read(`${middleware}/reset`)}`,
  `closed: ${await read(`${middleware}/closed`)}`,
  `reset behind fast-proxy: ${await read(`${fast}/reset`)}`,
];
console.log(seen.join('\n'));
const expected = [
  'reset: complete, last line "Error occurred while trying to proxy: 127.0.0.1:PORT/reset"',
  'closed: cut, last line "data: two"',
  'reset behind fast-proxy: complete, last line "read ECONNRESET"',
];
process.exit(expected.every((line, index) => line === seen[index]) ? 0 : 1);
JS
timeout 60 node run.js
