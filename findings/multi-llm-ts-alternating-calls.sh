#!/bin/sh
# multi-llm-ts 5.1.1 (JavaScript), OpenAI's Chat format, streamed: the `index` of a call's pieces is not read; arguments go to the call that
# began last. An answer that announces two calls and then sends the arguments of the first, which the format allows and `index` is for, runs
# the second tool with the arguments of the first, and the first without any. Calls whose pieces come one after the other are read well.
#
# Seen: "one after the other: erase({"place":"Bern"}) keep({})" and "both announced first: erase({}) keep({"place":"Bern"})". Exits with 1
# when that changes. Needs Node.js 20 or later.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts multi-llm-ts@5.1.1 >/dev/null 2>&1
cat > run.js <<'JS'
import { createServer } from 'node:http';
import { igniteModel, Message, Plugin } from 'multi-llm-ts';

const begin = (index, name) => ({ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } });
const input = (index, text) => ({ index, function: { arguments: text } });
const orders = {
  'one after the other': [begin(0, 'erase'), input(0, '{"place":"Bern"}'), begin(1, 'keep'), input(1, '{}')],
  'both announced first': [begin(0, 'erase'), begin(1, 'keep'), input(0, '{"place":"Bern"}')],
};
const server = createServer(async (request, response) => {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
  const isFirst = !body.messages.some(({ role }) => role === 'tool');
  const deltas = isFirst ? orders[body.model].map((call) => ({ tool_calls: [call] })) : [{ content: 'Done.' }];
  const choices = [{ role: 'assistant', content: isFirst ? null : '' }, ...deltas].map((delta) => ({ index: 0, delta, finish_reason: null }));
  choices.push({ index: 0, delta: {}, finish_reason: isFirst ? 'tool_calls' : 'stop' });
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const choice of choices) response.write(`data: ${JSON.stringify({ ...head, choices: [choice] })}\n\n`);
  response.end('data: [DONE]\n\n');
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));

let calls = [];
class Noting extends Plugin {
  constructor(name) {
    super();
    this.name = name;
  }
  isEnabled() { return true; }
  getName() { return this.name; }
  getDescription() { return this.name; }
  getRunningDescription() { return this.name; }
  getPreparationDescription() { return this.name; }
  getParameters() { return [{ name: 'place', type: 'string', description: 'The place', required: false }]; }
  async execute(_context, parameters) {
    calls.push(`${this.name}(${JSON.stringify(parameters)})`);
    return { done: true };
  }
}

console.info = console.debug = () => {};
const log = console.log;
console.log = () => {};
const seen = {};
for (const order of Object.keys(orders)) {
  calls = [];
  const capabilities = { tools: true, vision: false, reasoning: false, caching: false };
  const model = igniteModel('openai', { id: order, name: order, capabilities }, { apiKey: 'k', baseURL: `http://127.0.0.1:${server.address().port}/v1` });
  for (const name of ['erase', 'keep']) model.addPlugin(new Noting(name));
  const thread = [new Message('system', 'Help.'), new Message('user', 'Go.')];
  try {
    for await (const _ of model.generate(thread));
  } catch (error) {
    calls.push(error.message);
  }
  seen[order] = calls.join(' ');
}
server.close();
for (const [order, run] of Object.entries(seen)) log(`${order}: ${run}`);
const wanted = {
  'one after the other': 'erase({"place":"Bern"}) keep({})',
  'both announced first': 'erase({}) keep({"place":"Bern"})',
};
process.exit(JSON.stringify(seen) === JSON.stringify(wanted) ? 0 : 1);
JS
timeout 60 node run.js
