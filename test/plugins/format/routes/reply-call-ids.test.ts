import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import {
  bytesOf,
  call,
  chatCall,
  chunk,
  dataIn,
  formats,
  head,
  pairs,
  readerOf,
  readStream,
  readWhole,
  streamed,
  streamOf,
  streams,
  whole,
  wholes,
} from './reply-fixture.ts';

describe.each(pairs)('a %s client of a %s upstream', (client, upstream) => {
  it.each([
    ['another name', [call('d', 'a'), call('d', 'b')], ['d', 'd_2']],
    ['other arguments', [call('d', 'a', '{"x":1}'), call('d', 'a', '{"x":2}')], ['d', 'd_2']],
    ['others between them', [call('d', 'a'), call('e', 'a'), call('d', 'b'), call('d', 'c')], ['d', 'e', 'd_2', 'd_3']],
  ] as const)('gets two calls with one id under two ids: %s', (_what, calls, ids) => {
    const expected = calls.map((one, index) => ({ ...one, id: ids[index] }));
    expect(whole(client, upstream, calls)).toEqual(expected);
    expect(streamed(client, upstream, calls)).toEqual(expected);
  });

  it('gets unique ids as they came', () => {
    const calls = [call('call_1', 'a'), call('toolu_2', 'a')];
    expect([whole(client, upstream, calls), streamed(client, upstream, calls)]).toEqual([calls, calls]);
  });

  it('gets a call that is repeated once', () => {
    const calls = [call('d', 'a', '{"x":1}'), call('e', 'a'), call('d', 'a', '{"x":1}'), call('d', 'b')];
    const expected = [calls[0], calls[1], { ...calls[3], id: 'd_2' }];
    expect(whole(client, upstream, calls)).toEqual(expected);
    expect(streamed(client, upstream, calls)).toEqual(expected);
  });
});

describe.each(formats)('ids for a Messages client of a %s upstream', (upstream) => {
  it('ids that Anthropic refuses become others, the same streamed and whole', () => {
    const calls = [call('functions.Bash:0', 'a'), call('functions.Bash:0', 'b'), call('toolu_1', 'c')];
    const got = whole('messages', upstream, calls);
    expect(got.every(({ id }) => /^[a-zA-Z0-9_-]+$/.test(id))).toBe(true);
    expect(new Set(got.map(({ id }) => id)).size).toBe(3);
    expect(got[2]?.id).toBe('toolu_1');
    expect(streamed('messages', upstream, calls)).toEqual(got);
  });
});

it.each(['', null])('calls of a Messages answer without ids get some, the same streamed and whole: %j', (id) => {
  const named = [call('', 'a'), call('', 'b'), call('toolu_1', 'c')];
  const nameless = (text: string) => text.replaceAll('"id":""', `"id":${JSON.stringify(id)}`);
  const answer = JSON.parse(nameless(JSON.stringify(wholes.messages(named)))) as JsonObject;
  const events = JSON.parse(nameless(JSON.stringify(streams.messages(named)))) as JsonObject[];
  const got = readWhole('messages', 'messages', answer);
  expect(got.map((one) => one.id)).toEqual(['call_x1_0', 'call_x1_1', 'toolu_1']);
  expect(streamOf('messages', 'messages', events)).toEqual(got);
});

it.each(formats)('the end of a Chat stream that repeats its calls adds none: %s', (client) => {
  const calls = [call('d', 'a', '{"x":1}'), call('d', 'a', '{"x":2}'), call('d', 'b')];
  const events = streams.chat(calls);
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: calls.map((one) => chatCall({ ...one, args: one.args.replace(':', ': ') })),
  };
  const repeated = {
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
  };
  expect(streamOf(client, 'chat', [...events.slice(0, -1), repeated]).map(({ id }) => id)).toEqual(['d', 'd_2', 'd_3']);
});

it.each(formats)('a Chat stream in which every call has the index 0 has calls of one id: %s', (client) => {
  const entries = [call('d', 'a', '{"x":1}'), call('d', 'a', '{"x":2}'), call('d', 'b', '{}'), call('d', 'b', '{}')];
  const events = [...entries.map((one) => chunk({ tool_calls: [chatCall(one, 0)] })), chunk({}, 'tool_calls')];
  expect(streamOf(client, 'chat', events)).toEqual([
    entries[0],
    { ...entries[1], id: 'd_2' },
    { ...entries[2], id: 'd_3' },
  ]);
});

it.each(formats)('calls of one id that come together stay two: %s', (client) => {
  const events = [
    chunk({ tool_calls: [chatCall(call('d', 'a', ''), 0), chatCall(call('d', 'a', ''), 1)] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] }),
    chunk({ tool_calls: [{ index: 1, function: { arguments: '{"x":' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
    chunk({ tool_calls: [{ index: 1, function: { arguments: '1}' } }] }),
    chunk({}, 'tool_calls'),
  ];
  expect(streamOf(client, 'chat', events)).toEqual([call('d', 'a', '{"x":1}'), call('d_2', 'a', '{"x":1}')]);
});

it('a Responses client of a Responses upstream gets a call that the stream repeats once', () => {
  const calls = [call('d', 'a', '{"x":1}'), call('d', 'a', '{"x": 1}'), call('d', 'a', '{"x":2}')];
  const expected = [calls[0], { ...calls[2], id: 'd_2' }];
  for (const client of formats) expect(streamed(client, 'responses', calls)).toEqual(expected);
});

it('a Chat client gets no id of null behind the first piece of a call', () => {
  const reader = readerOf('chat', 'chat', true);
  const piece = { index: 0, id: null, function: { arguments: '{}' } };
  const empty = { ...piece, id: '', function: { arguments: ' ' } };
  const events = [
    chunk({ tool_calls: [chatCall(call('d', 'a', ''), 0)] }),
    chunk({ tool_calls: [piece] }),
    chunk({ tool_calls: [empty] }),
    chunk({}, 'tool_calls'),
  ];
  const text = reader.push(bytesOf('chat', events)).toString();
  expect(text.match(/"id":(null|"")/)).toBeNull();
  expect(readStream.chat(dataIn(text))).toEqual([call('d', 'a', '{} ')]);
});
