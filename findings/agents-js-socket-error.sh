#!/bin/sh
# @openai/agents 0.20.0 (JavaScript) over a WebSocket: of an `error` event in OpenAI's documented form (status, code, message, Retry-After)
# the caller gets none of these. Every refusal, a rate limit or an unknown model, is the same ModelBehaviorError, which has no cause.
# The same SDK by POST says status, code and message.
#
# Seen: 'socket: OpenAI Responses request ended with unsuccessful terminal state "error".' and 'post: 429 Slow down. rate_limit_exceeded'.
# Exits with 1 when that changes. Needs Node.js 22 or later, whose global WebSocket takes headers.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @openai/agents@0.20.0 zod@4.6.7 ws@8.23.0
cat > run.js <<'JS'
import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents';
import { WebSocketServer } from 'ws';

setTracingDisabled(true);
const error = { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Slow down.', param: null };
const headers = { 'retry-after': '7' };
const server = createServer((_request, response) => {
  response.writeHead(429, { ...headers, 'content-type': 'application/json', 'x-should-retry': 'false' });
  response.end(JSON.stringify({ error }));
});
new WebSocketServer({ server }).on('connection', (socket) =>
  socket.on('message', () => socket.send(JSON.stringify({ type: 'error', status: 429, headers, error: { ...error, headers } }))),
);
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;

async function ask(useResponsesWebSocket) {
  const modelProvider = new OpenAIProvider({ apiKey: 'x', baseURL, useResponses: true, useResponsesWebSocket });
  return new Runner({ modelProvider }).run(new Agent({ name: 'A', model: 'm' }), 'Hello').catch((thrown) => thrown);
}

const [bySocket, byPost] = [await ask(true), await ask(false)];
const whole = inspect(bySocket, { depth: 9, showHidden: true });
const seen = [`socket: ${bySocket.message}`, `post: ${byPost.message} ${byPost.code}`];
console.log(seen.join('\n'));
const isLost = !['rate_limit_exceeded', 'Slow down', '429', 'retry-after'].some((part) => whole.includes(part));
const isExpected =
  seen[0] === 'socket: OpenAI Responses request ended with unsuccessful terminal state "error".' &&
  seen[1] === 'post: 429 Slow down. rate_limit_exceeded';
process.exit(isLost && isExpected ? 0 : 1);
JS
timeout 60 node run.js
