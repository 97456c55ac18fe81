import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findDecoder } from '#core/gateway/http/body-decoder.ts';
import type { Serving } from '#core/gateway/http/open-exchange.ts';
import { parseJsonBody, RequestBody } from '#core/gateway/http/request-body.ts';
import { type InboundMessage, openMessageExchange } from '#core/gateway/http/run-message.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { maxJsonDepth } from '#core/platform/json.ts';
import { footprint, ProcessMemory, type MemoryShare, unlimitedMemory } from '#core/platform/memory/budget.ts';
import { runAsNode } from '../../../support/as-node.ts';

interface Sending {
  readonly headers?: Record<string, string>;
  readonly maxBytes?: number;
  readonly timeout?: number;
  readonly minRate?: number;
  readonly memory?: MemoryShare;
}

/** A request whose body the test sends piece by piece. */
function receive({
  headers = {},
  maxBytes = 1_000,
  timeout = 10,
  minRate = 0.01,
  memory = unlimitedMemory.createShare(''),
}: Sending = {}) {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  let invitations = 0;
  const body = new RequestBody(request, { maxBytes, timeout, minRate }, memory, () => invitations++);
  return { request, body, invitations: () => invitations };
}

/** A request whose body has come as a whole. */
function received(bytes: string | Buffer, sending?: Sending): RequestBody {
  const { request, body } = receive(sending);
  if (bytes.length > 0) request.push(bytes);
  request.push(null);
  request.complete = true;
  return body;
}

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'it was taken',
    (error: unknown) => (error instanceof GatewayError ? error.code : String(error)),
  );

afterEach(() => {
  vi.useRealTimers();
});

describe('a body that has come as a message', () => {
  it('is reserved when it is read, after its sender has released it', async () => {
    const memory = new ProcessMemory(1_000_000).createShare('');
    const onRead = vi.fn<() => void>(() => expect(memory.bytes).toBe(0));
    const serving = { host: { now: () => 0, memory: { createShare: () => memory } }, bodyLimits: { maxBytes: 10_000 } };
    const endpoint = { name: 'responses', method: 'POST', path: '/v1/responses' };
    const body = [Buffer.from('{"a":['), Buffer.from('1,2]}')];
    const message = { endpoint, path: endpoint.path, headers: {}, body, onRead };
    const exchange = openMessageExchange(message as unknown as InboundMessage, serving as unknown as Serving);
    expect(onRead).not.toHaveBeenCalled();
    expect(await exchange.body.json()).toEqual({ a: [1, 2] });
    expect(memory.bytes).toBe(11 * footprint.request);
    await exchange.body.bytes();
    expect(onRead).toHaveBeenCalledTimes(1);
  });
});

describe('a request body', () => {
  it('is whole when all of its chunks have come before it is read', async () => {
    const { request, body } = receive();
    for (const piece of ['{"a"', ':', '1}']) request.push(piece);
    request.push(null);
    request.complete = true;
    expect(await body.json()).toEqual({ a: 1 });
  });

  it('in chunks is joined', async () => {
    const { request, body } = receive();
    for (const piece of ['{"a"', ':', '1}']) request.push(piece);
    request.push(null);
    expect(await body.json()).toEqual({ a: 1 });
  });

  it('is read once, however often it is requested', async () => {
    const body = received('{"a":1}');
    const [first, second] = await Promise.all([body.json(), body.json()]);
    expect(first).toBe(second);
    expect(await body.bytes()).toBe(await body.bytes());
  });

  it('is not read before a stage asks for it', () => {
    const { request, invitations } = receive();
    expect([request.readableFlowing, invitations()]).toEqual([null, 0]);
  });

  it('sends 100 Continue once', async () => {
    const { request, body, invitations } = receive();
    request.push(null);
    await Promise.all([body.bytes(), body.text()]);
    expect(invitations()).toBe(1);
  });

  it('that is empty has no bytes', async () => {
    expect(await received('').bytes()).toHaveLength(0);
  });

  it('that is truncated is refused', async () => {
    const { request, body } = receive();
    const bytes = body.bytes();
    request.push('{');
    request.destroy(new Error('aborted'));
    expect(await codeOf(bytes)).toBe('invalid_request');
  });
});

describe('a request body that is too large', () => {
  it('is refused by its declared length before 100 Continue', async () => {
    const { body, invitations } = receive({ headers: { 'content-length': '1001' } });
    expect([await codeOf(body.bytes()), invitations()]).toEqual(['request_too_large', 0]);
  });

  it('is refused at the first byte over the limit', async () => {
    const { request, body } = receive();
    const bytes = body.bytes();
    request.push(Buffer.alloc(1_000));
    request.push('x');
    expect(await codeOf(bytes)).toBe('request_too_large');
  });

  it('is not read any further', async () => {
    const { request, body } = receive();
    const bytes = body.bytes();
    request.push(Buffer.alloc(1_001));
    await codeOf(bytes);
    expect(request.isPaused()).toBe(true);
  });

  it('is also one that exceeds its declared length', async () => {
    expect(await codeOf(received(Buffer.alloc(1_001), { headers: { 'content-length': '5' } }).bytes())).toBe(
      'request_too_large',
    );
  });

  it('is also one that is too large after decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    const headers = { 'content-encoding': 'gzip' };
    expect(await codeOf(received(bomb, { headers, maxBytes: 10_000 }).bytes())).toBe('request_too_large');
  });

  it('is larger than the limit, not equal to it', async () => {
    const headers = { 'content-length': '1000' };
    expect(await received(Buffer.alloc(1_000), { headers }).bytes()).toHaveLength(1_000);
  });
});

describe('a request body that does not arrive', () => {
  it('times out', async () => {
    vi.useFakeTimers();
    const { body } = receive({ timeout: 10 });
    const code = codeOf(body.bytes());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await code).toBe('request_timeout');
  });

  it('is refused at once when it is cut inside its compression', async () => {
    vi.useFakeTimers();
    const { request, body } = receive({ headers: { 'content-encoding': 'gzip' } });
    const code = codeOf(body.bytes());
    request.push(gzipSync('{"a":1}').subarray(0, 12));
    await vi.advanceTimersByTimeAsync(0);
    request.destroy(new Error('aborted'));
    expect(await Promise.race([code, vi.advanceTimersByTimeAsync(1).then(() => 'still waiting')])).toBe(
      'invalid_request',
    );
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is read on while bytes arrive', async () => {
    vi.useFakeTimers();
    const { request, body } = receive({ timeout: 10 });
    const bytes = body.bytes();
    for (const _ of [1, 2, 3]) {
      await vi.advanceTimersByTimeAsync(9_000);
      request.push('x');
      await vi.advanceTimersByTimeAsync(0);
    }
    request.push(null);
    expect(await bytes).toHaveLength(3);
  });

  it('times out when it drips, although no byte is late', async () => {
    vi.useFakeTimers();
    const { request, body } = receive({ timeout: 10, minRate: 100 });
    const began = performance.now();
    const code = codeOf(body.bytes()).then((reason) => [reason, Math.round((performance.now() - began) / 1000)]);
    for (let seconds = 0; seconds < 20; seconds++) {
      await vi.advanceTimersByTimeAsync(1_000);
      if (seconds < 15) request.push('x');
    }
    expect(await code).toEqual(['request_timeout', 11]);
  });

  it('may take longer than the timeout at the rate of a phone', async () => {
    vi.useFakeTimers();
    const megabytes = 30 * 1024 * 1024;
    const { request, body } = receive({ timeout: 60, minRate: 10_000, maxBytes: 32 * 1024 * 1024 });
    const bytes = body.bytes();
    for (let sent = 0; sent < megabytes; sent += 48 * 1024) {
      await vi.advanceTimersByTimeAsync(1_000);
      request.push(Buffer.alloc(48 * 1024));
    }
    request.push(null);
    expect((await bytes).length).toBe(megabytes);
  });

  it('leaves no timer behind once it has arrived', async () => {
    vi.useFakeTimers();
    await received('x').bytes();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a content-encoding', () => {
  const text = '{"a":1}';
  it.each([
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['identity', Buffer.from(text)],
    [' GZIP ', gzipSync(text)],
  ])('of %j is undone', async (encoding, bytes) => {
    expect(await received(bytes, { headers: { 'content-encoding': encoding } }).text()).toBe(text);
  });

  it.each(['compress', 'gzip, br', '', '*', 'constructor', '__proto__'])('of %j is not supported', async (encoding) => {
    const headers = { 'content-encoding': encoding };
    expect(await codeOf(received(text, { headers }).bytes())).toBe('unsupported_media_type');
  });

  it.each([
    ['something else', Buffer.from(text)],
    ['only half', gzipSync(text).subarray(0, 12)],
  ])('that turns out to be %s is refused', async (_name, bytes) => {
    expect(await codeOf(received(bytes, { headers: { 'content-encoding': 'gzip' } }).bytes())).toBe('invalid_request');
  });
});

describe('a content-encoding on a Node.js whose decoder of Brotli is not safe', () => {
  it('of br is refused with the reason', async () => {
    using _old = runAsNode('26.10.0');
    const refused = received(brotliCompressSync('{}'), { headers: { 'content-encoding': 'br' } }).bytes();
    await expect(refused).rejects.toMatchObject({
      code: 'unsupported_media_type',
      message:
        'Content-Encoding "br" is disabled until the operator updates Node.js. Send the body uncompressed, or as gzip or zstd.',
    });
  });

  it.each(['gzip', 'x-gzip', 'deflate', 'zstd', 'identity'])('of %s is undone as ever', (encoding) => {
    expect(typeof findDecoder(encoding, '24.22.0')).toBe(typeof findDecoder(encoding, '26.12.1'));
  });

  it('of another kind is refused without br among those to use', () => {
    expect(() => findDecoder('compress', '24.22.0')).toThrow(/not supported\. .* or as gzip or zstd\.$/);
    expect(() => findDecoder('compress', '26.12.1')).toThrow(/not supported\. .* or as gzip, br or zstd\.$/);
  });
});

describe('a content-type', () => {
  it.each(['application/json', 'APPLICATION/JSON ; charset=utf-8', 'application/problem+json', 'text/plain', ' ', ';'])(
    'of %j is taken for JSON',
    async (type) => {
      expect(await received('{"a":1}', { headers: { 'content-type': type } }).json()).toEqual({ a: 1 });
    },
  );

  it('may be missing', async () => {
    expect(await received('{"a":1}').json()).toEqual({ a: 1 });
  });

  it.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/html',
    'application/json, application/json',
    'json',
    'x'.repeat(5_000),
  ])('of %j is not', async (type) => {
    expect(await codeOf(received('{"a":1}', { headers: { 'content-type': type } }).json())).toBe(
      'unsupported_media_type',
    );
  });

  it('does not matter to stages that read bytes', async () => {
    expect(await received('x', { headers: { 'content-type': 'image/png' } }).text()).toBe('x');
  });
});

const refused = (text: string): string => {
  try {
    parseJsonBody(text);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message;
  }
  throw new Error('it was taken');
};
const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

describe('a JSON body', () => {
  it.each(['{', '{"a":1,}', '{"a":1}}', "{'a':1}", 'undefined', '{"a":NaN}', ' ', '{"a":"\u0000"}'])(
    'that is broken is refused: %j',
    (text) => {
      expect(refused(text)).toMatch(/^The body is not valid JSON/);
    },
  );

  it.each(['null', '1', '"text"', '[]', '[{}]', 'true'])('that is not an object is refused: %s', (text) => {
    expect(refused(text)).toBe('The body must be a JSON object.');
  });

  it('that is malformed is refused without being quoted', () => {
    expect(refused('{"key": sk-secret}')).not.toContain('secret');
  });

  it('that is malformed is refused with the position', () => {
    expect(refused('{"a":1,}')).toContain('position 7');
  });

  it('may nest to the limit', () => {
    expect(parseJsonBody(nested(maxJsonDepth))).toHaveProperty('a');
  });

  it.each([maxJsonDepth + 1, 1_000, 100_000])('may not nest deeper: %i levels', (levels) => {
    expect(refused(nested(levels))).toBe(`The body is nested deeper than ${maxJsonDepth} levels.`);
  });

  it('with a duplicate name keeps the last', () => {
    expect(parseJsonBody('{"a":1,"a":2}')).toEqual({ a: 2 });
  });

  it('with __proto__ treats it like any other name', () => {
    const body = parseJsonBody('{"__proto__":{"x":1}}');
    expect([Object.hasOwn(body, '__proto__'), Object.getPrototypeOf(body)]).toEqual([true, Object.prototype]);
  });

  it.each([[[0xff, 0xc3]], [[0xe2, 0x98]], [[0xed, 0xa0, 0x80]]])(
    'with invalid UTF-8 is refused: %j',
    async (bytes) => {
      const body = received(Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]));
      await expect(body.json()).rejects.toMatchObject({ code: 'invalid_request' });
      await expect(body.json()).rejects.toThrow('not valid UTF-8');
    },
  );

  it('with a lone surrogate is accepted', () => {
    expect(parseJsonBody(String.raw`{"a":"\ud800"}`)).toEqual({ a: '\ud800' });
  });
});

describe('a body that does not fit into memory', () => {
  const maxBytes = 10_000_000;

  it('is refused as soon as its bytes do not, with a time to retry', async () => {
    const memory = new ProcessMemory(5_000_000).createShare('a');
    const { request, body } = receive({ maxBytes, memory });
    const failure = body.bytes().catch((error: unknown) => error);
    request.push(Buffer.alloc(800_000));
    request.push(Buffer.alloc(800_000));
    expect(await failure).toMatchObject({ code: 'unavailable', details: { retryAfter: 1 } });
    expect(memory.bytes).toBe(4_000_000);
  });

  it('holds nothing by the length that it declares', async () => {
    const memory = new ProcessMemory(5_000_000).createShare('a');
    const { request, body } = receive({ maxBytes, memory, headers: { 'content-length': '9000000' } });
    const bytes = body.bytes();
    request.push('{}');
    request.push(null);
    await bytes;
    expect(memory.bytes).toBeLessThan(100);
  });

  it('is refused when its text needs two bytes for each character', async () => {
    const memory = new ProcessMemory(5_000_000).createShare('a');
    const body = received(`{"a":"é${'a'.repeat(800_000)}"}`, { maxBytes, memory });
    expect(await codeOf(body.json())).toBe('unavailable');
  });
});

const chatOf = (length: number) => JSON.stringify({ messages: [{ role: 'user', content: 'a'.repeat(length) }] });

describe('a body that is decompressed', () => {
  const headers = { 'content-encoding': 'gzip' };
  const longPiece = 262_144;

  it('reserves the piece that the decoder writes to, and in the end only what the body needs', async () => {
    const memory = new ProcessMemory(50_000_000).createShare('a');
    const { request, body } = receive({ headers, memory, maxBytes: 10_000_000 });
    const bytes = body.bytes();
    await new Promise((resolve) => setImmediate(resolve));
    expect(memory.bytes).toBe(longPiece);
    request.push(gzipSync(chatOf(20)));
    request.push(null);
    const { length } = await bytes;
    expect(memory.bytes).toBe(length * 5);
  });

  it.each([1_000, 60_000, 300_000, 3_000_000])('of %i bytes reserves as much as one that is not', async (length) => {
    const memory = new ProcessMemory(500_000_000).createShare('a');
    const body = received(gzipSync(chatOf(length)), { headers, memory, maxBytes: 10_000_000 });
    expect((await body.bytes()).toString()).toBe(chatOf(length));
    expect(memory.bytes).toBe(chatOf(length).length * 5);
  });

  it('comes in long pieces', async () => {
    const body = received(gzipSync(chatOf(2_000_000)), { headers, maxBytes: 10_000_000 });
    const { pieces } = (await body.outline())!;
    expect(Math.max(...pieces.map(({ length }) => length))).toBe(longPiece);
    expect(pieces.length).toBeLessThan(12);
  });

  it('keeps nothing of a long piece of which it needs little', async () => {
    const bytes = await received(gzipSync(chatOf(900)), { headers }).bytes();
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  });

  it.each([100_000, 262_143])('is read in short pieces where %i bytes are all that is left', async (capacity) => {
    const memory = new ProcessMemory(capacity).createShare('a');
    expect(await received(gzipSync('{"a":1}'), { headers, memory }).json()).toEqual({ a: 1 });
    expect(memory.bytes).toBe(35);
  });
});

describe('a body that takes long to read', () => {
  const large = { maxBytes: 10_000_000 };

  it('is refused by what is in it, however small', async () => {
    const members = Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`).join(',');
    expect(await codeOf(received(`{${members}}`, large).json())).toBe('request_too_large');
    expect(await codeOf(received(`{"a":[${'[],'.repeat(200_000)}1]}`, large).json())).toBe('request_too_large');
  });

  it('is refused before it is parsed', async () => {
    expect(await codeOf(received(`{"a":[${'[],'.repeat(200_000)}`, large).json())).toBe('request_too_large');
  });

  it('is read in several turns, so that others have theirs', async () => {
    const body = received(JSON.stringify({ text: 'a'.repeat(2_000_000) }), large);
    await body.bytes();
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await body.json();
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(2);
  });
});

const asking = (content: unknown) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });

describe('the outline of a long body', () => {
  const large = { maxBytes: 40_000_000 };
  const long = 'lorem "ipsum" '.repeat(2_000);

  it('has everything but the texts', async () => {
    const { body } = (await received(asking(long), large).outline()) ?? {};
    expect(body).toEqual({ model: 'm', messages: [{ role: 'user', content: 'lorem ~cut' }] });
  });

  it('does not exist for a short body, which is as quickly read', async () => {
    expect(await received(asking('Hi.'), large).outline()).toBeUndefined();
  });

  it.each<[string, string | Buffer]>([
    ['a list', JSON.stringify([{ a: [long] }])],
    ['malformed', `${asking(long)}}`],
    ['malformed inside of a text', asking(long).replace('ipsum', '\n')],
    [
      'nested too deeply',
      asking([long, '['.repeat(300)]).replace(/"(\[+)"/, (_, open: string) => `${open}1${']'.repeat(300)}`),
    ],
    ['of too many values', asking([long, Array.from({ length: 120_000 }, () => 1)])],
    ['full of escapes', asking('\n'.repeat(1_100_000))],
    ['of too many different members', asking(Array.from({ length: 12_000 }, (_, index) => ({ [`name${index}`]: 1 })))],
    ['with a byte order mark', `\u{FEFF}${asking(long)}`],
    ['not UTF-8', Buffer.from(asking(long).replace('ipsum', '\u00e9'), 'latin1')],
  ])('does not exist for one that is %s: reading all of it says what is wrong', async (_what, text) => {
    expect(await received(text, large).outline()).toBeUndefined();
    expect(await codeOf(received(text, large).json())).toMatch(/^(invalid_request|request_too_large)$/);
  });

  it('is not made of a body whose content type is not JSON', async () => {
    const body = received(asking(long), { ...large, headers: { 'content-type': 'text/xml' } });
    expect(await codeOf(Promise.resolve(body.outline()))).toBe('unsupported_media_type');
  });

  it('frees the bytes of the body when the exchange is over', async () => {
    // Not from the pool of small buffers: Node reads from a socket into separate memory.
    const body = received(Buffer.from(new TextEncoder().encode(asking(long)).buffer), large);
    const { pieces = [] } = (await body.outline()) ?? {};
    body.release();
    expect(pieces.map(({ length }) => length)).toEqual([0]);
  });

  it('keeps bytes that a reader still holds when the exchange is over', async () => {
    const body = received(Buffer.from(asking(long)), large);
    await body.outline();
    const bytes = await body.bytes();
    body.release();
    expect(bytes.toString()).toBe(asking(long));
  });

  it('exists for one that is full of escapes', async () => {
    expect(await received(asking('say "hi"\n'.repeat(330_000)), large).outline()).toBeDefined();
  });
});
