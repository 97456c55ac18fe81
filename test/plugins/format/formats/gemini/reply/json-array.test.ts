import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { asJsonArray } from '../../../../../../plugins/format/formats/gemini/reply/json-array.ts';
import { createExchange } from '../../../../../support/exchange.ts';
import { descriptors } from '../../../../../support/formats.ts';

const endpoint: Endpoint = {
  name: 'stream_generate_content',
  method: 'POST',
  path: '/v1beta/models/{id*}:streamGenerateContent',
  format: descriptors.gemini,
  isMetered: true,
};
const stream = ': keep-alive\n\ndata: {"a":"Grüße"}\n\ndata: {"b":2}\n\n';
const replyOf = (body: Reply['body'], contentType = 'text/event-stream; charset=utf-8'): Reply => ({
  status: 200,
  headers: { 'content-type': contentType },
  body,
});
const arrayOf = (body: string) => JSON.parse(String(asJsonArray(createExchange({ endpoint }), replyOf(body)).body));
const cut = (events: string, error: Error) =>
  Readable.from(
    (async function* () {
      yield Buffer.from(events);
      throw error;
    })(),
    { objectMode: false },
  );

describe('a Gemini stream for a client that did not ask for events', () => {
  it('a Gemini stream without alt=sse is one JSON array, wherever its bytes are cut', async () => {
    const bytes = Buffer.from(stream);
    for (let at = 1; at < bytes.length; at++) {
      const body = Readable.from([bytes.subarray(0, at), bytes.subarray(at)], { objectMode: false });
      const reply = asJsonArray(createExchange({ endpoint }), replyOf(body));
      expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(JSON.parse(await textOf(reply.body as Readable))).toEqual([{ a: 'Grüße' }, { b: 2 }]);
    }
  });

  it('a Gemini array may have keep-alives before it and between its entries', async () => {
    const chunks = stream.split(/(?<=\n\n)/).map((event) => Buffer.from(event));
    const reply = asJsonArray(createExchange({ endpoint }), replyOf(Readable.from(chunks, { objectMode: false })));
    const pieces: string[] = [];
    for await (const piece of reply.body as Readable) pieces.push(String(piece));
    expect(pieces).toHaveLength(3);
    expect(JSON.parse(pieces.map((piece) => `${reply.keepAlive}${piece}`).join(''))).toEqual([
      { a: 'Grüße' },
      { b: 2 },
    ]);
  });

  it('a Gemini array is complete when all entries came at once, and when there are none', () => {
    expect(arrayOf(stream)).toEqual([{ a: 'Grüße' }, { b: 2 }]);
    expect(arrayOf('')).toEqual([]);
  });

  it('a truncated Gemini array has an error as its last entry, and breaks off with it, not closed', async () => {
    const error = new GatewayError('upstream_timeout', 'silent');
    const reply = asJsonArray(createExchange({ endpoint }), replyOf(cut('data: {"a":1}\n\n', error)));
    let text = '';
    const reading = (async () => {
      for await (const piece of reply.body as Readable) text += String(piece);
    })();
    await expect(reading).rejects.toBe(error);
    expect(JSON.parse(`${text}]`)).toEqual([
      { a: 1 },
      { error: { code: 504, message: expect.stringMatching(/ silent$/), status: 'DEADLINE_EXCEEDED' } },
    ]);
  });

  it.each([
    ['before it is read', async () => undefined],
    ['while it is silent', (body: Readable) => once(body, 'data')],
  ])('a Gemini array is closed when the client leaves %s', async (_when, read) => {
    const source = new Readable({ read: () => undefined });
    source.push('data: {"a":1}\n\n');
    const body = asJsonArray(createExchange({ endpoint }), replyOf(source)).body as Readable;
    await read(body);
    const closed = once(source, 'close');
    body.destroy();
    await closed;
    expect(source.destroyed).toBe(true);
  });
});

it('replies other than Gemini streams are not turned into arrays', () => {
  const asked = replyOf(Readable.from([stream]));
  expect(asJsonArray(createExchange({ endpoint, query: 'alt=sse' }), asked)).toBe(asked);
  expect(asJsonArray(createExchange(), asked)).toBe(asked);
  const error = replyOf('{}', 'application/json');
  expect(asJsonArray(createExchange({ endpoint }), error)).toBe(error);
});
