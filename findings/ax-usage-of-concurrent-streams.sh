#!/bin/sh
# @ax-llm/ax 24.0.21 (JavaScript), AxAIAnthropic: two streams at once from one client, and the prompt of one is counted with the tokens of
# the other. Anthropic reports the prompt's tokens in the first event of a stream only; the client keeps them in one place for all streams
# until the last event adds the tokens of the answer. One after the other, both counts are right.
#
# Seen, prompts of 90,000 and of 10 tokens: "in turn: 90000, 10" and "at once: 10, 10". Exits with 1 when that changes. Needs Node.js.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @ax-llm/ax@24.0.21 >/dev/null
cat > run.js <<'JS'
import { createServer } from 'node:http';
import { AxAIAnthropic } from '@ax-llm/ax';

const sizes = { long: 90_000, short: 10 };
/** Resolves when as many streams have begun as are asked for at once. */
let begun;

function eventsFor(size) {
  const usage = { input_tokens: size, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const message = { id: `msg_${size}`, type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage };
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
}

const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const prompt = JSON.stringify(JSON.parse(text).messages);
  const [first, ...others] = eventsFor(prompt.includes('long') ? sizes.long : sizes.short);
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send(first);
  begun.count -= 1;
  if (begun.count === 0) begun.resolve();
  await begun.promise;
  // Both clients have read the first event by then.
  await new Promise((resolve) => setTimeout(resolve, 300));
  others.forEach(send);
  response.end();
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));

const client = new AxAIAnthropic({ apiKey: 'k', config: { model: 'claude-sonnet-4-5' } });
client.setAPIURL(`http://127.0.0.1:${server.address().port}/v1`);

async function promptTokens(content) {
  const stream = await client.chat({ chatPrompt: [{ role: 'user', content }] }, { stream: true });
  let tokens;
  for await (const part of stream) tokens = part.modelUsage?.tokens?.promptTokens ?? tokens;
  return tokens;
}

function expect(count) {
  let resolve;
  const promise = new Promise((resolved) => (resolve = resolved));
  begun = { count, promise, resolve };
}

const inTurn = [];
for (const name of Object.keys(sizes)) {
  expect(1);
  inTurn.push(await promptTokens(name));
}
expect(2);
const atOnce = await Promise.all(Object.keys(sizes).map(promptTokens));
server.close();
console.log(`in turn: ${inTurn.join(', ')}`);
console.log(`at once: ${atOnce.join(', ')}`);
const isRight = (counts) => counts[0] === sizes.long && counts[1] === sizes.short;
process.exit(isRight(inTurn) && atOnce[0] === atOnce[1] ? 0 : 1);
JS
timeout 60 node run.js
