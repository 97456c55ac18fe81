#!/bin/sh
# @arizeai/openinference-instrumentation-openai 4.2.7 (JavaScript, with openai 7.59.0): a streamed Chat answer has no token counts in its span,
# also where the vendor sends them because `stream_options.include_usage` asks for it, and an unset status. A stream that breaks off has no
# span at all; beside the exception that the caller gets and can handle, a promise of the instrumentation is rejected that nobody can, which
# ends a Node.js process that does not listen for `unhandledRejection`. Without the instrumentation there is none. Not streamed, and
# over the Responses API, answers have their counts.
#
# Seen: "whole: 8 tokens, OK", "streamed: no tokens, UNSET", "responses, streamed: 8 tokens, OK", "broken off: APIError, 0 spans, 1 unhandled",
# "broken off, not traced: APIError, 0 spans, 0 unhandled". Exits with 1 when that changes. Needs Node.js 22 or later.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @arizeai/openinference-instrumentation-openai@4.2.7 \
  openai@7.59.0 @opentelemetry/api@1.9.1 @opentelemetry/sdk-trace-node@2.10.0 @opentelemetry/instrumentation@0.222.0
cat > run.js <<'JS'
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import OpenAI from 'openai';

const spans = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
const instrumentation = new OpenAIInstrumentation({ tracerProvider: provider });
let unhandled = 0;
process.on('unhandledRejection', () => unhandled++);

const head = { id: 'c', created: 1, model: 'm' };
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
const choice = (delta, reason = null) => ({ index: 0, delta, logprobs: null, finish_reason: reason });
const chunk = (choices, more = {}) => ({ ...head, object: 'chat.completion.chunk', choices, ...more });
const failure = { error: { message: 'The server had an error.', type: 'server_error', code: null, param: null } };
const answered = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [] };
answered.content.push({ type: 'output_text', text: 'Rain.', annotations: [] });
const counts = { input_tokens: 5, output_tokens: 3, total_tokens: 8 };
const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [answered], usage: { ...counts, ...details } };
const said = choice({ role: 'assistant', content: 'Rain.' });
const streams = {
  chat: [chunk([said]), chunk([choice({}, 'stop')]), chunk([], { usage })],
  broken: [chunk([said]), failure],
  responses: [{ type: 'response.completed', sequence_number: 0, response }],
};

const vendor = createServer(async (request, reply) => {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
  if (body.stream !== true) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Rain.', refusal: null }, logprobs: null, finish_reason: 'stop' }];
    reply.setHeader('content-type', 'application/json').end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
    return;
  }
  const isResponses = request.url.endsWith('/responses');
  const events = streams[isResponses ? 'responses' : body.messages[0].content];
  const lines = events.map((event) => `${isResponses ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
  reply.setHeader('content-type', 'text/event-stream').end(lines.join('') + (isResponses ? '' : 'data: [DONE]\n\n'));
});
await new Promise((listening) => vendor.listen(0, '127.0.0.1', listening));
const client = new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${vendor.address().port}/v1`, maxRetries: 0 });

function chat(content, stream) {
  const options = stream ? { stream, stream_options: { include_usage: true } } : {};
  return client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }], ...options });
}

/** Reads an answer to its end. @returns the name of the exception */
async function read(ask) {
  spans.reset();
  unhandled = 0;
  let failed;
  try {
    const answer = await ask();
    if (answer[Symbol.asyncIterator]) for await (const _event of answer);
  } catch (error) {
    failed = error.constructor.name;
  }
  await sleep(300);
  return failed;
}

async function counted(ask) {
  await read(ask);
  const [{ attributes, status }] = spans.getFinishedSpans();
  return `${attributes['llm.token_count.total'] ?? 'no'} tokens, ${['UNSET', 'OK', 'ERROR'][status.code]}`;
}

const breakOff = async () => `${await read(() => chat('broken', true))}, ${spans.getFinishedSpans().length} spans, ${unhandled} unhandled`;
const seen = [`broken off, not traced: ${await breakOff()}`];
instrumentation.manuallyInstrument(OpenAI);
seen.push(
  `whole: ${await counted(() => chat('chat', false))}`,
  `streamed: ${await counted(() => chat('chat', true))}`,
  `responses, streamed: ${await counted(() => client.responses.create({ model: 'm', input: 'chat', stream: true }))}`,
  `broken off: ${await breakOff()}`,
);
console.log(seen.join('\n'));
const expected = [
  'broken off, not traced: APIError, 0 spans, 0 unhandled',
  'whole: 8 tokens, OK',
  'streamed: no tokens, UNSET',
  'responses, streamed: 8 tokens, OK',
  'broken off: APIError, 0 spans, 1 unhandled',
];
process.exit(expected.every((line, index) => line === seen[index]) ? 0 : 1);
JS
timeout 60 node run.js
