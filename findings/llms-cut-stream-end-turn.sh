#!/bin/sh
# @musistudio/llms 1.0.53, the library of claude-code-router, serving Messages before a Chat Completions vendor: a stream that the vendor breaks
# off, or reports an error in, ends as a whole answer, with `stop_reason` `end_turn` and `message_stop`. The error is an event before
# that, whose words are in `message` in place of `error`, where no reader of Messages looks for them.
#
# Seen: "broken off: text_delta, message_delta end_turn, message_stop" and "error: text_delta, error (message), message_delta end_turn,
# message_stop". Exits with 1 when that changes. Needs node and npm.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --save-exact @musistudio/llms@1.0.53
cat > run.cjs <<'JS'
const { once } = require('node:events');
const { createServer } = require('node:http');

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const begin = { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: 'The first' }, finish_reason: null }] };
const failure = { error: { message: 'The server had an error', type: 'server_error', param: null, code: null } };

async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

async function freePort() {
  const server = createServer();
  const port = await listen(server);
  server.close();
  return port;
}

const vendor = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${JSON.stringify(begin)}\n\n`);
  response.end(body.includes('error, please') ? `data: ${JSON.stringify(failure)}\n\n` : '');
});

function nameOf({ type, delta, message }) {
  if (type === 'content_block_delta') return delta.type;
  if (type === 'message_delta') return `${type} ${delta.stop_reason}`;
  return type === 'error' && message !== undefined ? 'error (message)' : type;
}

async function ask(url, content) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ model: 'vendor,m', max_tokens: 50, stream: true, messages: [{ role: 'user', content }] }),
    signal: AbortSignal.timeout(20_000),
  });
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  const isFrame = /^(message_start|content_block_(start|stop))$/;
  return lines.map((line) => nameOf(JSON.parse(line.slice(6)))).filter((name) => !isFrame.test(name)).join(', ');
}

async function main() {
  const base = `http://127.0.0.1:${await listen(vendor)}/v1/chat/completions`;
  const PORT = await freePort();
  const { default: Server } = require('@musistudio/llms');
  const providers = [{ name: 'vendor', api_base_url: base, api_key: 'k', models: ['m'] }];
  const initialConfig = { providers, HOST: '127.0.0.1', PORT };
  await new Server({ useJsonFile: false, initialConfig, logger: false }).start();
  const url = `http://127.0.0.1:${PORT}/v1/messages`;
  const seen = [await ask(url, 'Go.'), await ask(url, 'An error, please.')];
  console.log(`broken off: ${seen[0]}\nerror: ${seen[1]}`);
  const expected = [
    'text_delta, message_delta end_turn, message_stop',
    'text_delta, error (message), message_delta end_turn, message_stop',
  ];
  process.exit(JSON.stringify(seen) === JSON.stringify(expected) ? 0 : 1);
}

void main();
JS
timeout 90 node run.cjs 2>log | grep -E '^(broken off|error): ' >seen || { status=$?; cat seen; tail -5 log; exit $status; }
cat seen
grep -qx 'broken off: text_delta, message_delta end_turn, message_stop' seen
grep -qx 'error: text_delta, error (message), message_delta end_turn, message_stop' seen
