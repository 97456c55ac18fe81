#!/bin/sh
# @llamaindex/openai 0.4.23 (TypeScript), OpenAIResponses: every event of a stream becomes a chunk with the delta of the last text event,
# also those that have no text. The four events behind the text of an ordinary answer repeat its last piece four times, and those of a call
# behind a text once each. Joined, `{"ok":true}` is no JSON any more. The same answer is right when it is not streamed.
#
# Seen: whole "Hello there", streamed "Hello there there there there there".
# Exits with 1 when that changes. Needs Node.js.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @llamaindex/openai@0.4.23 @llamaindex/core@0.6.23 @llamaindex/env@0.1.31 >/dev/null
cat > run.js <<'JS'
import { createServer } from 'node:http';
import { OpenAIResponses } from '@llamaindex/openai';

const part = (text) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const message = (text) => ({ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part(text)] });
const usage = {
  input_tokens: 5,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 7,
};

function responseOf(status, output) {
  return { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-4o', status, output, error: null, incomplete_details: null, usage };
}

/** The events that OpenAI sends for an answer of one text. */
function eventsOf(pieces) {
  const text = pieces.join('');
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  return [
    { type: 'response.created', response: responseOf('in_progress', []) },
    { type: 'response.output_item.added', output_index: 0, item: { ...message(''), status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...place, part: part('') },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part: part(text) },
    { type: 'response.output_item.done', output_index: 0, item: message(text) },
    { type: 'response.completed', response: responseOf('completed', [message(text)]) },
  ];
}

const pieces = ['Hello', ' there'];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (!JSON.parse(body).stream) {
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify(responseOf('completed', [message(pieces.join(''))])));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = eventsOf(pieces).map((event, sequence_number) => ({ ...event, sequence_number }));
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));

const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const llm = new OpenAIResponses({ model: 'gpt-4o', apiKey: 'k', baseURL, additionalSessionOptions: { baseURL } });
const messages = [{ role: 'user', content: 'Hi.' }];
const whole = await llm.chat({ messages });
const { content } = whole.message;
let streamed = '';
for await (const { delta } of await llm.chat({ messages, stream: true })) streamed += delta;
server.closeAllConnections();
server.close();
const seen = [typeof content === 'string' ? content : content.map(({ text }) => text).join(''), streamed];
console.log(`whole: ${seen[0]}\nstreamed: ${seen[1]}`);
process.exit(seen[0] === 'Hello there' && seen[1] === 'Hello there there there there there' ? 0 : 1);
JS
timeout 60 node run.js
