#!/bin/sh
# @effect/ai-google 0.15.0 (JavaScript, effect 3.22.4): the result of a tool goes into `functionResponse.response` as the tool encodes it. For
# a tool whose result is a string, a number or a list (`success: Schema.String`), that is no object, which Google's API requires there
# ("response: object (Struct format)"): a server that checks requests refuses every turn after the call. Tools with a result of
# Schema.Struct are sent well.
#
# Seen: 'string: response is "rain"', 'list: response is ["rain"]', 'struct: response is {"weather":"rain"}'. Exits with 1 when that changes.
# Needs Node.js 20 or later.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @effect/ai-google@0.15.0 @effect/ai@0.37.0 \
  @effect/platform@0.97.2 @effect/experimental@0.61.1 @effect/rpc@0.76.2 effect@3.22.4 >/dev/null
cat > run.js <<'JS'
import { createServer } from 'node:http';
import { Chat, Tool, Toolkit } from '@effect/ai';
import * as GoogleClient from '@effect/ai-google/GoogleClient';
import * as GoogleLanguageModel from '@effect/ai-google/GoogleLanguageModel';
import { FetchHttpClient } from '@effect/platform';
import { Effect, Layer, Redacted, Schema } from 'effect';

const requests = [];
const server = createServer(async (request, response) => {
  const chunks = await request.toArray();
  requests.push(JSON.parse(Buffer.concat(chunks).toString()));
  const isFirst = requests.length === 1;
  const part = isFirst ? { functionCall: { name: 'look', args: { place: 'Bern' } } } : { text: 'It rains.' };
  const candidate = { content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 };
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ candidates: [candidate], usageMetadata, modelVersion: 'gemini-2.5-flash', responseId: 'r' }));
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const client = GoogleClient.layer({ apiKey: Redacted.make('k'), apiUrl: `http://127.0.0.1:${server.address().port}` });
const model = GoogleLanguageModel.layer({ model: 'gemini-2.5-flash' }).pipe(
  Layer.provide(client),
  Layer.provide(FetchHttpClient.layer),
);

/** What the second request has as the result of the tool. */
async function resultOf(success, value) {
  requests.length = 0;
  const kit = Toolkit.make(Tool.make('look', { description: 'Looks.', parameters: { place: Schema.String }, success }));
  const handlers = kit.toLayer({ look: () => Effect.succeed(value) });
  const talk = Effect.gen(function* () {
    const chat = yield* Chat.empty;
    yield* chat.generateText({ prompt: 'How is Bern?', toolkit: kit });
    yield* chat.generateText({ prompt: [], toolkit: kit });
  });
  await Effect.runPromise(talk.pipe(Effect.provide(Layer.merge(model, handlers))));
  const parts = requests[1].contents.flatMap((content) => content.parts);
  return JSON.stringify(parts.find((part) => part.functionResponse).functionResponse.response);
}

const seen = {
  string: await resultOf(Schema.String, 'rain'),
  list: await resultOf(Schema.Array(Schema.String), ['rain']),
  struct: await resultOf(Schema.Struct({ weather: Schema.String }), { weather: 'rain' }),
};
server.close();
for (const [kind, response] of Object.entries(seen)) console.log(`${kind}: response is ${response}`);
const wanted = { string: '"rain"', list: '["rain"]', struct: '{"weather":"rain"}' };
process.exit(JSON.stringify(seen) === JSON.stringify(wanted) ? 0 : 1);
JS
timeout 60 node run.js
