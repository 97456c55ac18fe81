#!/bin/sh
# @fastify/http-proxy 11.6.3 (fastify 5.12.8) and `proxy` of hono 4.13.19 (@hono/node-server 2.1.9) answer a request with
# `Expect: 100-continue` with 500, after Node's server has told the client to go on and the body has come: undici refuses the header, and
# neither proxy takes it out or answers 417, after which clients send the body without it. The upstream is not asked. curl sends this
# header with every body over 1 MB, such as a picture for a model, so only long requests fail. http-proxy-middleware 4.2.2 passes it on.
#
# Seen: fastify 200 without and "100, 500" with the header, hono the same, http-proxy-middleware "100, 200". Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @fastify/http-proxy@11.6.3 fastify@5.12.8 hono@4.13.19 @hono/node-server@2.1.9 \
  http-proxy-middleware@4.2.2 express@5.3.0
cat > run.js <<'JS'
import { createServer, request } from 'node:http';
import httpProxy from '@fastify/http-proxy';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { proxy } from 'hono/proxy';
import { createProxyMiddleware } from 'http-proxy-middleware';

let asked = 0;
async function listen(server) {
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return server.address().port;
}
const upstream = await listen(
  createServer((incoming, response) => {
    asked++;
    incoming.resume().on('end', () => response.end('ok'));
  }),
);
const target = `http://127.0.0.1:${upstream}`;

const withFastify = fastify();
await withFastify.register(httpProxy, { upstream: target });
await withFastify.listen({ port: 0, host: '127.0.0.1' });

const app = new Hono();
app.onError((_error, context) => context.text('failed', 500));
app.all('*', (context) => proxy(target + context.req.path, { ...context.req }));
const withHono = await new Promise((listening) => {
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => listening(server));
});

const middleware = createServer(express().use(createProxyMiddleware({ target, changeOrigin: true })));
await listen(middleware);

/** The statuses that a client gets, and whether the upstream was asked. */
function post(server, headers) {
  const before = asked;
  const statuses = [];
  return new Promise((done, fail) => {
    const options = { host: '127.0.0.1', port: server.address().port, method: 'POST', path: '/v1/x', agent: false };
    const sent = request({ ...options, headers: { 'content-type': 'text/plain', 'content-length': 2, ...headers } }, (response) => {
      statuses.push(response.statusCode);
      response.resume().on('end', () => done(`${statuses.join(', ')}; upstream ${asked > before ? 'asked' : 'not asked'}`));
    });
    sent.on('information', ({ statusCode }) => statuses.push(statusCode)).on('error', fail).end('hi');
  });
}

const seen = [];
for (const [name, server] of [['fastify', withFastify.server], ['hono', withHono], ['http-proxy-middleware', middleware]]) {
  seen.push(`${name}: ${await post(server, {})}`, `${name}, Expect: ${await post(server, { expect: '100-continue' })}`);
}
console.log(seen.join('\n'));
const expected = [
  'fastify: 200; upstream asked',
  'fastify, Expect: 100, 500; upstream not asked',
  'hono: 200; upstream asked',
  'hono, Expect: 100, 500; upstream not asked',
  'http-proxy-middleware: 200; upstream asked',
  'http-proxy-middleware, Expect: 100, 200; upstream asked',
];
process.exit(expected.every((line, index) => line === seen[index]) ? 0 : 1);
JS
timeout 60 node run.js
