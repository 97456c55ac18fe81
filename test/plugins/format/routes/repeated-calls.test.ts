import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { textFormats } from '../../../support/formats.ts';
import {
  block,
  bytesOf,
  call,
  chatCall,
  chunk,
  dataIn,
  head,
  parts,
  readerOf,
  readWhole,
  streamOf,
  streams,
  wholes,
} from './reply-fixture.ts';

const same = call('d', 'a', '{"x":1}');
const twice = [same, { ...same, id: 'd_2' }];
const end = chunk({}, 'tool_calls');
const entry = (index: number | undefined, args: string) => chatCall({ ...same, args }, index);
const message = (given: JsonObject): JsonObject => ({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...given }, finish_reason: 'tool_calls' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** A call in a Chat stream: its name, then its arguments. */
const pieces = (index: number, ...args: string[]) => [
  chunk({ tool_calls: [entry(index, '')] }),
  ...args.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
];
/** A Messages stream of whole blocks. */
const streamOfBlocks = (blocks: JsonObject[]) => {
  const [start] = streams.messages([]);
  const events = blocks.flatMap((one, index) => [
    { type: 'content_block_start', index, content_block: one },
    { type: 'content_block_stop', index },
  ]);
  return [start as JsonObject, ...events, ...streams.messages([]).slice(1)];
};
const passed = (events: JsonObject[]) => {
  const reader = readerOf('messages', 'messages', true);
  return { reader, events: dataIn(reader.push(bytesOf('messages', events)).toString() + reader.end().toString()) };
};

describe.each(textFormats)('two equal calls of one id, for a %s client', (client) => {
  it('are two at two indexes of one chunk, and one without indexes', () => {
    const at = (...indexes: (number | undefined)[]) => [
      chunk({ tool_calls: indexes.map((index) => entry(index, same.args)) }),
      end,
    ];
    expect(streamOf(client, 'chat', at(0, 1))).toEqual(twice);
    expect(streamOf(client, 'chat', at(undefined, undefined))).toEqual([same]);
  });

  it('are two at two indexes of a whole answer, and one without indexes', () => {
    const listed = (...indexes: (number | undefined)[]) =>
      message({ tool_calls: indexes.map((index) => entry(index, same.args)) });
    expect(readWhole(client, 'chat', listed(0, 1))).toEqual(twice);
    expect(readWhole(client, 'chat', listed(undefined, undefined))).toEqual([same]);
  });

  it('are one where a Chat stream has the second behind the first, in pieces', () => {
    expect(streamOf(client, 'chat', [...pieces(0, '{"x":1}'), ...pieces(1, '{"x"', ': 1}'), end])).toEqual([same]);
    const other = [...pieces(0, '{"x":1}'), ...pieces(1, '{"x"', ':2', '}'), end];
    expect(streamOf(client, 'chat', other)).toEqual([same, call('d_2', 'a', '{"x":2}')]);
  });

  it('are two where blocks of a Messages stream are open at the same time', () => {
    const events = streams.messages([same, same]);
    const [start, ...others] = events;
    const [open, delta, stop, openNext, deltaNext, stopNext, ...last] = others;
    const together = [start, open, openNext, delta, deltaNext, stop, stopNext, ...last] as JsonObject[];
    expect(streamOf(client, 'messages', together)).toEqual(twice);
    expect(streamOf(client, 'messages', events)).toEqual([same]);
  });

  it('are one where a call of the same id with other arguments precedes them', () => {
    const other = call('d', 'a', '{"x":2}');
    expect(streamOf(client, 'messages', streams.messages([same, other, other]))).toEqual([
      same,
      { ...other, id: 'd_2' },
    ]);
  });

  it('are one in a Gemini stream that sends the first in pieces', () => {
    const begun = { functionCall: { id: 'd', name: 'a', willContinue: true } };
    const piece = { functionCall: { partialArgs: [{ jsonPath: '$.x', numberValue: 1 }], willContinue: true } };
    const over = { functionCall: {} };
    const whole = { functionCall: { id: 'd', name: 'a', args: { x: 1 } } };
    const events = [parts([begun]), parts([piece]), parts([over, whole]), parts([{ text: '' }], 'STOP')];
    const got = streamOf(client, 'gemini', events);
    if (client === 'gemini') expect(got.map(({ id }) => id)).toEqual(['d', 'undefined', 'undefined']);
    else expect(got).toEqual([same]);
  });
});

describe.each(textFormats)('a call that a server writes in both forms of Chat, for a %s client', (client) => {
  const old = { name: 'a', arguments: '{"x": 1}' };
  const current = entry(0, same.args);

  it('is one in a whole answer', () => {
    expect(readWhole(client, 'chat', message({ tool_calls: [current], function_call: old }))).toEqual([same]);
  });

  it('is one in a stream with both in each delta', () => {
    const events = [
      chunk({ tool_calls: [entry(0, '')], function_call: { name: 'a', arguments: '' } }),
      ...['{"x"', ':1}'].map((args) =>
        chunk({ tool_calls: [{ index: 0, function: { arguments: args } }], function_call: { arguments: args } }),
      ),
      end,
    ];
    expect(streamOf(client, 'chat', events)).toEqual([same]);
  });

  it.each([
    ['behind the other', [chunk({ tool_calls: [current] }), chunk({ function_call: old }), end]],
    [
      'behind the other, in pieces',
      [
        chunk({ tool_calls: [current] }),
        chunk({ function_call: { name: 'a', arguments: '' } }),
        chunk({ function_call: { arguments: '{"x"' } }),
        chunk({ function_call: { arguments: ':1}' } }),
        end,
      ],
    ],
  ])('is one in a stream with one form %s', (_what, events) => {
    expect(streamOf(client, 'chat', events)).toEqual([same]);
  });

  it('stays another call where its arguments differ', () => {
    const other = message({ tool_calls: [current], function_call: { name: 'a', arguments: '{"x":2}' } });
    expect(readWhole(client, 'chat', other).map(({ args }) => args)).toEqual(['{"x":1}', '{"x":2}']);
  });
});

describe('a Messages stream with a repeated call', () => {
  it('has the blocks behind it one place further up', () => {
    const blocks = [block(same), { type: 'text', text: 'One' }, block(same), { type: 'text', text: 'Two' }];
    const { reader, events } = passed(streamOfBlocks(blocks));
    const got = events.filter(({ type }) => String(type).startsWith('content_block'));
    expect(got.map(({ index }) => index)).toEqual([0, 0, 1, 1, 2, 2]);
    expect(got.at(-2)).toMatchObject({ index: 2, content_block: { text: 'Two' } });
    expect(reader.failure).toBeUndefined();
  });

  it('keeps a repeated call that has no end, if its input differs', () => {
    const [start, open, delta, stop] = streams.messages([same]);
    const second = [open, delta].map((event) => ({ ...event, index: 1 }) as JsonObject);
    const other = { ...second[1], delta: { type: 'input_json_delta', partial_json: '{"x":2}' } } as JsonObject;
    const ending = streams.messages([]).slice(1);
    const cut = (last: JsonObject) => [start, open, delta, stop, second[0], last, ...ending] as JsonObject[];
    expect(streamOf('messages', 'messages', cut(other))).toEqual([same, call('d_2', 'a', '{"x":2}')]);
    expect(streamOf('messages', 'messages', cut(second[1] as JsonObject))).toEqual([same]);
  });
});

it('a Gemini answer with one id for two calls keeps the digits of long numbers', () => {
  const args = '{"n":12345678901234567890}';
  const written = JSON.stringify(wholes.gemini([call('d', 'a'), call('d', 'b')])).replaceAll(
    '"args":{}',
    `"args":${args}`,
  );
  const { body } = readerOf('gemini', 'gemini', false).whole(Buffer.from(written), 'application/json');
  expect(body.toString().split(args)).toHaveLength(3);
  expect(body.toString()).toContain('"id":"d_2"');
});

it('a Gemini answer without ids, or with different ones, passes as it came', () => {
  const bare = parts([{ functionCall: { name: 'a', args: {} } }, { functionCall: { name: 'a', args: {} } }], 'STOP');
  const named = wholes.gemini([call('d', 'a'), call('e', 'a')]);
  for (const answer of [bare, named]) {
    const given = Buffer.from(JSON.stringify(answer));
    const { body } = readerOf('gemini', 'gemini', false).whole(given, 'application/json');
    expect(body.toString()).toBe(given.toString().replace('"there"', '"asked-for"'));
  }
});

it('each answer of a Gemini reply has ids of its own', () => {
  const part = { functionCall: { id: 'd', name: 'a', args: {} } };
  const candidate = (index: number) => ({ index, content: { role: 'model', parts: [part] }, finishReason: 'STOP' });
  const answer = { ...parts([], 'STOP'), candidates: [candidate(0), candidate(1)] };
  const { body } = readerOf('gemini', 'gemini', false).whole(Buffer.from(JSON.stringify(answer)), 'application/json');
  expect(body.toString().match(/"id":"d"/g)).toHaveLength(2);
});
