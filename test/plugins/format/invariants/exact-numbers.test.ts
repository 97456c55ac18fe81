import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { createReader, CallTranslator } from '../../../../plugins/format/routes/translation/translator.ts';
import { type TextFormat, conversational } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { exchange, formats, requestOf } from './fixture.ts';

const id = '12345678901234567890';
const input = `{"id":${id},"ratio":1.0}`;
const text = JSON.stringify(input);
const route = routeTo(upstreamAt('http://127.0.0.1:1/v1'));
const pairs = formats.flatMap((client) =>
  formats.filter((upstream) => upstream !== client).map((upstream) => [client, upstream] as const),
);

/** A whole answer that calls a tool, as each upstream writes it. */
const answers: Readonly<Record<TextFormat, string>> = {
  chat: `{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"c","type":"function","function":{"name":"now","arguments":${text}}}]}}]}`,
  responses: `{"id":"r","object":"response","status":"completed","output":[{"type":"function_call","id":"fc","call_id":"c","name":"now","arguments":${text}}]}`,
  messages: `{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"c","name":"now","input":${input}}],"stop_reason":"tool_use"}`,
  gemini: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"now","args":${input}}}]},"finishReason":"STOP"}]}`,
};

/** The next request of a client, with that call in its history. */
const histories: Readonly<Record<TextFormat, string>> = {
  chat: `{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"now","arguments":${text}}}]},{"role":"tool","tool_call_id":"c","content":"x"}]}`,
  responses: `{"model":"m","input":[{"role":"user","content":"Hi"},{"type":"function_call","call_id":"c","name":"now","arguments":${text}},{"type":"function_call_output","call_id":"c","output":"x"}]}`,
  messages: `{"model":"m","max_tokens":9,"temperature":0.50000000000000000001,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"now","input":${input}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]}]}`,
  gemini: `{"contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"functionCall":{"name":"now","args":${input}}}]},{"role":"user","parts":[{"functionResponse":{"name":"now","response":{"result":${id}}}}]}],"generationConfig":{"temperature":0.50000000000000000001}}`,
};

/** The request to an upstream, as it travels. */
function sent(client: TextFormat, upstream: TextFormat): string {
  const body = histories[client];
  const request = requestOf(client, JSON.parse(body) as JsonObject, body);
  return String(new CallTranslator(exchange, request).translate(route, conversational[upstream]).request.body);
}

describe.each(pairs)('%s from %s', (client, upstream) => {
  it('a number with more digits than a double has keeps them in a whole answer', () => {
    const got = createReader(exchange, requestOf(client), route, conversational[upstream]).whole(
      Buffer.from(answers[upstream]),
    );
    expect(got.body.toString()).toContain(`:${id},`);
  });

  it('a number with more digits than a double has keeps them from a whole answer to a stream', () => {
    const reader = createReader(exchange, requestOf(client), route, conversational[upstream]);
    expect(reader.convert(Buffer.from(answers[upstream]), false).body.toString()).toContain(`:${id},`);
  });

  it('a number with more digits than a double has keeps them in the history', () => {
    expect(sent(client, upstream)).toContain(`:${id},`);
  });
});

it.each(['chat', 'responses', 'messages'] as const)(
  'a Gemini result that is a number with more digits than a double has keeps them for %s',
  (to) => {
    expect(sent('gemini', to)).toContain(`"${id}"`);
  },
);

it.each(['messages', 'gemini'] as const)('a setting of %s with as many digits stays a number', (client) => {
  expect(JSON.parse(sent(client, 'chat'))).toMatchObject({ temperature: 0.5 });
});
