#!/bin/sh
# @langchain/google-genai 2.3.2 (JavaScript, on @google/generative-ai 0.24.1): when the connection of a stream breaks, the caller gets an
# exception, and a second promise is rejected that nobody can handle: that of `response`, which the SDK makes beside `stream`, and LangChain
# does not use. Node.js ends a process on it, with all of its other requests, unless it listens for `unhandledRejection`.
#
# Seen: "raised: [GoogleGenerativeAI Error]: Error reading from the stream, unhandled: 1". Exits with 1 when that changes. Needs Node.js.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @langchain/google-genai@2.3.2 @langchain/core@1.4.0 >/dev/null
cat > run.js <<'JS'
import { createServer } from 'node:http';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';

const chunk = { candidates: [{ content: { role: 'model', parts: [{ text: 'Half of' }] }, index: 0 }] };
const server = createServer(async (request, response) => {
  for await (const _ of request);
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(chunk)}\r\n\r\n`);
  setTimeout(() => response.destroy(), 100);
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));

let unhandled = 0;
process.on('unhandledRejection', () => unhandled++);
const baseUrl = `http://127.0.0.1:${server.address().port}`;
const model = new ChatGoogleGenerativeAI({ model: 'gemini-2.5-flash', apiKey: 'k', baseUrl, maxRetries: 0 });
let raised = 'nothing';
try {
  for await (const _ of await model.stream('Hello'));
} catch (error) {
  raised = error.message;
}
await new Promise((resolve) => setTimeout(resolve, 100));
server.close();
const seen = `raised: ${raised}, unhandled: ${unhandled}`;
console.log(seen);
process.exit(seen === 'raised: [GoogleGenerativeAI Error]: Error reading from the stream, unhandled: 1' ? 0 : 1);
JS
timeout 60 node run.js
