import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { ResponsesReplyRepair } from '../../../../../plugins/format/formats/responses/repair/reply-repair.ts';
import { PassThroughReader } from '../../../../../plugins/format/routes/pass-through/reader.ts';
import { conversational, type TextFormat } from '../../../../support/formats.ts';

const chatEvents = [
  'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n',
  'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Grüße"},"finish_reason":null}]}\n\n',
  'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: {"id":"c","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}\n\n',
  'data: [DONE]\n\n',
];

const readerOf = (format: TextFormat, body: JsonObject = {}, repair?: ResponsesReplyRepair) => {
  const { client, dialect } = conversational[format];
  return new PassThroughReader(client.createObserver(body), { id: 'req_1', dialect }, { repair });
};
const chat = (body?: JsonObject) => readerOf('chat', body);
const messages = () => readerOf('messages');
const responses = () => readerOf('responses');
/** With the repair, which knows what the client has of an answer. */
const repairedResponses = () =>
  readerOf('responses', {}, new ResponsesReplyRepair({ id: 'req_1', model: 'm', created: 1, request: {} }, true));
const bytes = (...events: string[]) => Buffer.from(events.join(''));

const item = (output_index: number, members: object) => ({
  output_index,
  item: { id: `i${output_index}`, ...members },
});
const place = (output_index: number) => ({ output_index, item_id: `i${output_index}` });

describe('a chat stream', () => {
  it('has no content while only the role has come', () => {
    const reader = chat();
    reader.push(bytes(chatEvents[0] as string));
    expect(reader.hasContent).toBe(false);
    reader.push(bytes(chatEvents[1] as string));
    expect(reader.hasContent).toBe(true);
  });

  it('is complete with its finish reason, even when the vendor forgets the [DONE]', () => {
    const reader = chat();
    reader.push(bytes(...chatEvents.slice(0, 2)));
    expect(reader.isComplete).toBe(false);
    reader.push(bytes(chatEvents[2] as string));
    expect(reader.isComplete).toBe(true);
  });

  it('of several choices is complete when the last of them has ended', () => {
    const reader = chat({ n: 2 });
    reader.push(bytes(chatEvents[1] as string, chatEvents[2] as string));
    expect(reader.isComplete).toBe(false);
    reader.push(bytes('data: {"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}\n\n'));
    expect(reader.isComplete).toBe(true);
  });

  it('tells the usage', () => {
    const reader = chat();
    reader.push(bytes(...chatEvents));
    expect(reader.usage).toMatchObject({ input: 7, output: 3 });
  });

  it('has its long events parsed once and read like short ones', () => {
    const reader = chat();
    const image = 'a'.repeat(70_000);
    const parse = vi.spyOn(JSON, 'parse');
    const last = { choices: [{ index: 0, delta: { image }, finish_reason: 'stop' }], usage: { prompt_tokens: 7 } };
    reader.push(bytes(`data: ${JSON.stringify(last)}\n\n`));
    expect(parse).toHaveBeenCalledOnce();
    parse.mockRestore();
    expect(reader).toMatchObject({ hasContent: true, isComplete: true, usage: { input: 7 } });
    const failing = chat();
    failing.push(bytes(`data: ${JSON.stringify({ choices: [], error: { message: image } })}\n\n`));
    expect(failing.failure).toBeDefined();
  });

  it('gives the same bytes and the same findings wherever it is cut', () => {
    const whole = bytes(...chatEvents);
    for (let cut = 1; cut < whole.length; cut++) {
      const reader = chat();
      const seen = Buffer.concat([reader.push(whole.subarray(0, cut)), reader.push(whole.subarray(cut)), reader.end()]);
      expect(seen.equals(whole)).toBe(true);
      expect(reader).toMatchObject({ hasContent: true, isComplete: true, usage: { input: 7 } });
    }
  });

  it('finds an error where content is expected', () => {
    const reader = chat();
    reader.push(bytes('data: {"error":{"message":"overloaded","type":"server_error"}}\n\n'));
    expect(reader.failure?.message).toContain('overloaded');
    expect(reader.hasContent).toBe(false);
  });

  it('holds back an error and what follows it, but not what came before', () => {
    const reader = chat();
    const seen = reader.push(
      bytes(chatEvents[1] as string, 'data: {"error":{"message":"broken"}}\n\n', chatEvents[2] as string),
    );
    expect(seen.toString()).toBe(chatEvents[1]);
    expect(reader.failure).toBeDefined();
  });

  it('holds the error back as a whole when lines end in CRLF', () => {
    const first = (chatEvents[1] as string).replaceAll('\n', '\r\n');
    const seen = chat().push(bytes(first, 'event: x\r\ndata: {"error":{"message":"broken"}}\r\n\r\n'));
    expect(seen.toString()).toBe(first);
  });

  it('breaks off at a truncated event, since its words are lost', () => {
    const reader = chat();
    const seen = reader.push(bytes(chatEvents[1] as string, 'data: {"id":"c","cho\n\n', ...chatEvents.slice(2)));
    expect(seen.toString()).toBe(chatEvents[1]);
    expect(reader.failure?.message).toContain('truncated');
  });

  it('holds back events that are no objects, but not what keeps the connection alive', () => {
    const reader = chat();
    const odd = ['data: ping\n\n', 'event: note\n\n', 'data: [1]\n\n'];
    const fine = [': keep-alive\n\n', 'data: {"id":"c","choices":[]} \n\n', ...chatEvents];
    expect(reader.push(bytes(...odd, ...fine)).toString()).toBe(fine.join(''));
    expect(reader).toMatchObject({ failure: undefined, isComplete: true });
  });

  it('is over with its [DONE]: nothing that comes behind it is passed on', () => {
    const reader = chat();
    const whole = bytes(...chatEvents);
    expect(reader.push(Buffer.concat([whole, whole])).equals(whole)).toBe(true);
    expect(reader.push(whole)).toHaveLength(0);
    expect(reader.end()).toHaveLength(0);
  });

  it('fails with an event of an error that is no object', () => {
    const reader = chat();
    reader.push(bytes(chatEvents[1] as string, 'event: error\ndata: out of order\n\n'));
    expect(reader.failure?.message).toContain('out of order');
  });

  it('does not take the word error in a text for an error', () => {
    const reader = chat();
    const event = 'data: {"choices":[{"index":0,"delta":{"content":"\\"error\\": {}"}}]}\n\n';
    reader.push(bytes(chatEvents[1] as string, event));
    expect(reader.failure).toBeUndefined();
  });

  it('is not complete when it stops in the middle of an event', () => {
    const reader = chat();
    reader.push(bytes(chatEvents[1] as string, 'data: {"id":"c","choi'));
    expect(reader.end()).toHaveLength(0);
    expect(reader.isComplete).toBe(false);
  });

  it('accepts a last event without its blank line', () => {
    const reader = chat();
    reader.push(bytes(...chatEvents.slice(0, 4), 'data: [DONE]'));
    expect(reader.end().toString()).toBe('');
    const lacking = chat();
    lacking.push(bytes(chatEvents[1] as string, (chatEvents[2] as string).trimEnd()));
    expect(lacking.end().toString()).toBe(`${chatEvents[2]}data: [DONE]\n\n`);
  });

  it.each(['data: [DONE]', 'data: [DONE]\n', 'data: [DONE]\r\r', '\rdata: [DONE]'])(
    'is over with %j, and delivers it whole',
    (mark) => {
      const reader = chat();
      const seen = reader.push(bytes(...chatEvents.slice(0, 4), mark)).toString();
      expect(seen.replaceAll(/\r/g, '\n')).toMatch(/[^\n]\n{2,3}data: \[DONE\]\n\n$/);
      expect(reader).toMatchObject({ isComplete: true, isFinished: true });
      expect(reader.end()).toHaveLength(0);
    },
  );

  it('is not finished by an empty finish reason', () => {
    const reader = chat();
    reader.push(bytes('data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":""}]}\n\n'));
    expect(reader).toMatchObject({ hasContent: true, isComplete: false, isFinished: false });
  });

  it('is no longer finished when its text continues', () => {
    const reader = chat();
    reader.push(bytes(...chatEvents.slice(0, 3)));
    expect(reader.isFinished).toBe(true);
    reader.push(bytes(chatEvents[1] as string));
    expect(reader).toMatchObject({ isComplete: true, isFinished: false });
  });

  it('drops a byte order mark', () => {
    const reader = chat();
    const seen = reader.push(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes(chatEvents[1] as string)]));
    expect(seen.toString()).toBe(chatEvents[1]);
    expect(reader.hasContent).toBe(true);
  });
});

describe('a whole chat answer', () => {
  const answer =
    '{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}';

  it('goes through as it came', () => {
    expect(chat().whole(Buffer.from(answer), 'application/json').body.toString()).toBe(answer);
  });

  it.each([
    ['an empty body', ''],
    ['an HTML page', '<html>bad gateway</html>'],
    ['an error with status 200', '{"error":{"message":"no capacity"}}'],
    ['an error in the base_resp of MiniMax', '{"base_resp":{"status_code":1004,"status_msg":"no key"}}'],
    ['an answer without choices', '{"choices":[]}'],
    [
      'a choice without words and without a reason',
      '{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[]},"finish_reason":null}]}',
    ],
  ])('is a failure when it is %s', (_, body) => {
    expect(() => chat().whole(Buffer.from(body), 'application/json')).toThrow(/upstream|provider/);
  });
});

describe('a messages stream', () => {
  const start =
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":20,"output_tokens":1}}}\n\n';
  const delta =
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}\n\n';
  const end =
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}\n\n';
  const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

  it('has content with its first block, not with pings', () => {
    const reader = messages();
    reader.push(bytes(start, 'event: ping\ndata: {"type":"ping"}\n\n'));
    expect(reader.hasContent).toBe(false);
    reader.push(bytes(delta));
    expect(reader.hasContent).toBe(true);
  });

  it('counts cached tokens as part of the input', () => {
    const reader = messages();
    reader.push(bytes(start, delta, end, stop));
    expect(reader.usage).toMatchObject({ input: 25, cacheRead: 20, output: 9 });
    expect(reader.isComplete).toBe(true);
  });

  it('is over with its message_stop', () => {
    const reader = messages();
    expect(reader.push(bytes(start, delta, end, stop, start)).toString()).toBe(start + delta + end + stop);
    expect(reader.push(bytes(delta, end, stop))).toHaveLength(0);
  });

  it('is complete with its stop reason, and gets the message_stop that is missing', () => {
    const reader = messages();
    reader.push(bytes(start, delta, end));
    expect(reader).toMatchObject({ isComplete: true, isFinished: true });
    expect(reader.end().toString()).toBe(stop);
  });

  it('does not fail when it repeats its start exactly', () => {
    const reader = messages();
    reader.push(bytes(start, start, delta, end, stop));
    expect(reader).toMatchObject({ failure: undefined, isComplete: true });
  });

  it('fails when it starts a second time', () => {
    const reader = messages();
    const other = start.replace('"message":{', '"message":{"id":"other",');
    expect(reader.push(bytes(start, other, delta, end, stop)).toString()).toBe(start);
    expect(reader.failure?.message).toContain('a second time');
  });

  it('ends with an error event when it is broken off', () => {
    const reader = messages();
    reader.push(
      bytes(
        start,
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      ),
    );
    expect(reader.failure?.message).toContain('Overloaded');
    expect(reader.renderFailure(reader.failure as never)).toMatch(/^event: error\ndata: \{"type":"error"/);
  });
});

/** The data of the last event. */
const lastOf = (text: string) => JSON.parse(text.trimEnd().split('data: ').at(-1) ?? '') as JsonObject;

describe('a responses stream', () => {
  const created =
    'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_7","status":"in_progress","output":[]}}\n\n';
  const delta =
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":4,"delta":"hi"}\n\n';
  const completed =
    'event: response.completed\ndata: {"type":"response.completed","sequence_number":5,"response":{"id":"resp_7","usage":{"input_tokens":3,"output_tokens":2,"total_tokens":5}}}\n\n';

  it('tells the usage when it is complete', () => {
    const reader = responses();
    reader.push(bytes(created));
    expect(reader.hasContent).toBe(false);
    reader.push(bytes(delta, completed));
    expect(reader).toMatchObject({ isComplete: true, usage: { input: 3, output: 2 } });
  });

  it('is over with its response.completed', () => {
    const reader = responses();
    expect(reader.push(bytes(created, delta, completed, created, completed)).toString()).toBe(
      created + delta + completed,
    );
  });

  it('is not complete with a last event that is cut, wherever that is', () => {
    const whole = completed.trimEnd();
    for (let length = 0; length < whole.length; length++) {
      const reader = responses();
      reader.push(bytes(created, delta, whole.slice(0, length)));
      expect([reader.end().toString(), reader.isComplete]).toEqual(['', false]);
    }
    const reader = responses();
    reader.push(bytes(created, delta, whole));
    expect(reader.end().toString().trimEnd()).toBe(whole);
    expect(reader.isComplete).toBe(true);
  });

  it.each(['', '{"type":"response.completed","response":{"id":}}'])('fails with a last event of %j', (data) => {
    const reader = responses();
    const ending = `event: response.completed\ndata: ${data}\n\n`;
    expect(reader.push(bytes(created, delta, ending)).toString()).toBe(created + delta);
    expect(reader.failure?.code).toBe('upstream_failed');
  });

  it('fails under the id and the next sequence number of the response that was announced', () => {
    const reader = repairedResponses();
    const under =
      'event: response.in_progress\ndata: {"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_7"}}\n\n';
    reader.push(bytes(created, under, 'event: error\ndata: {"type":"error","sequence_number":2,"message":"gone"}\n\n'));
    const event = lastOf(reader.renderFailure(reader.failure as never));
    expect(event).toMatchObject({
      type: 'response.failed',
      sequence_number: 3,
      response: { id: 'resp_7', status: 'failed' },
    });
  });

  const failed = (...events: string[]) => {
    const reader = repairedResponses();
    reader.push(bytes(created, ...events));
    const text = reader.renderFailure(new GatewayError('upstream_failed', 'gone'));
    return lastOf(text)['response'] as JsonObject;
  };
  const message = { type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const call = { type: 'function_call', call_id: 'c', name: 'now', arguments: '', status: 'in_progress' };

  it('fails with the output so far, the text and the call under way among it', () => {
    const done = { type: 'message', status: 'completed', content: [{ type: 'output_text', text: 'Hi' }] };
    const { output } = failed(
      event('response.output_item.added', item(0, message)),
      event('response.output_text.delta', { ...place(0), content_index: 0, delta: 'Hi' }),
      event('response.output_item.done', item(0, done)),
      event('response.output_item.added', item(1, message)),
      event('response.output_text.delta', { ...place(1), content_index: 0, delta: 'And ' }),
      event('response.output_text.delta', { ...place(1), content_index: 0, delta: 'so' }),
      event('response.output_item.added', item(2, call)),
      event('response.function_call_arguments.delta', { ...place(2), delta: '{"a' }),
    );
    expect(output).toMatchObject([
      { id: 'i0', ...done },
      { id: 'i1', status: 'incomplete', content: [{ type: 'output_text', text: 'And so' }] },
      { id: 'i2', status: 'incomplete', arguments: '{"a' },
    ]);
  });

  it('fails with the output and the usage that the upstream tells when it fails', () => {
    const response = { output: [{ type: 'message', id: 'm' }], usage: { input_tokens: 3, output_tokens: 2 } };
    expect(failed(event('response.failed', { response }))).toMatchObject({
      output: response.output,
      usage: { ...response.usage, total_tokens: 5 },
    });
  });

  it('fails with the text of parts whose numbers skip others', () => {
    const { output } = failed(
      event('response.output_item.added', item(0, message)),
      event('response.output_text.delta', { ...place(0), content_index: 4_000_000_000, delta: 'Hi' }),
    );
    expect(output).toMatchObject([{ content: [{ type: 'output_text', text: 'Hi' }] }]);
  });
});

const event = (type: string, members: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const block = (content: object) => event('content_block_start', { index: 0, content_block: content });

describe('content', () => {
  it('of Messages does not begin with an empty block, so that a route that dies there can be replaced', () => {
    const reader = messages();
    reader.push(bytes(block({ type: 'text', text: '' }), block({ type: 'thinking', thinking: '', signature: '' })));
    expect(reader.hasContent).toBe(false);
    reader.push(bytes(event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'a' } })));
    expect(reader.hasContent).toBe(true);
  });

  it('of Messages begins with a block that has content by itself', () => {
    const reader = messages();
    reader.push(bytes(block({ type: 'tool_use', id: 't', name: 'look', input: {} })));
    expect(reader.hasContent).toBe(true);
  });

  it('of Responses does not begin with items and parts that are only announced', () => {
    const reader = responses();
    reader.push(
      bytes(
        event('response.created', { response: { id: 'r' } }),
        event('response.output_item.added', { item: { type: 'message', content: [] } }),
        event('response.content_part.added', { part: { type: 'output_text', text: '' } }),
      ),
    );
    expect(reader.hasContent).toBe(false);
    reader.push(bytes(event('response.output_text.delta', { delta: 'a' })));
    expect(reader.hasContent).toBe(true);
  });
});
