import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { UsageMeter } from '../../../../plugins/format/canonical/usage-meter.ts';
import { streamEvent } from '../codec-fixture.ts';

const event = (data: object): StreamEvent =>
  streamEvent(`data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'm', created: 1, ...data })}\n\n`);
const chatDelta = (delta: object) => event({ object: 'chat.completion.chunk', choices: [{ index: 0, delta }] });

/** Each writes a piece of text as a delta of its format. */
const deltas = {
  chat: (content: string) => chatDelta({ content }),
  reasoning: (reasoning_content: string) => chatDelta({ reasoning_content }),
  calls: (text: string) => chatDelta({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
  messages: (text: string) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  responses: (delta: string) => event({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta }),
  gemini: (text: string) => event({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] } }] }),
};
const text = 'The quick brown fox jumps over the lazy dog, again and again. '.repeat(40);

describe('a stream', () => {
  describe.each(Object.entries(deltas))('of %s', (_format, delta) => {
    it.each([1, 3, 20, 500, text.length])('in pieces of %d characters has about a token for four of them', (size) => {
      const meter = new UsageMeter({ body: {} });
      for (let begin = 0; begin < text.length; begin += size) meter.addDelta(delta(text.slice(begin, begin + size)));
      expect(meter.output).toBeGreaterThan(text.length / 4 / 1.1);
      expect(meter.output).toBeLessThan((text.length / 4) * 1.1);
    });
  });

  it('a stream whose first chunk has only the role is measured by the later ones', () => {
    const meter = new UsageMeter({ body: {} });
    meter.addDelta(chatDelta({ role: 'assistant', content: '' }));
    for (let piece = 0; piece < 100; piece++) meter.addDelta(deltas.chat('word'));
    expect(meter.output).toBe(100);
  });

  it('deltas that another reader has parsed count exactly, whatever their kind', () => {
    const meter = new UsageMeter({ body: {} });
    for (const kind of ['chat', 'calls', 'reasoning', 'chat'] as const)
      for (let piece = 0; piece < 100; piece++) {
        const parsedEvent = deltas[kind]('word');
        parsedEvent.parse();
        meter.addDelta(parsedEvent);
      }
    expect(meter.output).toBe(400);
  });

  it('deltas whose content is known are not parsed', () => {
    const meter = new UsageMeter({ body: {} });
    for (let piece = 0; piece < 100; piece++) {
      const known = streamEvent('data: {"choices":[]}\n\n');
      known.contentDelta = { text: 'word', reasoning: '', input: { key: 0, text: 'more' } };
      meter.addDelta(known);
      expect(known.isParsed).toBe(false);
    }
    expect(meter.output).toBe(200);
  });

  it('a text after its reasoning is measured again, because its deltas are shorter', () => {
    const meter = new UsageMeter({ body: {} });
    for (let piece = 0; piece < 100; piece++) meter.addDelta(deltas.reasoning('word'));
    for (let piece = 0; piece < 100; piece++) meter.addDelta(deltas.chat('word'));
    expect(meter.output).toBe(200);
  });

  it('a stream of events that are not JSON is estimated', () => {
    const meter = new UsageMeter({ body: {} });
    for (let piece = 0; piece < 100; piece++) meter.addDelta(streamEvent('data: {"broken\n\n'));
    expect(meter.output).toBeGreaterThan(0);
  });
});

it.each<[string, JsonObject]>([
  ['chat', { choices: [{ index: 0, message: { role: 'assistant', content: text } }] }],
  ['messages', { content: [{ type: 'text', text }] }],
  ['responses', { output: [{ type: 'message', id: 'msg_1', content: [{ type: 'output_text', text }] }] }],
  ['gemini', { candidates: [{ content: { role: 'model', parts: [{ text }] } }] }],
])('a whole reply of %s has about a token for four characters', (_format, reply) => {
  const meter = new UsageMeter({ body: {} });
  meter.addWhole(reply);
  expect(Math.abs(meter.output - text.length / 4)).toBeLessThan(30);
});

it.each<[string, JsonObject]>([
  ['chat', { choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] }],
  ['messages', { content: [{ type: 'text', text: 'ok' }] }],
  [
    'responses',
    {
      output: [
        {
          type: 'message',
          id: `msg_${'0'.repeat(40)}`,
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'ok', annotations: [], logprobs: [] }],
        },
      ],
    },
  ],
  ['gemini', { candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] }],
])('a short reply of %s is measured by its words, not by what is around them', (_format, reply) => {
  const meter = new UsageMeter({ body: {} });
  meter.addWhole(reply);
  expect(meter.output).toBe(1);
});

it('a call is measured with the names in its input, which the model has written', () => {
  const meter = new UsageMeter({ body: {} });
  meter.addWhole({
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'search', input: { status: 'x'.repeat(394) } }],
  });
  expect(meter.output).toBeGreaterThan(98);
});

it('an image in the prompt counts as the tokens of an image, not as its base64', () => {
  const url = `data:image/png;base64,${'A'.repeat(1_000_000)}`;
  const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
  expect(new UsageMeter({ body: { model: 'm', messages } }).input).toBeLessThan(2_000);
});

const meterOf = () => {
  const meter = new UsageMeter({ body: { messages: [{ role: 'user', content: 'x'.repeat(400) }] } });
  meter.addDelta(deltas.chat('y'.repeat(80)));
  return meter;
};

describe('counts', () => {
  it('counts of the upstream are kept', () => {
    const counted = { input: 7, output: 3, cacheRead: 2 };
    expect(meterOf().complete(counted, true)).toBe(counted);
  });

  it('missing counts are estimated and marked as such', () => {
    const { input, output, isEstimated } = meterOf().complete(undefined, true);
    expect(input).toBeGreaterThan(99);
    expect([output, isEstimated]).toEqual([20, true]);
  });

  it('partial counts are kept and completed', () => {
    expect(meterOf().complete({ input: 7, cacheRead: 2 }, true)).toEqual({
      input: 7,
      output: 20,
      cacheRead: 2,
      isEstimated: true,
    });
  });

  it('counts of zero are ignored if there is a text', () => {
    expect(meterOf().complete({ input: 0, output: 0, reasoning: 0 }, true)).toMatchObject({
      output: 20,
      isEstimated: true,
    });
    const empty = { input: 0, output: 0 };
    expect(new UsageMeter({ body: {} }).complete(empty, true)).toBe(empty);
  });

  it.each([
    ['prompt', { input: 0, output: 7 }, { input: expect.any(Number), output: 7 }],
    ['answer', { input: 50, output: 0 }, { input: 50, output: 20 }],
  ])('a count of zero for the %s alone is ignored if there is a text', (_part, reported, usage) => {
    const completed = meterOf().complete(reported, true);
    expect(completed).toMatchObject({ ...usage, isEstimated: true });
    expect(completed.input).toBeGreaterThan(0);
  });

  it('counts of a broken reply are at least what has passed', () => {
    expect(meterOf().complete({ input: 7, output: 1 }, false)).toEqual({ input: 7, output: 20, isEstimated: true });
  });

  it('output counts that came before the end are ignored once distrusted', () => {
    const meter = meterOf();
    meter.distrustOutput();
    expect(meter.complete({ input: 7, output: 1 }, true)).toEqual({ input: 7, output: 20, isEstimated: true });
  });
});
