import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BodyOutline } from '#core/gateway/pipeline/exchange.ts';
import { createOutline } from '#core/platform/json-outline/outline.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { readOpening } from '../../../../plugins/format/request/opening.ts';

const user = (text: string) => ({ role: 'user', content: text });
const assistant = (text: string) => ({ role: 'assistant', content: text });

/** The opening of a body that is long enough for an outline, which arrives in pieces of this size. */
function outlined(text: string, size = 65_536): string {
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  const outline = createOutline(pieces);
  if (outline === undefined) throw new Error('it has no outline');
  const body = JSON.parse(outline.text) as JsonObject;
  return readOpening(body, { body, text: outline.text, pieces, uncutBytes: 0 } satisfies BodyOutline);
}

describe('how a conversation begins', () => {
  const growing: readonly [string, JsonObject, JsonObject][] = [
    [
      'Chat Completions',
      { messages: [{ role: 'system', content: 'at 8:00' }, user('a')] },
      { messages: [{ role: 'system', content: 'at 9:00' }, user('a'), assistant('b'), user('c')], tools: [] },
    ],
    [
      'Messages, with its marks of what is cached',
      { system: 's', messages: [user('a')] },
      {
        system: 't',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: {} }] }, assistant('b')],
      },
    ],
    [
      'Responses, whose first turn is a text',
      { instructions: 's', input: 'a' },
      {
        input: [
          { type: 'message', role: 'developer', content: 'd' },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] },
          { type: 'function_call' },
        ],
      },
    ],
    [
      'Gemini, without roles',
      { systemInstruction: { parts: [] }, contents: [{ parts: [{ text: 'a' }] }] },
      { contents: [{ parts: [{ text: 'a' }] }, { role: 'model', parts: [] }] },
    ],
  ];
  it.each(growing)('is the same when it has grown in %s', (_format, first, later) => {
    expect([readOpening(first), readOpening(later)]).toEqual(['a', 'a']);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['the words of the user', { messages: [user('a')] }, { messages: [user('b')] }],
    ['the words alone', { input: 'a' }, { input: 'b' }],
    ['the prompt of a picture', { prompt: 'a' }, { prompt: 'b' }],
    [
      'a picture beside them',
      { messages: [user('a')] },
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'image' }] }] },
    ],
  ])('differs by %s', (_what, one, other) => {
    expect(readOpening(one)).not.toBe(readOpening(other));
  });

  it('is cut at a length', () => {
    expect(readOpening({ input: 'x'.repeat(1_000_000) })).toHaveLength(16_384);
    expect(
      readOpening({ messages: [{ role: 'user', content: Array.from({ length: 100 }, () => 'x'.repeat(1_000)) }] })
        .length,
    ).toBeLessThan(17_000);
  });
});

describe('the beginning of a conversation whose body has become long', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({ maxLength: 300 }),
    fc.constantFrom('', '~cut', `${'x'.repeat(70)}~cut`, '"\\"\\', '\\\\'.repeat(40), 'ß'.repeat(80), '\n'.repeat(70)),
  );
  const content = fc.oneof(
    text,
    fc.array(
      text.map((one) => ({ type: 'text', text: one })),
      { minLength: 1, maxLength: 3 },
    ),
  );

  it('is the same as when it was short, however it is escaped and cut into packets', () => {
    fc.assert(
      fc.property(
        content,
        text,
        text,
        fc.integer({ min: 20, max: 5_000 }),
        fc.constantFrom(0, 1),
        (first, system, later, size, indent) => {
          const before = { role: 'system', content: system };
          const short = { messages: [before, { role: 'user', content: first }] };
          const tools = [
            { type: 'function', function: { name: 'f', description: 'd'.repeat(100), strict: true, n: -1.5e3 } },
          ];
          const long = { model: 'm', tools, messages: [...short.messages, assistant('y'.repeat(1_000)), user(later)] };
          const json = JSON.stringify(long, undefined, indent);
          const escaped = json.replace(
            /[\u0080-\uffff<]/g,
            (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
          );
          for (const body of [json, escaped]) expect(outlined(body, size)).toBe(readOpening(short));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('is only the beginning of its texts where a first message of megabytes is not read', () => {
    const first = { type: 'image', source: { data: 'A'.repeat(1_000_000) } };
    const body = { messages: [{ role: 'user', content: [{ type: 'text', text: 'what is this' }, first] }] };
    expect(outlined(JSON.stringify(body))).toBe('what is this\0image');
  });
});
