import { describe, expect, it, vi } from 'vitest';
import { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { CollectedText } from '#core/platform/memory/collected-text.ts';
import { TextDigest } from '../../../../../plugins/format/content/text-digest.ts';
import { ChatDecoder } from '../../../../../plugins/format/formats/chat/reply/decode-reply.ts';
import type { TextFormat } from '../../../../support/formats.ts';
import { refusalBy } from '../../codec-fixture.ts';
import { bytesOf, chunk, parts, readerOf, wholes } from '../../routes/reply-fixture.ts';

const doneMark = Buffer.from('data: [DONE]\n\n');
const reading = (format: TextFormat, ...sent: (JsonObject | Buffer)[]) => {
  const reader = readerOf(format, format, true);
  const bytes = sent.map((one) => {
    // Nothing but the events: `bytesOf` ends a stream of Chat.
    const event = Buffer.isBuffer(one) ? one : bytesOf(format, [one]).toString().replace(doneMark.toString(), '');
    return reader.push(Buffer.from(event)).toString();
  });
  return { reader, bytes: bytes.join('') };
};
const wholeOf = (format: TextFormat, answer: JsonObject) =>
  readerOf(format, format, false).whole(Buffer.from(JSON.stringify(answer)), 'application/json');
const raw = (type: string, members: string) => Buffer.from(`event: ${type}\ndata: {"type":"${type}",${members}}\n\n`);
const withoutName = (format: TextFormat, event: JsonObject) =>
  Buffer.from(
    bytesOf(format, [event])
      .toString()
      .replace(/^event:.*\n/, ''),
  );
const count = (text: string, part: string) => text.split(part).length - 1;

const started = (output_tokens: number): JsonObject => ({
  type: 'message_start',
  message: { ...wholes.messages([]), stop_reason: null, usage: { input_tokens: 3, output_tokens } },
});
const opened = (content_block: JsonObject) => ({ type: 'content_block_start', index: 0, content_block });
const textBlock = opened({ type: 'text', text: '' });
const told = (delta: JsonObject) => ({ type: 'content_block_delta', index: 0, delta });
const saying = told({ type: 'text_delta', text: 'Hi' });
const ended = (members: JsonObject = {}) => ({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...members });
const stopped = { type: 'message_stop' };

describe('a Messages reply with the [DONE] of Chat', () => {
  const answer = [started(1), textBlock, saying, ended({ usage: { output_tokens: 2 } }), doneMark];

  it('gets the message_stop that it lacks', () => {
    const { reader, bytes } = reading('messages', ...answer);
    expect(reader).toMatchObject({ isComplete: true, failure: undefined });
    expect(count(bytes + reader.end().toString(), 'event: message_stop')).toBe(1);
  });

  it('passes its own message_stop on, once', () => {
    const { reader, bytes } = reading('messages', ...answer, stopped);
    expect(count(bytes + reader.end().toString(), 'event: message_stop')).toBe(1);
  });

  it('is not complete without a stop reason', () => {
    const { reader } = reading('messages', started(1), textBlock, saying, doneMark);
    expect(reader).toMatchObject({ hasContent: true, isComplete: false, isFinished: false });
    expect(reader.end().toString()).not.toContain('message_stop');
    expect(reader.isComplete).toBe(false);
  });
});

describe('a Messages delta without a text', () => {
  it.each([
    ['thinking that is omitted', { type: 'thinking_delta', thinking: '', estimated_tokens: 50 }],
    ['a delta that nobody knows', { type: 'telepathy_delta', data: 'x' }],
  ])('is content: %s', (_name, delta) => {
    expect(reading('messages', started(1), textBlock, told(delta)).reader.hasContent).toBe(true);
  });

  it.each([
    ['a signature', { type: 'signature_delta', signature: 'x' }],
    ['a citation', { type: 'citations_delta', citation: { url: 'https://a.example', title: 'A' } }],
  ])('is not yet content: %s', (_name, delta) => {
    expect(reading('messages', started(1), textBlock, told(delta)).reader.hasContent).toBe(false);
  });
});

const usageBehind = (...events: JsonObject[]) =>
  reading('messages', started(77), textBlock, saying, ...events).reader.usage;

describe('the output that Messages count at the beginning', () => {
  it('stands where a later count is zero or missing', () => {
    expect(usageBehind(ended({ usage: { output_tokens: 0 } }), stopped)).toEqual({ input: 3, output: 77 });
    expect(usageBehind(ended(), stopped)).toMatchObject({ input: 3, output: 77 });
    expect(usageBehind(ended({ usage: { input_tokens: 3 } }), stopped)).toMatchObject({ input: 3, output: 77 });
  });

  it('gives way to every later count, however small', () => {
    const usage = usageBehind(ended({ usage: { output_tokens: 5 } }), ended({ usage: { output_tokens: 0 } }), stopped);
    expect(usage).toEqual({ input: 3, output: 5 });
  });

  it('is none of a stream that breaks off', () => {
    expect(usageBehind()).toMatchObject({ input: 3, output: 1 });
  });
});

describe('a Messages stream that counts nothing', () => {
  const uncounted = { input_tokens: 0, output_tokens: 0 };
  const begun = {
    type: 'message_start',
    message: { ...wholes.messages([]), stop_reason: null, usage: uncounted },
  };

  it('ends with estimates for the client, as for its record', () => {
    const { reader, bytes } = reading('messages', begun, textBlock, saying, ended({ usage: uncounted }), stopped);
    expect(reader.usage).toMatchObject({ output: 1, isEstimated: true });
    expect(bytes).toMatch(/"type":"message_delta".*"output_tokens":1\b/);
    expect(reader.usage?.input).toBeGreaterThan(0);
    expect(bytes).toContain(`"input_tokens":${reader.usage?.input}`);
  });

  it('is estimated when it has nothing but a call without arguments', () => {
    const call = opened({ type: 'tool_use', id: 'toolu_1', name: 'look_around', input: {} });
    const { reader } = reading('messages', begun, call, ended({ usage: uncounted }), stopped);
    expect(reader.usage).toMatchObject({ input: expect.any(Number), output: expect.any(Number), isEstimated: true });
  });

  it('keeps its counts of zero when it has no content', () => {
    expect(reading('messages', begun, ended({ usage: uncounted }), stopped).bytes).not.toMatch(/"output_tokens":[1-9]/);
  });
});

describe('an error member beside a Messages event', () => {
  it('fails the stream only if the event is none of the format', () => {
    const error = { message: 'x' };
    const named = reading('messages', started(1), textBlock, saying, ended({ error }), stopped).reader;
    expect(named).toMatchObject({ isComplete: true, failure: undefined });
    const nameless = reading('messages', started(1), withoutName('messages', ended({ error }))).reader;
    expect(nameless).toMatchObject({ isComplete: true, failure: undefined });
    expect(
      reading('messages', started(1), Buffer.from('data: {"error":{"message":"x"}}\n\n')).reader.failure?.code,
    ).toBe('upstream_failed');
  });
});

const response = (status: string, members: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'there',
  status,
  output: [],
  ...members,
});
const created = { type: 'response.created', sequence_number: 0, response: response('in_progress') };
const inMessage = { item_id: 'm', output_index: 0, content_index: 0 };
const announced: JsonObject[] = [
  created,
  {
    type: 'response.output_item.added',
    sequence_number: 1,
    output_index: 0,
    item: { id: 'm', type: 'message', status: 'in_progress', role: 'assistant', content: [] },
  },
  {
    type: 'response.content_part.added',
    sequence_number: 2,
    ...inMessage,
    part: { type: 'output_text', text: '', annotations: [] },
  },
];
const delta = (text: string, at = 3) => ({
  type: 'response.output_text.delta',
  sequence_number: at,
  ...inMessage,
  delta: text,
});
const completed = (members: JsonObject = {}) => ({
  type: 'response.completed',
  sequence_number: 4,
  response: response('completed', members),
});

const usageOf = (early: JsonObject, final: JsonObject | null) => {
  const [, ...rest] = announced;
  const begun = { ...created, response: response('in_progress', { usage: early }) };
  return reading('responses', begun, ...rest, delta('Hello world, of some words'), completed({ usage: final })).reader
    .usage;
};

describe('the counts with which a response begins', () => {
  it('are estimated where they are zeros and no others follow', () => {
    const usage = usageOf({ input_tokens: 0, output_tokens: 0, total_tokens: 0 }, null);
    expect(usage).toMatchObject({ isEstimated: true });
    expect(usage?.input).toBeGreaterThan(0);
    expect(usage?.output).toBeGreaterThan(1);
  });

  it('are those of the prompt, never of the output', () => {
    const usage = usageOf({ input_tokens: 55, output_tokens: 0, total_tokens: 55 }, null);
    expect(usage).toMatchObject({ input: 55, isEstimated: true });
    expect(usage?.output).toBeGreaterThan(1);
  });
});

describe('an event whose data is not strict JSON', () => {
  it('is content where its name says so', () => {
    expect(reading('messages', started(1), textBlock, raw('content_block_delta', '"x":NaN')).reader.hasContent).toBe(
      true,
    );
    const unreadable = raw('response.output_text.delta', '"delta":"Hi","logprobs":[{"logprob":-Infinity}]');
    expect(reading('responses', ...announced, unreadable).reader.hasContent).toBe(true);
  });

  it.each(['response.output_item.added', 'response.output_item.done', 'response.in_progress'])(
    'is none in %s',
    (type) => {
      expect(reading('responses', created, raw(type, '"x":NaN')).reader.hasContent).toBe(false);
    },
  );

  it.each(['completed', 'incomplete', 'failed', 'cancelled'])('is a failure in response.%s', (state) => {
    const { reader, bytes } = reading('responses', ...announced, delta('Hi'), raw(`response.${state}`, '"x":NaN'));
    expect(reader).toMatchObject({ isComplete: false, failure: { code: 'upstream_failed' } });
    expect(bytes).not.toContain('NaN');
  });
});

describe('a Responses reply', () => {
  it('with nothing but a [DONE] is not complete', () => {
    expect(reading('responses', created, doneMark).reader).toMatchObject({ isComplete: false, isFinished: false });
  });

  it('that completes with a filter as its reason was withheld by policy, whole and streamed', () => {
    const details = { incomplete_details: { reason: 'content_filter' } };
    const { reader } = reading('responses', ...announced, delta('Hi'), completed(details));
    expect(reader).toMatchObject({ isComplete: true, isPolicyRefusal: true });
    const whole = readerOf('responses', 'responses', false);
    whole.whole(Buffer.from(JSON.stringify({ ...wholes.responses([]), ...details })), 'application/json');
    expect(whole.isPolicyRefusal).toBe(true);
  });
});

const skimmed = (finish: string | null) => {
  const data = JSON.stringify({
    ...chunk({ content: 'Hi' }, finish),
    usage: { prompt_tokens: 3, completion_tokens: 4 },
  });
  return new ChatDecoder().skimEvent(new StreamEvent({ name: undefined, data }, data, Buffer.from(data)));
};

describe('Chat counts', () => {
  it('replace those of an earlier chunk entirely', () => {
    const early = { prompt_tokens: 3, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 3 } };
    const { reader } = reading(
      'chat',
      { ...chunk({ role: 'assistant', content: 'Hi' }), usage: early },
      { ...chunk({}, 'stop'), usage: { prompt_tokens: 9, completion_tokens: 4 } },
    );
    expect(reader.usage).toMatchObject({ input: 9, output: 4 });
    expect(reader.usage?.cacheRead).toBeUndefined();
  });

  it('are all that is read of a chunk that has more of the text besides', () => {
    expect(skimmed(null)).toMatchObject([{ type: 'usage', usage: { input: 3, output: 4 } }]);
    expect(skimmed('stop')).toBeUndefined();
  });
});

describe('a whole Chat reply without choices', () => {
  it.each([{ choices: [] }, { choices: null, code: 400, message: 'bad parameter' }])(
    'is a failure of its route, whatever else it says: %o',
    (answer) => {
      expect(refusalBy(() => wholeOf('chat', { id: 'a', object: 'chat.completion', ...answer })).code).toBe(
        'upstream_failed',
      );
    },
  );
});

describe('a whole Messages reply with an empty text in place of its blocks', () => {
  it('is no answer without a stop reason', () => {
    const answer = { ...wholes.messages([]), content: '' };
    expect(refusalBy(() => wholeOf('messages', { ...answer, stop_reason: null })).code).toBe('upstream_failed');
    const { body } = wholeOf('messages', { ...answer, stop_reason: 'end_turn' });
    expect(JSON.parse(body.toString())).toMatchObject({ content: [] });
  });
});

describe('a blocked prompt of Gemini', () => {
  const promptFeedback = { blockReason: 'SAFETY' };

  it.each<[string, JsonObject]>([
    ['without content', {}],
    ['with empty content', { content: {} }],
    ['with an empty list of parts', { content: { parts: [] } }],
    ['that has ended', { finishReason: 'OTHER' }],
  ])('is a refusal by policy even with a candidate %s, whole and streamed', (_name, candidate) => {
    const blocked = { candidates: [candidate], promptFeedback };
    expect(reading('gemini', blocked).reader).toMatchObject({ isComplete: true, isPolicyRefusal: true });
    const reader = readerOf('gemini', 'gemini', false);
    reader.whole(Buffer.from(JSON.stringify(blocked)), 'application/json');
    expect(reader.isPolicyRefusal).toBe(true);
  });

  it('ends an answer that has begun', () => {
    const blocked = { candidates: [{ content: { parts: [] } }], promptFeedback };
    const { reader } = reading('gemini', parts([{ text: 'So' }]), blocked);
    expect(reader).toMatchObject({ isComplete: true, isPolicyRefusal: true });
  });

  it('is ignored if there is an answer', () => {
    const { reader } = reading('gemini', { ...parts([{ text: 'Hi' }], 'STOP'), promptFeedback });
    expect(reader).toMatchObject({ isComplete: true, isPolicyRefusal: false });
  });
});

describe('sources behind the end of a Gemini answer', () => {
  it('do not continue it', () => {
    const sources = { groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }] } };
    const { reader } = reading('gemini', parts([{ text: 'Hi' }], 'STOP'), { candidates: [{ index: 0, ...sources }] });
    expect(reader).toMatchObject({ isComplete: true, isFinished: true });
    reader.push(bytesOf('gemini', [parts([{ text: ' there' }])]));
    expect(reader).toMatchObject({ isFinished: false });
  });
});

describe('the memory of a reply that passes through', () => {
  const long = 'x'.repeat(100_000);
  /** How many of the pieces a reader keeps, besides those that its digest takes. */
  const kept = (run: () => unknown) => {
    const spies = [vi.spyOn(CollectedText.prototype, 'add'), vi.spyOn(TextDigest.prototype, 'add')] as const;
    run();
    const [pieces, digested] = spies.map((add) => add.mock.calls.filter(([piece]) => piece.includes(long)).length);
    for (const spy of spies) spy.mockRestore();
    return Number(pieces) - Number(digested);
  };

  it('holds no text of Gemini that says in each event that it ends', () => {
    const reader = readerOf('gemini', 'gemini', true);
    expect(
      kept(() =>
        reader.push(
          bytesOf(
            'gemini',
            [1, 2, 3].map(() => parts([{ text: long }], 'STOP')),
          ),
        ),
      ),
    ).toBe(0);
  });

  it('holds the text of Responses once where their events have no names', () => {
    const { reader } = reading('responses', ...announced.map((one) => withoutName('responses', one)), delta('Hi'));
    const events = [4, 5, 6].map((at) => withoutName('responses', delta(long, at)));
    // The repair keeps them, within its budget.
    expect(kept(() => events.forEach((one) => reader.push(one)))).toBe(3);
    expect(reader.held).toBeGreaterThan(3 * long.length);
  });
});
