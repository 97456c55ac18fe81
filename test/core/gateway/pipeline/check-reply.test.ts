import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import { createExchange } from '../../../support/exchange.ts';
import { reply } from './fixture.ts';

const nonsense: [string, unknown, string][] = [
  ['a string', 'hello', 'returned "hello"; a reply must be an object'],
  ['a number', 7, 'returned 7; a reply must be an object'],
  ['no status', { headers: {}, body: '' }, 'returned the status undefined; it must be an integer from 200 to 599'],
  ['a status as text', { ...reply(''), status: '200' }, 'returned the status "200"; it must be an integer'],
  ['a status that is none', { ...reply(''), status: 99 }, 'returned the status 99; it must be an integer'],
  ['no headers', { status: 200, body: '' }, 'returned the headers undefined; they must be an object'],
  [
    'a number in a header',
    { ...reply(''), headers: { 'x-a': 1 } },
    'returned the header "x-a" as 1; it must be a string',
  ],
  ['a line break in a header', { ...reply(''), headers: { 'x-a': 'a\nb' } }, 'returned a header "x-a" that HTTP'],
  [
    'a name with a space',
    { ...reply(''), headers: { 'x a': 'b' } },
    'returned a header "x a" that HTTP does not allow',
  ],
  ['an object as body', { ...reply(''), body: { a: 1 } }, 'returned the body as an object of type Object; it must be'],
  ['a stream of objects', { ...reply(''), body: Readable.from([1]) }, 'returned a body in object mode'],
];

/** The status that a client gets for what a stage returns, and the line that the operator finds. */
async function answerTo(stage: object): Promise<[number, string | undefined]> {
  const error = vi.fn<(message: string, error: Error) => void>();
  const log = { info() {}, warn() {}, error };
  const stages = [
    { name: 'odd', stage },
    { name: 'answer', stage: { enter: () => reply('fine') } },
  ];
  const { status } = await new Pipeline(stages, log).answer(createExchange());
  return [status, error.mock.calls[0]?.[1].message];
}

describe('a stage that returns nonsense is named, and its client gets a 500:', () => {
  it.each(nonsense)('enter returns %s', async (_name, value, message) => {
    const [status, logged] = await answerTo({ enter: () => value });
    expect([status, logged]).toEqual([500, expect.stringContaining(`stage "odd" ${message}`)]);
    expect(logged).toMatch(/\(enter\)$/);
  });

  it.each(nonsense)('leave returns %s', async (_name, value, message) => {
    const [status, logged] = await answerTo({ leave: async () => value });
    expect([status, logged]).toEqual([500, expect.stringContaining(`stage "odd" ${message}`)]);
    expect(logged).toMatch(/\(leave\)$/);
  });
});

it('null means the same as nothing', async () => {
  expect(await answerTo({ enter: () => null, leave: () => null })).toEqual([200, undefined]);
});
