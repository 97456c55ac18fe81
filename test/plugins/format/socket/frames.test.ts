import { describe, expect, it } from 'vitest';
import { composeBody, separateItems, readInputItems } from '../../../../plugins/format/socket/compose-body.ts';
import { writeErrorFrame, isCodexClient, ProtocolFault } from '../../../../plugins/format/socket/error-frames.ts';
import {
  toByteString,
  parseEvents,
  writePayload,
  createLanePrefix,
  fromByteString,
} from '../../../../plugins/format/socket/event-frames.ts';
import { findMembers } from '../../../../plugins/format/socket/member-spans.ts';
import { readNewItems } from '../../../../plugins/format/socket/new-items.ts';
import { readCreateFrame, readFrame } from '../../../../plugins/format/socket/read-frame.ts';
import { writeTextFrames } from '../../../../plugins/format/socket/text-frames.ts';
import { convertResponseToEvents, TurnOutput } from '../../../../plugins/format/socket/turn-output.ts';

const create = (text: string) => readCreateFrame(readFrame(Buffer.from(text)));
const bodyOf = (text: string, kept?: readonly string[]) => {
  const pieces = composeBody(
    create(text),
    kept?.map((items) => Buffer.concat(separateItems([Buffer.from(items)]))),
  );
  return Buffer.concat(pieces).toString();
};

describe('the members of an object', () => {
  it('are found by their places, whatever is in them', () => {
    const text = ' { "a" : "x\\"}", "b":[1,{"c":"]"}] ,"d":-1.5e3,"e":null,"f":{}}\n';
    const spans = findMembers(text) ?? [];
    expect(spans.map(({ name, start: begin, end }) => [name, text.slice(begin, end)])).toEqual([
      ['a', '"a" : "x\\"}"'],
      ['b', '"b":[1,{"c":"]"}]'],
      ['d', '"d":-1.5e3'],
      ['e', '"e":null'],
      ['f', '"f":{}'],
    ]);
  });

  it('are none in an empty object', () => {
    expect(findMembers('{ }')).toEqual([]);
  });

  it.each([
    '',
    '[]',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1',
    '{"a":1}}',
    '{"a":1} x',
    '{a:1}',
    '{"a":"b}',
    '{"a":1,}',
    '{"a":]}',
  ])('are unknown in %j, which is no object', (text) => {
    expect(findMembers(text)).toBeUndefined();
  });

  it('are given up in a text that would hold up the process', () => {
    expect(findMembers(`{"a":[${'"",'.repeat(1_000_000)}""]}`)).toBeUndefined();
    expect(findMembers(`{"a":"${'\\"'.repeat(1_000_000)}"}`)).toBeUndefined();
    expect(findMembers(`{"a":${'[1,'.repeat(2_000_000)}1${']'.repeat(2_000_000)}}`)).toBeUndefined();
  });
});

describe('the body of a request on a socket', () => {
  it('is its event without the members of the socket, with a stream', () => {
    const text =
      '{"type":"response.create","model":"m","stream":false,"generate":true,"input":"hi","stream_id":"a","n":1}';
    expect(bodyOf(text)).toBe('{"stream":true,"model":"m","input":"hi","n":1}');
  });

  it('keeps every byte of what stays', () => {
    expect(bodyOf('{"model":"m" , "input":[ {"x":12345678901234567890} ],\n"type":"response.create"}')).toBe(
      '{"stream":true,"model":"m" , "input":[ {"x":12345678901234567890} ]}',
    );
  });

  it('has the items of what it continues before its own', () => {
    const text = '{"type":"response.create","previous_response_id":"r","model":"m","input":[{"b":2},{"c":3}]}';
    expect(bodyOf(text, ['{"a":1}', '', '{"a":2},{"a":3}'])).toBe(
      '{"stream":true,"model":"m","input":[{"a":1},{"a":2},{"a":3},{"b":2},{"c":3}]}',
    );
  });

  it.each([
    [['{"a":1}', '{"a":2}'], '{"stream":true,"model":"m","input":[{"a":1},{"a":2}]}'],
    [[], '{"stream":true,"model":"m","input":[]}'],
  ])('that adds nothing has the items that it continues: %o', (kept, body) => {
    expect(bodyOf('{"type":"response.create","previous_response_id":"r","model":"m"}', kept)).toBe(body);
  });

  it('adds no calls and texts of the answer that it continues, and keeps the bytes of the others', () => {
    const call = '{"type":"function_call","id":"fc","call_id":"a","name":"look","arguments":"{\\"day\\": 1}"}';
    const kept = `{"role":"user","content":"one"},{"type":"message","role":"assistant","content":[{"text":"hm"}]},${call},`;
    const repeated = '{"type":"function_call","call_id":"a","name":"look","arguments":"{\\"day\\":1}"}';
    const result = '{"type":"function_call_output","call_id":"a", "output":12345678901234567890}';
    const items = `{"role":"assistant","content":"hm"}, ${repeated} , ${result}`;
    const frame = readFrame(Buffer.from(`{"type":"x","input":[${items}]}`));
    expect(readNewItems(frame, Buffer.from(kept)).toString()).toBe(result);
    expect(readNewItems(frame, undefined).toString()).toBe(items);
    expect(readNewItems(frame, Buffer.from(`${kept}${result},`)).toString()).toBe(items); // the calls have their results
  });

  it.each(['],[', 'junk', ',', ',,1'])('adds what is no list of items as it is, with a call before %s', (rest) => {
    const call = '{"type":"function_call","call_id":"a","name":"look","arguments":"{}"}';
    const frame = { ...readFrame(Buffer.from('{"type":"x"}')), bytes: Buffer.from(`[${call}${rest}]`) };
    const input = { name: 'input', start: 0, valueStart: 0, end: frame.bytes.length };
    const added = readNewItems({ ...frame, members: [input] }, Buffer.from(`${call},`));
    expect(added.toString()).toBe(call + rest);
  });

  it.each([
    ['{"type":"x","input":"a\\"b"}', '{"type":"message","role":"user","content":"a\\"b"}'],
    ['{"type":"x","input":[ ]}', ''],
    ['{"type":"x"}', ''],
    ['{"type":"x","input":null}', ''],
    ['{"type":"x","input":[1, 2 ]}', '1, 2'],
  ])('of %s adds the items %s', (text, items) => {
    expect(readInputItems(readFrame(Buffer.from(text))).toString()).toBe(items);
  });
});

describe('a request on a socket', () => {
  it('has a lane, what it continues, and whether it generates', () => {
    expect(
      create('{"type":"response.create","stream_id":"a.B-1_","previous_response_id":"r","generate":false}'),
    ).toMatchObject({
      streamId: 'a.B-1_',
      previousId: 'r',
      generates: false,
    });
    expect(create('{"type":"response.create","previous_response_id":null}')).toMatchObject({
      streamId: undefined,
      previousId: undefined,
      generates: true,
    });
  });

  it.each(['""', '"a b"', '1', 'null', JSON.stringify('a'.repeat(257))])('has no lane %s', (lane) => {
    expect(() => create(`{"type":"response.create","stream_id":${lane}}`)).toThrow(ProtocolFault);
  });

  it.each([
    ['{"type":"response.create","background":true}', 'background'],
    ['{"type":"response.create","backgr\\u006fund":true}', 'background'],
    ['{"type":"response.create","input":[],"input":[]}', 'input'],
    ['{"type":"response.create","input":[],"in\\u0070ut":[]}', 'input'],
    ['{"type":"response.create","previous_response_id":1}', 'previous_response_id'],
    ['{"type":"response.create","generate":nonsense}', 'generate'],
  ])('%s is refused for %s', (text, param) => {
    expect(() => create(text)).toThrow(expect.objectContaining({ details: { param } }) as Error);
  });
});

describe('the events of a stream', () => {
  it.each([
    ['as the gateway writes them', 'event: a\ndata: {"type":"a"}\n\nevent: b\ndata: {"type":"b"}\n\n'],
    ['with comments', ': keep-alive\n\nevent: a\ndata: {"type":"a"}\n\n: x\n\nevent: b\ndata: {"type":"b"}\n\n'],
    ['with other line ends', 'event: a\r\ndata: {"type":"a"}\r\n\r\nevent: b\r\ndata: {"type":"b"}\r\n\r\n'],
    ['without names', 'data: {"type":"a"}\n\ndata:{"type":"b"}\n\ndata: [DONE]\n\n'],
    ['of several lines', 'event: a\ndata: {\ndata: "type":"a"}\n\nevent: b\ndata: {"type":"b"}\n\n'],
  ])('%s are found', (_how, text) => {
    const events = parseEvents(Buffer.from(text));
    expect(events.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(events.map(({ data }) => JSON.parse(data) as unknown)).toEqual([{ type: 'a' }, { type: 'b' }]);
  });

  it('get the name of their lane', () => {
    expect(writePayload('{"type":"a"}', createLanePrefix('x'))).toBe('{"stream_id":"x","type":"a"}');
    expect(writePayload('{"type":"a"}', createLanePrefix(undefined))).toBe('{"type":"a"}');
  });

  it('keep every byte, whatever is in them', () => {
    const data = '{"type":"a","delta":"é€😀"}';
    for (const begin of ['event: a\n', '']) {
      const [event] = parseEvents(Buffer.from(`${begin}data: ${data}\n\n`));
      expect(event?.data.length).toBe(Buffer.byteLength(data));
      expect(fromByteString(event?.data ?? '')).toBe(data);
    }
  });
});

const event = (name: string, members: object) => ({
  name,
  data: toByteString(JSON.stringify({ type: name, sequence_number: 4, ...members })),
});

describe('the output of a response', () => {
  it('is its finished items, as they are written', () => {
    const output = new TurnOutput();
    expect(output.read(event('response.created', { response: { id: 'r' } }))).toBe('begun');
    expect(output.read(event('response.output_item.done', { item: { type: 'x' }, output_index: 0 }))).toBe('running');
    expect(output.read(event('response.completed', { response: { id: 'r', output: [] } }))).toBe('ended');
    expect([output.id, ...output.listItems().map(String)]).toEqual(['r', '{"type":"x"}']);
  });

  it('is that of the end where nothing else was sent', () => {
    const output = new TurnOutput();
    output.read(event('response.completed', { response: { id: 'r', output: [{ a: 1 }, { b: 2 }] } }));
    expect(output.listItems().map(String)).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('of an interrupted response has what is finished, and its usage', () => {
    const output = new TurnOutput();
    expect(output.writeInterruption(undefined)).toBeUndefined();
    output.read(event('response.created', { response: { id: 'r', status: 'in_progress', model: 'm' } }));
    output.read(event('response.output_item.done', { item: { type: 'x' } }));
    const ending = output.writeInterruption({ input: 3, output: 4 });
    expect(JSON.parse(String(ending?.data))).toMatchObject({
      type: 'response.incomplete',
      sequence_number: 5,
      response: {
        id: 'r',
        model: 'm',
        status: 'incomplete',
        incomplete_details: { reason: 'interrupted' },
        end_turn: false,
        output: [{ type: 'x' }],
        usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
      },
    });
  });

  it('of an answer that was not streamed begins and ends', () => {
    const events = convertResponseToEvents({ id: 'r', status: 'completed', output: [1], usage: {} });
    expect(events.map(({ name }) => name)).toEqual(['response.created', 'response.completed']);
    expect(JSON.parse(String(events[0]?.data))).toMatchObject({ response: { status: 'in_progress', output: [] } });
  });
});

const reply = (status: number, code: string | null, headers = {}) => ({
  status,
  headers,
  body: JSON.stringify({ error: { type: 't', code, message: 'm', param: null } }),
});

const frame = (status: number, code: string | null = null, codexIs = false, headers = {}) =>
  JSON.parse(
    writeErrorFrame(reply(status, code, headers), { isCodex: codexIs, requestId: 'req_1', streamId: 'a' }),
  ) as object;

describe('an error frame', () => {
  it('has the status, the ids, and what a POST says in its headers, twice', () => {
    const headers = { 'retry-after': '3', 'x-ratelimit-remaining': '0', 'content-type': 'x' };
    const told = { 'retry-after': '3', 'x-ratelimit-remaining': '0' };
    expect(frame(429, 'rate_limit_exceeded', false, headers)).toEqual({
      type: 'error',
      status: 429,
      request_id: 'req_1',
      stream_id: 'a',
      headers: told,
      error: { type: 't', code: 'rate_limit_exceeded', message: 'm', param: null, headers: told },
    });
  });

  it.each([429, 503])('of status %i always says when to come back', (status) => {
    expect(frame(status)).toMatchObject({
      headers: { 'retry-after': '2' },
      error: { headers: { 'retry-after': '2' } },
    });
  });

  it.each([
    [400, null, 400],
    [401, 'invalid_api_key', 400],
    [402, 'insufficient_quota', 400],
    [400, 'model_not_found', 404],
    [413, 'request_too_large', 400],
    [424, null, 400],
    [429, null, 429],
    [500, null, 503],
    [502, null, 503],
    [504, null, 503],
  ])('for Codex has in place of %i %s the status %i', (status, code, own) => {
    expect(frame(status, code, true)).toMatchObject({ status: own });
    expect(frame(status, code)).toMatchObject({ status });
  });

  it.each([
    [{ originator: 'codex_exec' }, true],
    [{ 'user-agent': 'codex_cli_rs/0.171.0 (Linux)' }, true],
    [{ 'user-agent': 'codex-tui/1' }, true],
    [{ 'user-agent': 'OpenAI/JS 7.59.0' }, false],
    [{}, false],
  ])('knows Codex by %o: %s', (headers, is) => {
    expect(isCodexClient(headers)).toBe(is);
  });
});

/** The payloads of text frames without a mask. Source: RFC 6455, section 5.2. */
function payloadsOf(bytes: Buffer): string[] {
  const payloads: string[] = [];
  for (let at = 0; at < bytes.length;) {
    expect(bytes[at]).toBe(0x81);
    const short = bytes[at + 1] as number;
    const begin = at + (short < 126 ? 2 : short === 126 ? 4 : 10);
    const long = short === 126 ? bytes.readUInt16BE(at + 2) : 0;
    const length = short < 126 ? short : short === 126 ? long : Number(bytes.readBigUInt64BE(at + 2));
    payloads.push(bytes.toString('latin1', begin, begin + length));
    at = begin + length;
  }
  return payloads;
}

describe('text messages', () => {
  it.each([0, 1, 125, 126, 16_384, 16_385, 65_535, 65_536, 100_000])('of %i bytes have their lengths', (size) => {
    const payloads = ['a'.repeat(size), '{}', 'ÿ'.repeat(size)];
    expect(payloadsOf(Buffer.from(writeTextFrames(payloads), 'latin1'))).toEqual(payloads);
  });
});
