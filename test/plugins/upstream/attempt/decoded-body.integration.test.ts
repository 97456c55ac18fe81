import type { Readable } from 'node:stream';
import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { ProcessMemory } from '#core/platform/memory/budget.ts';
import { runAsNode } from '../../../support/as-node.ts';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import {
  answer,
  attemptsOf,
  content,
  exchangeFor,
  finish,
  refusalOf,
  routeTo,
  serve,
  textOf,
  upstreamAt,
  useRelay,
} from '../fixture.ts';

const fixture = useRelay();

const codings: readonly [string, (text: string) => Buffer][] = [
  ['gzip', gzipSync],
  ['GZIP', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
];
const quickBrotli = (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const body = JSON.stringify(answer);
const eventOf = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
const counted = { ...finish, choices: [], usage: answer.usage };
const stream = [content('one '), content('two'), finish, counted, '[DONE]'].map(eventOf).join('');

/** Sends these bytes with these headers. */
const sending =
  (bytes: Buffer, coding: string, status = 200, type = 'application/json'): Handler =>
  (_request, response) =>
    response.send(status, { 'content-type': type, 'content-encoding': coding }, bytes);

/** Asks an upstream, and a backup after it. */
async function ask(handler: Handler, isStream = false) {
  await using upstream = await createUpstream(handler);
  await using backup = await createUpstream(serve);
  const routes = [routeTo(upstreamAt(upstream.url)), routeTo(upstreamAt(backup.url, { name: 'two' }))];
  const exchange = exchangeFor(routes, { isStream });
  const reply = await fixture.relay(exchange);
  return { text: await textOf(reply), attempts: attemptsOf(exchange) };
}
/** What is reserved of memory for the answer of one route. */
async function reservedFor(handler: Handler) {
  await using upstream = await createUpstream(handler);
  const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))]);
  Object.assign(exchange, { memory: new ProcessMemory(100_000_000).createShare('a') });
  const text = await textOf(await fixture.relay(exchange));
  return { length: text.length, bytes: exchange.memory.bytes };
}
const served = ['one/model-there served 200'];
const failedOver = ['one/model-there failed 200', 'two/model-there served 200'];

describe('an answer in br on a Node.js whose decoder of Brotli is not safe', () => {
  it.each([
    ['whole', body, false, 'application/json'],
    ['streamed', stream, true, 'text/event-stream'],
  ])('is not decoded, and fails over: %s', async (_kind, text, isStream, type) => {
    using _old = runAsNode('26.10.0');
    const { attempts } = await ask(sending(brotliCompressSync(text), 'br', 200, type), isStream);
    expect(attempts).toEqual(failedOver);
  });

  it('is not decoded when it refuses the request', async () => {
    using _old = runAsNode('26.10.0');
    const refusal = brotliCompressSync(JSON.stringify({ error: { message: 'max_tokens is too large' } }));
    const refused = await refusalOf(ask(sending(refusal, 'br', 400)));
    expect(refused.message).not.toContain('max_tokens');
  });

  it.each(codings.filter(([coding]) => coding !== 'br'))('is read as ever in %s', async (coding, compress) => {
    using _old = runAsNode('24.22.0');
    expect(await ask(sending(compress(body), coding))).toEqual({ text: body, attempts: served });
  });
});

describe('an answer that is compressed unasked', () => {
  it.each(codings)('an answer that is compressed unasked is read: whole in %s', async (coding, compress) => {
    expect(await ask(sending(compress(body), coding))).toEqual({ text: body, attempts: served });
  });

  it.each(codings)('an answer that is compressed unasked is read: streamed in %s', async (coding, compress) => {
    const { text, attempts } = await ask(sending(compress(stream), coding, 200, 'text/event-stream'), true);
    expect([text, attempts]).toEqual([stream, served]);
  });

  it.each(codings)(
    'an answer that is compressed unasked is understood when it refuses the request: in %s',
    async (coding, compress) => {
      const refusal = compress(JSON.stringify({ error: { message: 'max_tokens is too large', type: 'odd' } }));
      const refused = await refusalOf(ask(sending(refusal, coding, 400)));
      expect(refused.message).toContain('max_tokens is too large');
    },
  );

  it.each(codings)(
    'an answer that is compressed unasked reserves no more than any other: in %s',
    async (coding, compress) => {
      const long = JSON.stringify({ ...answer, padding: 'a'.repeat(1_000_000) });
      const plain = await reservedFor(sending(Buffer.from(long), 'identity'));
      expect(plain.bytes).toBeGreaterThan(0);
      expect(await reservedFor(sending(compress(long), coding))).toEqual(plain);
    },
  );

  it('an answer that is compressed unasked is read whatever its content type', async () => {
    const { text } = await ask(sending(gzipSync(stream), 'gzip', 200, 'text/plain'), true);
    expect(text).toBe(stream);
  });

  it('an answer that is compressed unasked fails over when it is cut', async () => {
    const bytes = gzipSync(body);
    expect((await ask(sending(bytes.subarray(0, bytes.length - 12), 'gzip'))).attempts).toEqual(failedOver);
  });

  it('an answer that is compressed unasked fails over when it is not what its header says', async () => {
    expect((await ask(sending(Buffer.from(body), 'gzip'))).attempts).toEqual(failedOver);
  });

  it('an answer that is compressed unasked fails over if its coding is unknown', async () => {
    expect((await ask(sending(Buffer.from(body), 'pack200'))).attempts).toEqual(failedOver);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', quickBrotli],
    ['zstd', zstdCompressSync],
  ])('fails over when it becomes too large: %s', async (coding, compress) => {
    const bomb = compress(Buffer.alloc(bounds.bufferedReply + 1_048_576, ' '));
    expect((await ask(sending(bomb, coding))).attempts).toEqual(failedOver);
  });
});

/** Compresses event by event, and flushes after each. */
const flushing = (play: (send: (value: unknown) => Promise<void>, cut: () => void) => Promise<void>): Handler => {
  return async (_request, response) => {
    response.head(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
    gzip.on('data', (chunk: Buffer) => void response.write(chunk));
    const send = (value: unknown) => new Promise<void>((resolve) => gzip.write(eventOf(value), () => resolve()));
    await play(send, () => response.cut());
  };
};
const relay = async (url: string) => {
  const reply = await fixture.relay(exchangeFor([routeTo(upstreamAt(url))], { isStream: true }));
  return (reply.body as Readable)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
};

describe('a stream that is compressed unasked', () => {
  it('a stream that is compressed unasked passes each event when it comes', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using upstream = await createUpstream(
      flushing(async (send) => {
        await send(content('one '));
        await gates[0]?.promise;
        await send(content('two'));
        await gates[1]?.promise;
      }),
    );
    const events = await relay(upstream.url);
    expect((await events.next()).value?.toString()).toBe(eventOf(content('one ')));
    gates[0]?.resolve();
    expect((await events.next()).value?.toString()).toBe(eventOf(content('two')));
    gates[1]?.resolve();
    await events.return?.();
  });

  it('a stream that is compressed unasked ends with an error when it is cut in its text', async () => {
    await using upstream = await createUpstream(
      flushing(async (send, cut) => {
        await send(content('one '));
        await fixture.firstReply;
        cut();
      }),
    );
    const events = await relay(upstream.url);
    expect((await events.next()).value?.toString()).toBe(eventOf(content('one ')));
    await expect(events.next()).rejects.toMatchObject({ code: 'upstream_failed' });
  });

  it('a stream that is compressed unasked waits for a reader that reads nothing, however much it becomes', async () => {
    const events = eventOf(content('x'.repeat(1000))).repeat(100_000); // 100 MB
    await using upstream = await createUpstream(sending(gzipSync(events), 'gzip', 200, 'text/event-stream'));
    const reply = await fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true }));
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    expect((reply.body as Readable).readableLength).toBeLessThan(1024 * 1024);
    (reply.body as Readable).destroy();
  });
});
