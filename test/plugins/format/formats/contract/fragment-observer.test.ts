import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { conversational, type TextFormat, textFormats } from '../../../../support/formats.ts';
import { refusalBy } from '../../codec-fixture.ts';
import { bytesOf, call, chunk, parts, readerOf, streams, wholes } from '../../routes/reply-fixture.ts';

const own = (format: TextFormat, isStream = true) => readerOf(format, format, isStream);
const written = (answer: object) => Buffer.from(JSON.stringify(answer));
/** One event, without the end of its stream. */
const sent = (format: TextFormat, event: JsonObject) =>
  Buffer.from(bytesOf(format, [event]).toString().replace('data: [DONE]\n\n', ''));
/** Which of the events, the first being 1, has brought the first content; 0 for none. */
function contentAt(format: TextFormat, events: readonly JsonObject[]): number {
  const reader = own(format);
  const at = events.findIndex((event) => {
    reader.push(sent(format, event));
    return reader.hasContent;
  });
  return at + 1;
}

const started = { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 5, output_tokens: 3 } } };
const opened = (index: number, content_block: JsonObject) => ({ type: 'content_block_start', index, content_block });
const told = (index: number, delta: JsonObject) => ({ type: 'content_block_delta', index, delta });
const created = { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } };
const added = (item: JsonObject) => ({ type: 'response.output_item.added', output_index: 0, item });
const inMessage = { item_id: 'm', output_index: 0, content_index: 0 };
const done = (item: JsonObject) => ({ type: 'response.output_item.done', output_index: 0, item });

describe('the first content of a reply that passes through', () => {
  it.each<[string, TextFormat, JsonObject[], number]>([
    [
      'a search that Anthropic runs',
      'messages',
      [started, opened(0, { type: 'server_tool_use', id: 's', name: 'web_search' })],
      2,
    ],
    ['its result', 'messages', [started, opened(0, { type: 'web_search_tool_result', tool_use_id: 's' })], 2],
    ['redacted thinking', 'messages', [started, opened(0, { type: 'redacted_thinking', data: 'x' })], 2],
    ['the name of a call', 'messages', [started, opened(0, { type: 'tool_use', id: 't', name: 'f', input: {} })], 2],
    [
      'a search that OpenAI runs',
      'responses',
      [
        created,
        added({ type: 'web_search_call', id: 'w' }),
        { type: 'response.web_search_call.searching', item_id: 'w' },
      ],
      3,
    ],
    [
      'the name of a call in Chat',
      'chat',
      [
        chunk({ role: 'assistant' }),
        chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '' } }] }),
      ],
      2,
    ],
    ['a member that nobody knows', 'chat', [chunk({ role: 'assistant' }), chunk({ telepathy: { data: 'x' } })], 2],
    ['a part that nobody knows', 'gemini', [parts([]), parts([{ telepathy: { data: 'x' } }])], 2],
    ['a call of Gemini without arguments', 'gemini', [parts([{ functionCall: { name: 'f' } }])], 1],
  ])('is %s', (_name, format, events, at) => {
    expect(contentAt(format, events)).toBe(at);
  });

  it.each<[string, TextFormat, JsonObject[]]>([
    [
      'an empty block',
      'messages',
      [started, opened(0, { type: 'text', text: '' }), { type: 'content_block_stop', index: 0 }],
    ],
    [
      'encrypted reasoning',
      'responses',
      [
        created,
        added({ type: 'reasoning', id: 'r', summary: [] }),
        done({ type: 'reasoning', id: 'r', summary: [], encrypted_content: 'x' }),
      ],
    ],
    [
      'a question for approval',
      'responses',
      [created, added({ type: 'mcp_approval_request', id: 'm' }), done({ type: 'mcp_approval_request', id: 'm' })],
    ],
    [
      'a search for tools',
      'responses',
      [
        created,
        added({ type: 'tool_search_call', id: 't', call_id: 'c', arguments: {} }),
        done({ type: 'tool_search_call', id: 't', call_id: 'c', arguments: {} }),
      ],
    ],
    [
      'the name of an item',
      'responses',
      [created, added({ type: 'function_call', id: 'f', call_id: 'c', name: 'f', arguments: '' })],
    ],
    ['an empty part', 'gemini', [parts([{ text: '' }])]],
    ['a role', 'chat', [chunk({ role: 'assistant', content: '' })]],
  ])('is not %s: another route may still answer', (_name, format, events) => {
    expect(contentAt(format, events)).toBe(0);
  });
});

describe.each(textFormats)('a reply of %s that passes through', (format) => {
  it('has its deltas read without parsing more of them than the estimate of its usage does', () => {
    const { events } = deltasOf(format);
    const reader = own(format);
    const parse = vi.spyOn(JSON, 'parse');
    for (const event of events) reader.push(event);
    const parsed = parse.mock.calls.length;
    parse.mockRestore();
    expect(reader).toMatchObject({ hasContent: true, failure: undefined });
    // Google counts in each event.
    expect(parsed).toBeLessThanOrEqual(format === 'gemini' ? events.length : 24);
  });

  it('is answered by calls as by text, and finished, whole and streamed', () => {
    const calls = [call('c1', 'f', '{"a":1}')];
    const stream = own(format);
    stream.push(bytesOf(format, streams[format](calls)));
    expect(stream).toMatchObject({ hasContent: true, isComplete: true, isFinished: true, failure: undefined });
    expect(stream.usage).toMatchObject({ input: 1, output: 1 });
    const whole = own(format, false);
    whole.whole(written(wholes[format](calls)), 'application/json');
    expect(whole).toMatchObject({ hasContent: true, isComplete: true, failure: undefined });
    expect(whole.usage).toMatchObject({ input: 1, output: 1 });
  });
});

/** A stream of equal deltas, as the vendor writes them. */
function deltasOf(format: TextFormat): { events: Buffer[] } {
  const { beginning, delta } = {
    chat: { beginning: [chunk({ role: 'assistant', content: '' })], delta: chunk({ content: 'word' }) },
    messages: {
      beginning: [started, opened(0, { type: 'text', text: '' })],
      delta: told(0, { type: 'text_delta', text: 'word' }),
    },
    responses: {
      beginning: [
        { ...created, sequence_number: 0 },
        {
          ...added({ id: 'm', type: 'message', status: 'in_progress', role: 'assistant', content: [] }),
          sequence_number: 1,
        },
        {
          type: 'response.content_part.added',
          sequence_number: 2,
          ...inMessage,
          part: { type: 'output_text', text: '', annotations: [] },
        },
      ],
      delta: { type: 'response.output_text.delta', ...inMessage, delta: 'word' },
    },
    gemini: { beginning: [], delta: parts([{ text: 'word' }]) },
  }[format];
  const numbered = Array.from({ length: 100 }, (_, at) => ({
    ...delta,
    ...(format === 'responses' && { sequence_number: at + 3 }),
  }));
  return { events: [...beginning, ...numbered].map((event) => sent(format, event)) };
}

describe('a Messages reply that passes through', () => {
  it.each(['error', 'network_error'])('fails with the stop reason %s, whole and streamed', (stop_reason) => {
    const reader = own('messages');
    reader.push(bytesOf('messages', [started, { type: 'message_delta', delta: { stop_reason } }]));
    expect(reader.failure?.code).toBe('upstream_failed');
    const answer = { ...wholes.messages([]), content: [{ type: 'text', text: 'So' }], stop_reason };
    expect(refusalBy(() => own('messages', false).whole(written(answer), 'application/json')).code).toBe(
      'upstream_failed',
    );
  });

  it('that breaks off does not take the output that was counted at its beginning for a count', () => {
    const observer = conversational.messages.client.createObserver({});
    observer.observeEvent({ name: 'message_start', data: JSON.stringify(started), parse: () => started } as never);
    expect(observer.usage).toEqual({ input: 5 });
  });

  it('with a text in place of its blocks gets a list of them', () => {
    const answer = { ...wholes.messages([]), content: 'Hi', stop_reason: 'end_turn' };
    const { body } = own('messages', false).whole(written(answer), 'application/json');
    expect(JSON.parse(body.toString())).toMatchObject({ content: [{ type: 'text', text: 'Hi' }] });
  });

  it('tells the id of its answer, whole and streamed', () => {
    const ids: string[] = [];
    const observe = () => conversational.messages.client.createObserver({}, { onReplyId: (id) => ids.push(id) });
    observe().observeReply({ ...wholes.messages([]), id: 'whole' });
    observe().observeEvent({ name: 'message_start', data: JSON.stringify(started), parse: () => started } as never);
    expect(ids).toEqual(['whole', 'msg_1']);
  });
});

const wrapped = (text: string, reason?: string) => ({ response: parts([{ text }], reason) });

describe('a Gemini reply that passes through', () => {
  it('reaches its client without the object that a relay has put around it, whole and streamed', () => {
    const stream = own('gemini');
    const bytes = stream.push(bytesOf('gemini', [wrapped('Hi'), wrapped('!', 'STOP')])).toString();
    expect(bytes).not.toContain('"response"');
    expect(stream).toMatchObject({ hasContent: true, isComplete: true });
    const { body } = own('gemini', false).whole(written(wrapped('Hi', 'STOP')), 'application/json');
    const { candidates } = parts([{ text: 'Hi' }], 'STOP');
    expect(JSON.parse(body.toString())).toMatchObject({ candidates });
  });

  it('is complete with the [DONE] of a server that ends its streams as those of Chat end', () => {
    const reader = own('gemini');
    reader.push(Buffer.concat([bytesOf('gemini', [parts([{ text: 'Hi' }])]), Buffer.from('data: [DONE]\n\n')]));
    expect(reader).toMatchObject({ isComplete: true, failure: undefined });
  });
});

describe('one of several answers beside the first', () => {
  const others: Readonly<Record<'chat' | 'gemini', (index: number, text: string, reason?: string) => JsonObject>> = {
    chat: (index, content, finish_reason) => ({
      ...chunk({}),
      choices: [{ index, delta: { content }, finish_reason: finish_reason ?? null }],
    }),
    gemini: (index, text, finishReason) => ({
      candidates: [{ index, content: { parts: [{ text }] }, ...(finishReason && { finishReason }) }],
    }),
  };
  const observe = {
    chat: () => conversational.chat.client.createObserver({ n: 2 }),
    gemini: () => conversational.gemini.client.createObserver({ generationConfig: { candidateCount: 2 } }),
  };
  const seen = (format: 'chat' | 'gemini', ...bodies: JsonObject[]) => {
    const observer = observe[format]();
    for (const body of bodies) observer.observeEvent({ data: JSON.stringify(body), parse: () => body } as never);
    return observer;
  };

  it.each([
    ['chat', 'stop', 'content_filter', 'error'],
    ['gemini', 'STOP', 'SAFETY', 'MALFORMED_RESPONSE'],
  ] as const)('of %s is waited for, may be withheld, and may fail', (format, stop, withheld, failed) => {
    const other = others[format];
    const first = [other(0, 'a'), other(1, 'b'), other(0, '', stop)];
    expect(seen(format, ...first)).toMatchObject({ hasContent: true, isComplete: false });
    expect(seen(format, ...first, other(1, 'c'))).toMatchObject({ isComplete: false });
    expect(seen(format, ...first, other(1, '', stop))).toMatchObject({ isFinished: true, isPolicyRefusal: false });
    expect(seen(format, ...first, other(1, '', withheld))).toMatchObject({ isFinished: true, isPolicyRefusal: true });
    expect(seen(format, ...first, other(1, '', failed)).failure?.code).toBe('upstream_failed');
    expect(seen(format, ...first, other(1, '', stop), other(1, 'd'))).toMatchObject({ isFinished: false });
  });
});
