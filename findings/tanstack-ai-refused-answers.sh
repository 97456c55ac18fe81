#!/bin/sh
# @tanstack/ai 0.58.0 (JavaScript, with ai-anthropic 0.18.11, ai-gemini 0.32.0 and ai-openai 0.23.1): an answer that the vendor stopped by
# its policy is a finished one at two vendors of three. Claude's `refusal` and Gemini's `SAFETY` end with the finish reason "stop", and
# chat() returns the text so far as the answer; by OpenAI's Responses (`content_filter`) it throws. An answer that the limit of tokens cut
# off throws at all three.
#
# Seen: 'claude refused: "First, take" stop', 'gemini refused: "First, take" stop', "openai refused: thrown", and "thrown" for the limit.
# Exits with 1 when that changes. Needs Node.js.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @tanstack/ai@0.58.0 @tanstack/ai-anthropic@0.18.11 @tanstack/ai-gemini@0.32.0 \
  @tanstack/ai-openai@0.23.1 zod@4.6.7 >/dev/null
cat > run.js <<'JS'
import { createServer } from 'node:http';
import { chat } from '@tanstack/ai';
import { createAnthropicChat } from '@tanstack/ai-anthropic';
import { createGeminiChat } from '@tanstack/ai-gemini';
import { createOpenaiChat } from '@tanstack/ai-openai';

const text = 'First, take';

function claude(isRefused) {
  const usage = { input_tokens: 5, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage };
  const stop_reason = isRefused ? 'refusal' : 'max_tokens';
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
}

function gemini(isRefused) {
  const content = { role: 'model', parts: [{ text }] };
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 5, totalTokenCount: 10 };
  return [{ candidates: [{ content, finishReason: isRefused ? 'SAFETY' : 'MAX_TOKENS', index: 0 }], usageMetadata }];
}

function openai(isRefused) {
  const content = [{ type: 'output_text', text, annotations: [] }];
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'incomplete', content };
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [], error: null };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const incomplete_details = { reason: isRefused ? 'content_filter' : 'max_output_tokens' };
  const usage = { input_tokens: 5, output_tokens: 5, total_tokens: 10 };
  return [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.output_text.delta', ...place, delta: text, logprobs: [] },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.incomplete', response: { ...response, status: 'incomplete', incomplete_details, output: [item], usage } },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
}

const vendors = { claude, gemini, openai };
const server = createServer(async (request, response) => {
  for await (const _ of request);
  const [, kind, vendor] = request.url.split('/');
  const events = vendors[vendor](kind === 'refused');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(events.map((event) => `${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`).join(''));
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));

function adapter(kind, vendor) {
  const baseURL = `http://127.0.0.1:${server.address().port}/${kind}/${vendor}`;
  if (vendor === 'claude') return createAnthropicChat('claude-sonnet-4-5', 'k', { baseURL });
  if (vendor === 'gemini') return createGeminiChat('gemini-2.5-flash', 'k', { httpOptions: { baseUrl: baseURL } });
  return createOpenaiChat('gpt-5', 'k', { baseURL: `${baseURL}/v1` });
}

async function ask(kind, vendor) {
  const options = { adapter: adapter(kind, vendor), messages: [{ role: 'user', content: 'Go.' }], debug: false };
  const whole = await chat({ ...options, stream: false }).catch(() => undefined);
  if (whole === undefined) return 'thrown';
  let reason;
  for await (const event of chat(options)) reason = event.metadata?.tanstack?.finishReason ?? event.finishReason ?? reason;
  return `${JSON.stringify(whole)} ${reason}`;
}

const seen = [];
for (const kind of ['refused', 'limited'])
  for (const vendor of Object.keys(vendors)) seen.push(`${vendor} ${kind}: ${await ask(kind, vendor)}`);
server.close();
server.closeAllConnections();
console.log(seen.join('\n'));
const wanted = [
  'claude refused: "First, take" stop',
  'gemini refused: "First, take" stop',
  'openai refused: thrown',
  'claude limited: thrown',
  'gemini limited: thrown',
  'openai limited: thrown',
];
process.exit(seen.join() === wanted.join() ? 0 : 1);
JS
timeout 60 node run.js
