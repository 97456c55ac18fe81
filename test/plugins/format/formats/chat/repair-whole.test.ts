import { describe, expect, it } from 'vitest';
import type { QuirkSettings } from '#core/config/catalog/quirks.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { streamEvent } from '../../codec-fixture.ts';
import { chunk, begin, entry, newRepair, wholeOf, choicesOf, head, line } from './repair-fixture.ts';

const whole = (message: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop', ...more }],
  citations: ['https://a.test'],
});
const { index: _index, ...call } = entry(0, 'c1', 'a', '{}');
const choiceIn = (body: JsonObject, quirks: QuirkSettings = {}) =>
  choicesOf(wholeOf(body, newRepair({}, quirks)))[0] ?? {};

describe('a whole answer', () => {
  const contents: JsonObject[] = [{ content: 'a' }, { content: '' }, { content: null }, { content: [] }];
  const others: JsonObject[] = [
    {},
    { role: '' },
    { refusal: null },
    { refusal: 'no' },
    { tool_calls: null },
    { tool_calls: [call] },
    { function_call: {} },
    { reasoning: 'r' },
    { reasoning_details: [{ text: 'r' }] },
    { annotations: [] },
    { audio: { id: 'x' } },
  ];
  const messages = contents.flatMap((content) => others.map((other) => ({ ...content, ...other })));
  const ends = ['stop', 'length', 'content_filter', 'eos', 'tool_calls', 'STOP', '', null];
  const heads: JsonObject[] = [{}, { id: '' }, { object: 'x' }, { created: null }, { model: null }];

  it.each(heads)('a whole answer that is recognized as clean needs no repair: %j', (changed) => {
    for (const message of messages) {
      for (const finish_reason of ends) {
        const body = { ...whole(message, { finish_reason }), ...changed };
        // With this quirk every answer is read in full.
        expect(wholeOf(body)).toEqual(wholeOf(body, newRepair({}, { inline_thinking: true })));
      }
    }
  });

  it('a clean whole answer is returned as the same object', () => {
    for (const clean of [whole({ content: 'a' }), whole({ tool_calls: [call] }, { finish_reason: 'tool_calls' })]) {
      expect(wholeOf(clean)).toBe(clean);
    }
  });

  it('the calls of a whole answer are repaired, and other members kept', () => {
    const given = { function: { name: 'a', arguments: '' }, vendor: 1 };
    const body = wholeOf(whole({ tool_calls: [given, { ...given, id: '' }, call] }));
    expect(body).toMatchObject({ citations: ['https://a.test'], choices: [{ finish_reason: 'tool_calls' }] });
    const { message } = choicesOf(body)[0] ?? {};
    expect((message as JsonObject)['tool_calls']).toEqual([
      { ...call, id: 'call_x_0', vendor: 1 },
      { ...call, id: 'call_x_1', vendor: 1 },
      call,
    ]);
  });

  it('a whole answer gets text, reasoning and a finish reason of the format', () => {
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
      { type: 'text', text: 'a' },
    ];
    const message = { role: 'assistant', content: 'a', reasoning_content: 'Hm' };
    expect(choiceIn(whole({ content: parts }, { finish_reason: 'model_length' }))).toMatchObject({
      message,
      finish_reason: 'length',
    });
    const inline = whole({ content: '<think>Hm</think>a' }, { finish_reason: null });
    expect(choiceIn(inline, { inline_thinking: true })).toMatchObject({ message, finish_reason: 'stop' });
  });

  it('each of several whole answers is repaired', () => {
    const body = { choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }] };
    expect(wholeOf(body, newRepair({ n: 2 }))).toEqual({
      id: 'chatcmpl-x',
      object: 'chat.completion',
      created: 9,
      model: 'asked',
      choices: ['a', 'b'].map((content, index) => ({
        index,
        message: { role: 'assistant', content },
        finish_reason: 'stop',
      })),
    });
  });

  it('arguments that are an object keep the digits of long numbers', () => {
    const given = whole({ tool_calls: [{ ...call, function: { name: 'a', arguments: {} } }] });
    const text = JSON.stringify(given).replace('"arguments":{}', '"arguments":{"id":12345678901234567890}');
    const repairedText = JSON.stringify(newRepair().repairReply(JSON.parse(text) as JsonObject, text));
    expect(repairedText).toContain(String.raw`{\"id\":12345678901234567890}`);
  });

  it('an error, or a body without an answer, stays as it is', () => {
    const body = { error: { message: 'no' }, choices: [] };
    expect(wholeOf(body)).toBe(body);
    const silent = whole({}, { finish_reason: null });
    expect(wholeOf(silent)).toBe(silent);
  });
});

it('a text that the vendor quotes beside the answer is not read as the answer', () => {
  const results = { results: [{ title: 'Rain', content: 'It rains.' }] };
  const event = streamEvent(line(chunk({ executed_tools: [{ type: 'search', search_results: results }] })));
  const repair = newRepair();
  for (const each of [streamEvent(line(begin)), event]) repair.repairEvent(each);
  expect(event.contentDelta).toBeUndefined();
});
