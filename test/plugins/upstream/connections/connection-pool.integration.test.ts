import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { freeBytes } from '#core/platform/memory/freed-bytes.ts';
import { ConnectionPool } from '../../../../plugins/upstream/connections/connection-pool.ts';
import { createUpstream, type FaultyUpstream } from '../../../support/faulty-upstream.ts';

let upstream: FaultyUpstream;
let pool: ConnectionPool;
const never = 1_000_000; // ms
const openPool = (quarantineMs: number) => (pool = new ConnectionPool(upstream.url, { quarantineMs, maxAgeMs: never }));

beforeEach(async () => {
  upstream = await createUpstream((_request, response) => response.json(200, {}));
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await pool.destroy();
  await upstream[Symbol.asyncDispose]();
});

const repeated = (ids: readonly number[]) => ids.filter((id, at) => id === ids[at - 1]).length;
const connections = () => upstream.requests.map(({ connection }) => connection);

/** Resolves when the connection has been given back. */
async function ask(
  url = upstream.url,
  body: string | readonly Buffer[] = '{}',
  onRequestStart: () => void = () => undefined,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  pool.dispatch(
    { origin: url, path: '/', method: 'POST', body },
    {
      onRequestStart,
      onResponseStart: () => undefined,
      onResponseData: () => undefined,
      onResponseEnd: () => resolve(),
      onResponseError: (_controller, error) => reject(error),
    },
  );
  await promise;
  await new Promise(setImmediate);
}

/** Answers when it has read 16 MB, of a connection that is paused. */
async function listenSlowly() {
  const { promise: connected, resolve } = Promise.withResolvers<Socket>();
  const server = createServer((socket) => {
    let size = 0;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      size += chunk.length;
      if (size > 16_000_000) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
    });
    resolve(socket.pause());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, connected, [Symbol.asyncDispose]: async () => void server.close() };
}

/** Asks once every millisecond of a clock that is set. */
async function askOften(times: number): Promise<void> {
  for (let request = 0; request < times; request++) {
    await ask();
    vi.advanceTimersByTime(1);
  }
}

describe('a pool of connections', () => {
  it('a pool of connections uses one connection for one request after the other', async () => {
    openPool(0);
    for (let request = 0; request < 3; request++) await ask();
    expect(connections()).toEqual([1, 1, 1]);
  });

  it('a pool of connections does not use one that was idle while the machine was suspended, which only the wall clock shows', async () => {
    openPool(0);
    await ask();
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    await ask();
    now.mockRestore();
    await ask();
    expect(connections()).toEqual([1, 2, 2]);
  });

  it('a pool of connections opens another connection while one rests', async () => {
    openPool(never);
    for (let request = 0; request < 3; request++) await ask();
    expect(connections()).toEqual([1, 2, 3]);
  });

  it('a pool of connections lets a connection rest until its socket was read, when the event loop stood still for longer', async () => {
    openPool(20);
    await ask();
    const idleAt = performance.now();
    while (performance.now() < idleAt + 40);
    await ask();
    expect(connections()).toEqual([1, 2]);
    await vi.waitFor(async () => {
      await ask();
      expect(repeated(connections().toSorted((a, b) => a - b))).toBeGreaterThan(0);
    });
  });

  it('a pool of connections takes the connection that was used last, so that the others of a peak become old', async () => {
    openPool(0);
    await Promise.all(Array.from({ length: 4 }, () => ask()));
    await ask();
    await ask();
    const [fifth, sixth] = connections().slice(4);
    expect(new Set(connections().slice(0, 4)).size).toBe(4);
    expect(sixth).toBe(fifth);
  });

  it('a pool of connections keeps bytes that the system has not sent yet, and lets them be freed afterwards', async () => {
    await using slow = await listenSlowly();
    pool = new ConnectionPool(slow.url, { quarantineMs: 0, maxAgeMs: never });
    const bytes = Buffer.allocUnsafeSlow(16_000_000);
    const sending = Promise.withResolvers<void>();
    const asked = ask(slow.url, [bytes], () => setImmediate(sending.resolve));
    const [socket] = await Promise.all([slow.connected, sending.promise]);
    freeBytes([bytes]);
    expect(bytes.length).toBe(16_000_000);
    socket.resume();
    await asked;
    freeBytes([bytes]);
    expect(bytes.length).toBe(0);
  });

  it('a pool of connections fails a request whose bytes have been freed', async () => {
    openPool(0);
    const bytes = Buffer.allocUnsafeSlow(20_000);
    const asked = ask(upstream.url, [bytes]);
    freeBytes([bytes]);
    await expect(asked).rejects.toThrow('the bytes have been freed');
  });

  it('a pool of connections lets one connection in sixteen rest once a thousand answers were followed by nothing', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    openPool(50);
    await askOften(1_000);
    expect(repeated(connections())).toBe(0);
    await askOften(160);
    // Those that have rested meanwhile come between.
    expect(repeated(connections().slice(1_000))).toBeGreaterThan(10);
  });

  it('a pool of connections opens a new connection after one could not be opened', async () => {
    openPool(0);
    const { url } = upstream;
    await upstream[Symbol.asyncDispose]();
    await expect(ask(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(ask(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('a pool of connections finishes what runs when it is closed', async () => {
    openPool(0);
    const asked = ask();
    await pool.close();
    await asked;
    expect(connections()).toEqual([1]);
  });
});
