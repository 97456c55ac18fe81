import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type SendOptions, type SendProgress, sendReply } from '#core/gateway/http/send.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { createLogger } from '#core/platform/logger.ts';
import { chatEndpoint, createExchange, modelsEndpoint } from '../../../support/exchange.ts';
import { descriptors } from '../../../support/formats.ts';
import { readBody } from '../../../support/read-body.ts';

interface Sending extends AsyncDisposable {
  readonly client: Promise<Response>;
  readonly exchange: Exchange;
  readonly response: ServerResponse;
  readonly sent: SendProgress;
}

const streams = { 'content-type': 'text/event-stream; charset=utf-8' };
const streamOf = () => new Readable({ read() {} });
const endless = () =>
  new Readable({
    read() {
      this.push(Buffer.alloc(65_536));
    },
  });

const useFakeClock = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });

const useFakeInterval = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });

/** Lets eighths of a write timeout of 8 s pass. */
async function tick(count: number): Promise<void> {
  for (; count > 0; count--) {
    vi.advanceTimersByTime(1000);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }
}

/** True once the system takes no more bytes, because its buffers are full. */
async function isBlocked({ response }: Sending): Promise<boolean> {
  const queued = () => (response.socket as unknown as { _handle: { writeQueueSize: number } })._handle.writeQueueSize;
  const before = queued();
  await new Promise((resolve) => setTimeout(resolve, 50));
  return before > 0 && before === queued();
}

async function untilBlocked(sending: Sending): Promise<void> {
  while (!(await isBlocked(sending)));
}

const unhurried: SendOptions = {
  headers: {},
  writeTimeout: 10,
  log: createLogger(() => undefined),
  onStalled: (seconds) => new GatewayError('internal_error', `stalled for ${seconds} s`),
};

/** Sends one reply over a real connection. */
async function send(reply: Reply, exchange = createExchange(), options: Partial<SendOptions> = {}): Promise<Sending> {
  const arrived = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, outgoing) => arrived.resolve(outgoing)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const client = fetch(`http://127.0.0.1:${port}`, { method: exchange.method === 'HEAD' ? 'HEAD' : 'GET' });
  client.catch(() => undefined);
  const response = await arrived.promise;
  const sent = sendReply(response, exchange, reply, { ...unhurried, ...options });
  return {
    client,
    exchange,
    response,
    sent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('a whole reply', () => {
  it('has its status, its headers and the length of its bytes', async () => {
    await using sending = await send({ status: 201, headers: { 'x-a': 'b' }, body: 'größer' });
    const { status, headers } = await sending.client;
    expect([status, headers.get('x-a'), headers.get('content-length')]).toEqual([201, 'b', '8']);
  });

  it('is kept by no cache, unless its stage says otherwise', async () => {
    await using sending = await send({ status: 200, headers: {}, body: 'one account only' });
    expect((await sending.client).headers.get('cache-control')).toBe('no-store');
    await using other = await send({ status: 200, headers: { 'cache-control': 'private, max-age=5' }, body: '' });
    expect((await other.client).headers.get('cache-control')).toBe('private, max-age=5');
  });

  it('names the request in both dialects', async () => {
    await using sending = await send({ status: 200, headers: {}, body: '' }, createExchange({ id: 'req_7' }));
    const { headers } = await sending.client;
    expect([headers.get('x-request-id'), headers.get('request-id')]).toEqual(['req_7', 'req_7']);
  });

  it('is counted', async () => {
    await using sending = await send({ status: 200, headers: {}, body: Buffer.from('größer') });
    expect(sending.sent).toEqual({ bytes: 8, firstByteAfter: expect.any(Number) });
  });

  it('without a body has no first byte', async () => {
    await using sending = await send({ status: 204, headers: {}, body: null });
    expect(sending.sent).toEqual({ bytes: 0, firstByteAfter: undefined });
  });

  it('to HEAD has a length and no body', async () => {
    const exchange = createExchange({ endpoint: { ...modelsEndpoint, method: 'HEAD' as 'GET' } });
    await using sending = await send({ status: 200, headers: {}, body: 'hello' }, exchange);
    const response = await sending.client;
    expect([response.headers.get('content-length'), await response.text()]).toEqual(['5', '']);
    expect(sending.sent).toEqual({ bytes: 0, firstByteAfter: undefined });
  });

  it('has the headers that the host adds', async () => {
    await using sending = await send({ status: 200, headers: {}, body: '' }, undefined, {
      headers: { connection: 'close' },
    });
    expect((await sending.client).headers.get('connection')).toBe('close');
  });
});

describe('a stream', () => {
  it('arrives unchanged and is counted', async () => {
    await using sending = await send({
      status: 200,
      headers: streams,
      body: Readable.from([Buffer.from('data: 1\n\n')]),
    });
    expect(await (await sending.client).text()).toBe('data: 1\n\n');
    expect(sending.sent.bytes).toBe(9);
  });

  it('of events is neither cached nor buffered by proxies', async () => {
    await using sending = await send({ status: 200, headers: streams, body: Readable.from([]) });
    const { headers } = await sending.client;
    expect([headers.get('cache-control'), headers.get('x-accel-buffering')]).toEqual(['no-store', 'no']);
  });

  it('of anything else has only the headers of its reply', async () => {
    await using sending = await send({
      status: 200,
      headers: { 'content-type': 'image/png' },
      body: Readable.from([]),
    });
    expect((await sending.client).headers.get('x-accel-buffering')).toBeNull();
  });

  it('has no first byte before one is sent', async () => {
    const body = streamOf();
    await using sending = await send({ status: 200, headers: streams, body });
    expect(sending.sent.firstByteAfter).toBeUndefined();
  });

  it('is closed when the client leaves', async () => {
    const body = streamOf();
    await using sending = await send({ status: 200, headers: streams, body });
    const closed = new Promise((resolve) => body.once('close', resolve));
    body.push('data: 1\n\n');
    await (await sending.client).body?.cancel();
    await closed;
    expect(body.destroyed).toBe(true);
  });

  it('is read no faster than the client reads', async () => {
    let given = 0;
    const body = new Readable({
      read() {
        given += 65_536;
        this.push(Buffer.alloc(65_536));
      },
    });
    await using sending = await send({ status: 200, headers: streams, body });
    const paused = new Promise((resolve) => body.once('pause', resolve));
    await sending.client; // Its head; the body is not read.
    await paused;
    expect(given).toBeLessThan(64 * 1024 * 1024);
  });
});

describe('a stream that fails', () => {
  const broken = new GatewayError('upstream_failed', 'cut');
  const failing = async (
    headers: Record<string, string>,
    renderFailure?: Reply['renderFailure'],
    error: Error = broken,
  ) => {
    const body = streamOf();
    const sending = await send({ status: 200, headers, body, renderFailure });
    body.push('data: 1\n\n');
    const response = await sending.client;
    setImmediate(() => body.destroy(error));
    return { sending, received: await readBody(response) };
  };

  it('ends with the error in the client’s format, and not with the end of its body', async () => {
    const { sending, received } = await failing(streams);
    await using _ = sending;
    expect(received).toEqual({
      text: expect.stringMatching(/^data: 1\n\ndata: \{"error":\{"message":"[^"]* cut".*\n\n$/),
      isWhole: false,
    });
  });

  it('ends with the error that its reply renders, which is counted', async () => {
    const { sending, received } = await failing(streams, ({ code }) => `data: ${code}\n\n`);
    await using _ = sending;
    expect(received).toEqual({ text: 'data: 1\n\ndata: upstream_failed\n\n', isWhole: false });
    expect(sending.sent.bytes).toBe(received.text.length);
  });

  it('is over for the gateway as soon as the system has taken its bytes', async () => {
    const body = streamOf();
    await using sending = await send({ status: 200, headers: streams, body });
    const { socket } = sending.response;
    body.destroy(broken);
    await once(sending.response, 'close');
    expect([sending.response.writableFinished, socket?.writableEnded]).toEqual([true, false]);
  });

  it('by a mistake of ours does not reveal which', async () => {
    const { sending, received } = await failing(streams, undefined, new TypeError('secret'));
    await using _ = sending;
    expect(received.text).not.toContain('secret');
    expect(sending.exchange.failure?.code).toBe('internal_error');
  });

  it('has no end where its format has no error', async () => {
    const { sending, received } = await failing({ 'content-type': 'image/png' });
    await using _ = sending;
    expect(received).toEqual({ text: 'data: 1\n\n', isWhole: false });
    expect(sending.exchange.failure).toBe(broken);
  });

  it('ends with an error when it closes without end or error', async () => {
    const body = streamOf();
    await using sending = await send({ status: 200, headers: streams, body });
    body.push('data: 1\n\n');
    const response = await sending.client;
    body.destroy();
    expect(await readBody(response)).toEqual({
      text: expect.stringMatching(/^data: 1\n\ndata: \{"error":.*The response was truncated/),
      isWhole: false,
    });
    expect(sending.exchange.failure?.code).toBe('upstream_failed');
  });
});

describe('an idle stream', () => {
  it.each([
    ['chat', ': keep-alive\n\n'],
    ['messages', 'event: ping\ndata: {"type":"ping"}\n\n'],
  ] as const)('of %s is kept alive every 5 seconds', async (format, expected) => {
    useFakeClock();
    const body = streamOf();
    const exchange = createExchange({ endpoint: { ...chatEndpoint, format: descriptors[format] } });
    await using sending = await send({ status: 200, headers: streams, body }, exchange);
    vi.advanceTimersByTime(10_000);
    body.push(null);
    expect(await (await sending.client).text()).toBe(expected.repeat(2));
  });

  it('is kept alive by the bytes that its reply defines', async () => {
    useFakeClock();
    const body = streamOf();
    await using sending = await send({ status: 200, headers: {}, body, keepAlive: '\n' });
    vi.advanceTimersByTime(5_000);
    body.push('[1');
    const response = await sending.client;
    await vi.waitFor(() => expect(sending.sent.bytes).toBe(2), { timeout: 15_000 });
    vi.advanceTimersByTime(5_000);
    body.push(',2]');
    body.push(null);
    expect(await response.text()).toBe('\n[1\n,2]');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
  });

  it('whose first event is slow sends its head at once', async () => {
    useFakeClock();
    await using sending = await send({ status: 200, headers: streams, body: streamOf(), isAwaited: true });
    const { body } = await sending.client;
    expect(await body?.pipeThrough(new TextDecoderStream()).getReader().read()).toMatchObject({
      value: ': keep-alive\n\n',
    });
  });

  it('that is not an event stream gets no keep-alives', async () => {
    useFakeClock();
    const body = streamOf();
    await using sending = await send({ status: 200, headers: {}, body });
    vi.advanceTimersByTime(30_000);
    body.push(null);
    expect(await (await sending.client).text()).toBe('');
  });

  it('leaves no timer behind', async () => {
    useFakeClock();
    const body = streamOf();
    await using sending = await send({ status: 200, headers: streams, body });
    body.push(null);
    await (await sending.client).text();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a client that stops reading', () => {
  it.each([
    ['whole', () => Buffer.alloc(64 * 1024 * 1024)],
    ['a stream', endless],
  ])('is given up after a time when that is %s, and is said to be why', async (_name, body) => {
    await using sending = await send({ status: 200, headers: {}, body: body() }, undefined, { writeTimeout: 0.1 });
    await new Promise((resolve) => sending.response.once('close', resolve));
    const { exchange } = sending;
    expect([exchange.isClientGone, exchange.failure?.code]).toEqual([true, 'request_timeout']);
  });

  it('is given up when nothing was read for that time, not after twice that', async () => {
    useFakeInterval();
    await using sending = await send({ status: 200, headers: {}, body: endless() }, undefined, { writeTimeout: 8 });
    await untilBlocked(sending);
    await tick(8);
    expect(sending.response.destroyed).toBe(false);
    await tick(1);
    expect(sending.response.destroyed).toBe(true);
  });

  it('has not read the keep-alives and small chunks that are written for it', async () => {
    useFakeInterval();
    const body = streamOf();
    await using sending = await send({ status: 200, headers: streams, body }, undefined, { writeTimeout: 8 });
    do body.push(Buffer.alloc(16_384));
    while (!(await isBlocked(sending)));
    for (let count = 0; count < 9; count++) {
      expect(sending.response.destroyed).toBe(false);
      body.push(': keep-alive\n\n');
      await tick(1);
    }
    expect(sending.response.destroyed).toBe(true);
  });

  it('stays connected while it reads a part of a chunk from time to time', async () => {
    useFakeInterval();
    await using sending = await send({ status: 200, headers: {}, body: Buffer.alloc(64 * 1024 * 1024) }, undefined, {
      writeTimeout: 8,
    });
    await untilBlocked(sending);
    const reader = (await sending.client).body?.getReader();
    for (let count = 0; count < 6; count++) {
      await tick(4);
      for (let bytes = 0; bytes < 4 * 1024 * 1024;) bytes += (await reader?.read())?.value?.length ?? 0;
      await untilBlocked(sending);
    }
    expect(sending.response.destroyed).toBe(false);
  });

  it('stays connected while no data waits for it', async () => {
    useFakeInterval();
    const body = streamOf();
    await using sending = await send({ status: 200, headers: streams, body, isAwaited: true }, undefined, {
      writeTimeout: 8,
    });
    await sending.client;
    await tick(20);
    body.push(null);
    expect(await (await sending.client).text()).toBe(': keep-alive\n\n');
  });
});

/** Sends the body of a stage that may be silent for 50 ms. */
function sendStalling(reply: Reply): Promise<Sending> {
  const exchange = createExchange();
  exchange.bodyLayers.add(reply.body as Readable, 'stage "silent"', 0.05);
  return send(reply, exchange);
}

describe('a body that stalls', () => {
  it('ends an event stream with an error in the format of the client, after what came before', async () => {
    const body = streamOf();
    body.push('data: 1\n\n');
    await using sending = await sendStalling({ status: 200, headers: streams, body });
    const { text, isWhole } = await readBody(await sending.client);
    expect(text).toMatch(/^data: 1\n\ndata: \{"error":\{"message":"[^"]* stalled for 0.05 s".*\n\n$/);
    expect(isWhole).toBe(false);
    expect(sending.exchange.failure?.code).toBe('internal_error');
    expect(body.destroyed).toBe(true);
  });

  it('is ended even if the body never closes', async () => {
    const body = new Readable({ read() {}, destroy() {} });
    await using sending = await sendStalling({ status: 200, headers: streams, body });
    expect((await readBody(await sending.client)).text).toContain('stalled');
  });

  it('leaves a body without its end whose format has no errors', async () => {
    const body = streamOf();
    body.push('{');
    await using sending = await sendStalling({ status: 200, headers: {}, body });
    await expect((await sending.client).text()).rejects.toThrow();
  });

  it('is left to the write timeout while the client reads nothing', async () => {
    await using sending = await sendStalling({ status: 200, headers: streams, body: endless() });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(sending.exchange.failure).toBeUndefined();
    sending.client.then((response) => response.body?.cancel()).catch(() => undefined);
  });
});

const endBody = (body: Readable) => void body.push(null);
const breakBody = (body: Readable) => void body.destroy(new Error('broken'));

describe('trailers', () => {
  const trailers = { names: ['x-notes'], read: () => ({ 'x-notes': 'late' }) };

  /** What comes over the wire, when the client says this. */
  async function receive(client: string, end: (body: Readable) => void): Promise<string> {
    const server = createServer((_request, outgoing) => {
      const body = streamOf();
      sendReply(outgoing, createExchange(), { status: 200, headers: streams, body, trailers }, unhurried);
      body.push('data: 1\n\n');
      setImmediate(end, body);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(client);
    const received = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
    await new Promise((resolve) => server.close(resolve));
    return received;
  }
  const http1 = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';

  it('follow a stream after its end, and were announced', async () => {
    const received = await receive(http1, endBody);
    expect(received).toMatch(/^trailer: x-notes\r$/m);
    expect(received).toMatch(/\r\n0\r\nx-notes: late\r\n\r\n$/);
  });

  it('do not follow a stream that breaks off, because they are behind its end', async () => {
    const received = await receive(http1, breakBody);
    expect(received).toMatch(/"error"[^\r]*\n\n\r\n$/);
  });

  it('are left out where there are no chunks', async () => {
    const received = await receive('GET / HTTP/1.0\r\n\r\n', endBody);
    expect(received).toContain('data: 1');
    expect(received).not.toContain('x-notes');
  });
});

const thrown = () => {
  throw new Error('on purpose');
};

describe('a stage that throws while its stream is sent', () => {
  const faults: [string, Partial<Reply>, (body: Readable) => void][] = [
    ['in the trailers', { trailers: { names: ['x-notes'], read: thrown } }, (body) => void body.push(null)],
    [
      'with a trailer that HTTP does not allow',
      { trailers: { names: ['x-notes'], read: () => ({ 'x-notes': 'a\nb' }) } },
      (body) => void body.push(null),
    ],
    ['in the text of a failure', { renderFailure: thrown }, (body) => void body.destroy(new Error('broken'))],
  ];

  it.each(faults)('%s fails its own request only, which is logged', async (_, parts, end) => {
    const lines: string[] = [];
    const log = createLogger((line) => lines.push(line));
    const body = streamOf();
    body.push('data: 1\n\n');
    const exchange = createExchange();
    await using sending = await send({ status: 200, headers: streams, body, ...parts }, exchange, { log });
    const response = await sending.client;
    end(body);
    await expect(response.text()).rejects.toThrow();
    expect(lines.join('')).toContain(`request ${exchange.id}: sending a stream failed`);
    expect(exchange.failure?.code).toBe('internal_error');
    expect(body.destroyed).toBe(true);
  });
});
