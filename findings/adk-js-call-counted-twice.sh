#!/bin/sh
# @google/adk 2.0.0 (JavaScript), streamed (StreamingMode.SSE): an answer of Gemini that calls a tool makes two events that are not partial and
# have its counts: one with the call, and one behind the result of the tool, without content or with an empty text. Who adds up the
# `usageMetadata` of the events that are not partial, as one does of answers that are not streamed, counts each call twice; the events
# have no id of the answer to tell. The tool runs before the answer has ended, so that the second event comes after its result.
#
# Seen, where Google counts 8 tokens for each of two answers: "whole: 16 tokens: call 8, result, text 8", "streamed: 24 tokens: call 8, result,
# empty 8, text 8", the same where the call and the end come in one chunk. Exits with 1 when that changes. Needs Node.js 20 or later.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts @google/adk@2.0.0 zod@4.6.7 >/dev/null
cat > run.js <<'JS'
import { createServer } from 'node:http';
import { FunctionTool, Gemini, InMemoryRunner, LlmAgent, LogLevel, setLogLevel, StreamingMode } from '@google/adk';
import { z } from 'zod';

setLogLevel(LogLevel.ERROR);
const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };
const piece = (parts, finishReason) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata,
  modelVersion: 'm',
  responseId: 'r',
});
const call = { functionCall: { name: 'look', args: { place: 'Bern' } } };

const google = createServer(async (request, response) => {
  const { contents } = JSON.parse(Buffer.concat(await request.toArray()).toString());
  const isStreamed = request.url.includes('stream');
  const isSplit = isStreamed && contents[0].parts[0].text === 'split';
  const calls = isSplit ? [piece([call]), piece([{ text: '' }], 'STOP')] : [piece([call], 'STOP')];
  const pieces = contents.length > 1 ? [piece([{ text: 'Rain.' }], 'STOP')] : calls;
  response.setHeader('content-type', isStreamed ? 'text/event-stream' : 'application/json');
  response.end(isStreamed ? pieces.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('') : JSON.stringify(pieces[0]));
});
await new Promise((listening) => google.listen(0, '127.0.0.1', listening));
process.env.GOOGLE_GEMINI_BASE_URL = `http://127.0.0.1:${google.address().port}`;

const parameters = z.object({ place: z.string() });
const look = new FunctionTool({ name: 'look', description: 'Looks.', parameters, execute: async () => ({ weather: 'rain' }) });

function nameOf({ content }) {
  const parts = content?.parts ?? [];
  if (parts.some((part) => part.functionCall)) return 'call';
  if (parts.some((part) => part.functionResponse)) return 'result';
  return parts.some((part) => part.text) ? 'text' : 'empty';
}

async function counted(text, streamingMode) {
  const model = new Gemini({ model: 'gemini-2.5-flash', apiKey: 'k' });
  const runner = new InMemoryRunner({ agent: new LlmAgent({ name: 'agent', model, tools: [look] }), appName: 'app' });
  const { id } = await runner.sessionService.createSession({ appName: 'app', userId: 'u' });
  const newMessage = { role: 'user', parts: [{ text }] };
  const events = [];
  for await (const event of runner.runAsync({ userId: 'u', sessionId: id, newMessage, runConfig: { streamingMode } })) {
    if (!event.partial) events.push(event);
  }
  const tokens = events.map(({ usageMetadata: counts }) => counts?.totalTokenCount ?? 0);
  const list = events.map((event, index) => `${nameOf(event)} ${tokens[index] || ''}`.trim()).join(', ');
  return `${tokens.reduce((sum, count) => sum + count, 0)} tokens: ${list}`;
}

const seen = [
  `whole: ${await counted('whole')}`,
  `streamed: ${await counted('split', StreamingMode.SSE)}`,
  `streamed in one chunk: ${await counted('whole', StreamingMode.SSE)}`,
];
console.log(seen.join('\n'));
const expected = [
  'whole: 16 tokens: call 8, result, text 8',
  'streamed: 24 tokens: call 8, result, empty 8, text 8',
  'streamed in one chunk: 24 tokens: call 8, result, empty 8, text 8',
];
process.exit(expected.every((line, index) => line === seen[index]) ? 0 : 1);
JS
timeout 60 node run.js
