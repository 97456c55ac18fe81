import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { conversational, type TextFormat, textFormats } from '../../../support/formats.ts';
import { decodeWith, encodeWith, says } from '../codec-fixture.ts';
import { eventsOf, readWhole, settle, streamOf, wholeOf } from '../invariants/fixture.ts';

const { chat, gemini, messages, responses } = conversational;
const hi = { role: 'user', content: 'Hi' };

/** A client's request as a route gets it. */
function carried(client: TextFormat, body: JsonObject, upstream: TextFormat, profile = {}) {
  const { conversation } = decodeWith(conversational[client].client.text, body);
  return encodeWith(conversational[upstream], conversation, { profile });
}

describe('a client that wants images', () => {
  const asked = {
    contents: [{ parts: [{ text: 'Draw.' }] }],
    generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
  };

  it('of Chat has them of Gemini', () => {
    const { body } = carried('chat', { messages: [hi], modalities: ['image', 'text'] }, 'gemini');
    expect(body['generationConfig']).toEqual({ responseModalities: ['TEXT', 'IMAGE'] });
  });

  it('of Gemini has them of OpenRouter', () => {
    const { body, notes } = carried('gemini', asked, 'chat', { quirks: { reasoning: 'openrouter' } });
    expect(body['modalities']).toEqual(['image', 'text']);
    expect(notes).toEqual([]);
  });

  it.each(['chat', 'responses', 'messages'] as const)('gets a note that %s has none', (upstream) => {
    const { body, notes } = carried('gemini', asked, upstream);
    expect(body['modalities']).toBeUndefined();
    expect(notes).toContain('dropped image output');
  });
});

it('an answer of the type text/x.enum chooses among its words, by an instruction', () => {
  const generationConfig = {
    responseMimeType: 'text/x.enum',
    responseSchema: { type: 'STRING', enum: ['red', 'blue'] },
  };
  const request = { contents: [{ parts: [{ text: 'Sky?' }] }], generationConfig };
  const { conversation, notes } = decodeWith(gemini.client.text, request);
  expect(conversation.instructions).toEqual(['Answer with exactly one of these values and nothing else: red, blue']);
  expect(notes).toEqual(['approximated responseMimeType text/x.enum as instruction']);
});

it('a Chat client’s cache of an hour is one of Anthropic’s', () => {
  const part = { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral', ttl: '1h' } };
  const profile = { quirks: { automatic_caching: true } };
  const cached = (content: JsonObject[]) =>
    carried('chat', { messages: [{ role: 'user', content }] }, 'messages', profile).body['cache_control'];
  expect(cached([part])).toEqual({ type: 'ephemeral', ttl: '1h' });
  expect(cached([{ type: 'text', text: 'Long.' }])).toEqual({ type: 'ephemeral' });
});

describe('a prefilled answer', () => {
  const items = [says('user', 'Name?'), says('assistant', 'It is')];

  it('is noted towards OpenAI, whose models do not continue it', () => {
    const note = 'approximated prefilled answer as an earlier one';
    expect(encodeWith(responses, { items }, {}).notes).toContain(note);
    expect(encodeWith(chat, { items }, { profile: { quirks: { betas: true } } }).notes).toContain(note);
  });

  it('is continued by others', () => {
    for (const format of [chat, messages, gemini]) expect(encodeWith(format, { items }, {}).notes).toEqual([]);
  });
});

describe('the service tier that served', () => {
  const served: Readonly<Partial<Record<TextFormat, (tier: string) => JsonObject>>> = {
    chat: (service_tier) => ({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }], service_tier }),
    responses: (service_tier) => ({
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }],
      service_tier,
    }),
    messages: (service_tier) => ({
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1, service_tier },
    }),
  };

  it.each(['chat', 'responses', 'messages'] as const)(
    'of %s is in answers of all formats that have one',
    (upstream) => {
      for (const [tier, known] of [
        ['priority', 'priority'],
        [upstream === 'messages' ? 'standard' : 'default', 'default'],
      ] as const) {
        const reply = readWhole(upstream, served[upstream]?.(tier) ?? {});
        expect(wholeOf('chat', reply)['service_tier']).toBe(known);
        expect(wholeOf('responses', reply)['service_tier']).toBe(known);
        expect(wholeOf('messages', reply)['usage']).toMatchObject({
          service_tier: known === 'default' ? 'standard' : known,
        });
      }
    },
  );

  it('is in the first event for clients of Messages, which have no other place for it', () => {
    const decoder = conversational.chat.text.createDecoder();
    const chunk = { choices: [{ delta: { content: 'Hi' } }], service_tier: 'priority' };
    const { events } = settle([
      ...decoder.readEvent(undefined, JSON.stringify(chunk)),
      { type: 'finish', reason: 'stop' },
      { type: 'end' },
    ]);
    const [first] = eventsOf(streamOf('messages', events));
    expect(first?.data).toContain('"service_tier":"priority"');
  });

  it('is left out where it is not known', () => {
    const reply = readWhole('chat', { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] });
    expect(textFormats.map((format) => JSON.stringify(wholeOf(format, reply))).join('')).not.toContain('priority');
    expect(wholeOf('chat', reply)['service_tier']).toBeUndefined();
  });
});
