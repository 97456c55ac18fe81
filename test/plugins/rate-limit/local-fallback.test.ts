import { describe, expect, it } from 'vitest';
import { MemoryLimiter } from '#core/platform/shared/memory.ts';
import { type Limiter, type Limits, SharedUnavailable, type Take } from '#core/platform/shared/shared.ts';
import { LocalFallback } from '../../../plugins/rate-limit/local-fallback.ts';
import { silentLog } from '../../support/database.ts';

const limits: Limits = { limit: 100, period: 86_400, burst: 100, concurrent: 1_000 };
const now = () => 0;

/** The connection of one instance to a store that two instances share: its commands wait until the test lets them go on. */
class Connection implements Limiter {
  readonly instances: number;
  readonly #store: MemoryLimiter;
  #sent: { execute(): void; decide(): void; fail(error: Error): void }[] = [];

  constructor(store: MemoryLimiter, instances = 2) {
    this.#store = store;
    this.instances = instances;
  }

  take(key: string, asked: Limits, instead?: () => Take | undefined): Promise<Take> {
    const { promise, resolve, reject } = Promise.withResolvers<Take>();
    let isAsked = false;
    const decide = () => {
      const take = isAsked ? undefined : instead?.();
      isAsked = true;
      if (take !== undefined) resolve(take);
    };
    this.#sent.push({ execute: () => resolve(this.#store.take(key, asked)), decide, fail: reject });
    return promise;
  }

  peek(key: string, asked: Limits): Take {
    return this.#store.peek(key, asked);
  }

  release(key: string, lease: string): void {
    this.#store.release(key, lease);
  }

  /** The store executes so many commands, the oldest first, and answers them. */
  async answer(count = Infinity): Promise<void> {
    for (const { execute } of this.#sent.splice(0, count)) execute();
    await settled();
  }

  /** The store has been silent: each request is decided here, if it can be. */
  async beLate(): Promise<void> {
    for (const { decide } of this.#sent) decide();
    await settled();
  }

  async breakDown(): Promise<void> {
    for (const { fail } of this.#sent.splice(0)) fail(new SharedUnavailable('the store is down'));
    await settled();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function startInstance(store: MemoryLimiter, instances?: number) {
  const connection = new Connection(store, instances);
  const limiter = new LocalFallback(connection, silentLog, now);
  const passed: Take[] = [];
  const send = (count: number) => {
    for (let index = 0; index < count; index++) {
      void Promise.resolve(limiter.take('key', limits)).then((take) => {
        if (take.refusedBy === undefined) passed.push(take);
      });
    }
  };
  return { connection, passed, send };
}

describe('while the store is late', () => {
  it('a burst over the limit waits for the store, so that two instances admit exactly the limit', async () => {
    const store = new MemoryLimiter(now);
    const [first, second] = [startInstance(store), startInstance(store)];
    first.send(150);
    second.send(150);
    // The store has executed some commands of the first instance when it stops for a while.
    await first.connection.answer(67);
    await second.connection.beLate();
    await second.connection.answer();
    await first.connection.answer();
    expect(first.passed.length + second.passed.length).toBe(100);
  });

  it('a request within the limit passes at once', async () => {
    const { connection, passed, send } = startInstance(new MemoryLimiter(now));
    send(25);
    await connection.beLate();
    expect(passed).toHaveLength(25);
  });

  it('half of the local share is held back, also over several bursts', async () => {
    const { connection, passed, send } = startInstance(new MemoryLimiter(now));
    for (const count of [20, 5, 5]) {
      send(count);
      await connection.beLate();
    }
    expect(passed).toHaveLength(25);
  });

  it('earlier grants of the store count', async () => {
    const { connection, passed, send } = startInstance(new MemoryLimiter(now));
    send(60);
    await connection.answer();
    send(1);
    await connection.beLate();
    expect(passed).toHaveLength(60);
  });

  it('finished requests do not count as waiting', async () => {
    const { connection, passed, send } = startInstance(new MemoryLimiter(now));
    for (let round = 0; round < 10; round++) {
      send(2);
      await connection.answer();
    }
    send(10);
    await connection.beLate();
    expect(passed).toHaveLength(30);
  });

  it('a single instance may use the whole limit', async () => {
    const { connection, passed, send } = startInstance(new MemoryLimiter(now), 1);
    send(150);
    await connection.beLate();
    expect(passed).toHaveLength(100);
  });
});

it('a burst that waited gets the local share once the store is down', async () => {
  const { connection, passed, send } = startInstance(new MemoryLimiter(now));
  send(150);
  await connection.beLate();
  await connection.breakDown();
  expect(passed).toHaveLength(50);
});
