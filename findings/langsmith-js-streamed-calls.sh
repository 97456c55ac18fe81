#!/bin/sh
# langsmith 0.10.5 (JavaScript), wrapOpenAI around openai 7.59.0: a streamed Chat answer with two tool calls is recorded as one, whose name and
# arguments are those of both joined (`looklook`, two objects of JSON without anything between them), because the `index` of the pieces is
# not read. Evaluations, datasets and replays that are made of such runs have calls that no model has made. The refusal of a streamed
# answer is not recorded at all. The same answers that are not streamed are recorded well, and the caller gets all of it either way.
#
# Seen: "two calls, whole: look {"place":"Bern"}, look {"place":"Oslo"}", "two calls, streamed: looklook {"place":"Bern"}{"place":"Oslo"}",
# "refusal, whole: No.", "refusal, streamed: undefined". Exits with 1 when that changes. Needs Node.js 22 or later.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts langsmith@0.10.5 openai@7.59.0
cat > run.js <<'JS'
import { createServer } from 'node:http';
import { Client } from 'langsmith';
import { wrapOpenAI } from 'langsmith/wrappers';
import OpenAI from 'openai';

const head = { id: 'chatcmpl-1', created: 1, model: 'm' };
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
const call = (id, place) => ({ id, type: 'function', function: { name: 'look', arguments: JSON.stringify({ place }) } });
const messages = {
  'two calls': { role: 'assistant', content: null, tool_calls: [call('call_1', 'Bern'), call('call_2', 'Oslo')] },
  refusal: { role: 'assistant', content: null, refusal: 'No.' },
};

/** A call begins with its id and name, and its arguments follow in pieces of their own, as from OpenAI. */
function* deltasOf({ tool_calls: calls = [], refusal }) {
  yield { role: 'assistant', content: null };
  if (refusal !== undefined) yield { refusal };
  for (const [index, { function: { name, arguments: text }, ...rest }] of calls.entries()) {
    yield { tool_calls: [{ index, ...rest, function: { name, arguments: '' } }] };
    yield { tool_calls: [{ index, function: { arguments: text } }] };
  }
}

const vendor = createServer(async (request, response) => {
  const { messages: [{ content }], stream } = JSON.parse(Buffer.concat(await request.toArray()).toString());
  const message = messages[content];
  const reason = message.tool_calls === undefined ? 'stop' : 'tool_calls';
  if (stream !== true) {
    response.setHeader('content-type', 'application/json');
    const choices = [{ index: 0, message, logprobs: null, finish_reason: reason }];
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
    return;
  }
  response.setHeader('content-type', 'text/event-stream');
  const write = (delta, finish = null) => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices })}\n\n`);
  };
  for (const delta of deltasOf(message)) write(delta);
  write({}, reason);
  response.end('data: [DONE]\n\n');
});
await new Promise((listening) => vendor.listen(0, '127.0.0.1', listening));

/** Keeps what would be sent to LangSmith. */
class Recorder extends Client {
  runs = [];
  async createRun() {}
  async updateRun(_id, run) {
    this.runs.push(run);
  }
}
const recorder = new Recorder({ apiUrl: 'http://127.0.0.1:1', apiKey: 'k' });
const options = { apiKey: 'k', baseURL: `http://127.0.0.1:${vendor.address().port}/v1`, maxRetries: 0 };
const openai = wrapOpenAI(new OpenAI(options), { client: recorder, tracingEnabled: true });

async function recorded(content, stream) {
  recorder.runs.length = 0;
  const answer = await openai.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }], stream });
  if (stream) for await (const _chunk of answer);
  await recorder.awaitPendingTraceBatches();
  for (let tries = 0; recorder.runs.length === 0 && tries < 100; tries++) await new Promise((next) => setTimeout(next, 20));
  const [{ message }] = recorder.runs.at(-1).outputs.choices;
  if (content === 'refusal') return String(message.refusal);
  return message.tool_calls.map(({ function: { name, arguments: text } }) => `${name} ${text}`).join(', ');
}

const seen = [];
for (const content of Object.keys(messages)) {
  seen.push(`${content}, whole: ${await recorded(content, false)}`, `${content}, streamed: ${await recorded(content, true)}`);
}
console.log(seen.join('\n'));
const expected = [
  'two calls, whole: look {"place":"Bern"}, look {"place":"Oslo"}',
  'two calls, streamed: looklook {"place":"Bern"}{"place":"Oslo"}',
  'refusal, whole: No.',
  'refusal, streamed: undefined',
];
process.exit(expected.every((line, index) => line === seen[index]) ? 0 : 1);
JS
LANGSMITH_TRACING=true timeout 60 node run.js
