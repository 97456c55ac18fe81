#!/bin/sh
# @langchain/google-genai 2.3.2 (JavaScript): Gemini repeats the counts of the prompt in every chunk of a stream. The class takes the
# difference of the prompt's and of the answer's tokens from chunk to chunk, but adds up the cached ones: of a prompt of 120 tokens, 100 of
# them cached, four chunks make 400 cached tokens. A price made of them is wrong by more the longer the answer is, down to below zero.
#
# Seen: "whole: input 120, cached 100", "one chunk: input 120, cached 100", "four chunks: input 120, cached 400".
# Exits with 1 when that changes. Needs Node.js.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @langchain/google-genai@2.3.2 @langchain/core@1.4.0 >/dev/null
cat > run.js <<'JS'
import { createServer } from 'node:http';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';

/** One chunk for each text, with the counts so far. */
function chunksOf(texts) {
  return texts.map((text, index) => {
    const isLast = index === texts.length - 1;
    const written = index + 1;
    return {
      candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...(isLast && { finishReason: 'STOP' }) }],
      usageMetadata: {
        promptTokenCount: 120,
        cachedContentTokenCount: 100,
        candidatesTokenCount: written,
        totalTokenCount: 120 + written,
      },
    };
  });
}

const texts = { one: ['One two three four'], four: ['One', ' two', ' three', ' four'] };
const server = createServer(async (request, response) => {
  for await (const _ of request);
  if (!request.url.includes(':streamGenerateContent')) {
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify(chunksOf(texts.one)[0]));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunks = chunksOf(request.url.startsWith('/one') ? texts.one : texts.four);
  response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(''));
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));

function model(path) {
  const baseUrl = `http://127.0.0.1:${server.address().port}/${path}`;
  return new ChatGoogleGenerativeAI({ model: 'gemini-2.5-flash', apiKey: 'k', baseUrl, maxRetries: 0 });
}

const countsOf = ({ usage_metadata: usage }) => `input ${usage.input_tokens}, cached ${usage.input_token_details.cache_read}`;

async function stream(path) {
  let message;
  for await (const chunk of await model(path).stream('Count.')) message = message === undefined ? chunk : message.concat(chunk);
  return countsOf(message);
}

const seen = [
  `whole: ${countsOf(await model('one').invoke('Count.'))}`,
  `one chunk: ${await stream('one')}`,
  `four chunks: ${await stream('four')}`,
];
server.close();
console.log(seen.join('\n'));
const wanted = ['whole: input 120, cached 100', 'one chunk: input 120, cached 100', 'four chunks: input 120, cached 400'];
process.exit(seen.join() === wanted.join() ? 0 : 1);
JS
timeout 60 node run.js
