import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectionPool } from '../../../../plugins/upstream/connections/connection-pool.ts';
import { createUpstream, type FaultyUpstream } from '../../../support/faulty-upstream.ts';

let upstream: FaultyUpstream;
let pool: ConnectionPool;
const never = 1_000_000; // ms
const openPool = (rest: number) => (pool = new ConnectionPool(upstream.url, { rest, longestAge: never }));

beforeEach(async () => {
  upstream = await createUpstream((_request, response) => response.json(200, {}));
});
afterEach(async () => {
  vi.useRealTimers();
  await pool.destroy();
  await upstream[Symbol.asyncDispose]();
});

const repeated = (ids: readonly number[]) => ids.filter((id, at) => id === ids[at - 1]).length;
const connections = () => upstream.requests.map(({ connection }) => connection);

/** Resolves when the connection has been given back. */
async function ask(url = upstream.url): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  pool.dispatch(
    { origin: url, path: '/', method: 'POST', body: '{}' },
    {
      onRequestStart: () => undefined,
      onResponseStart: () => undefined,
      onResponseData: () => undefined,
      onResponseEnd: () => resolve(),
      onResponseError: (_controller, error) => reject(error),
    },
  );
  await promise;
  await new Promise(setImmediate);
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
