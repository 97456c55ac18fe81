import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { SlotStore } from '#core/platform/shared/slots.ts';
import { CapacityPool } from '../../../../plugins/upstream/capacity/pool.ts';
import { clearKeys, openRedis, startProxy } from '../../../core/platform/shared/fixture.ts';
import { silentLog } from '../../../support/database.ts';
import { redisUrl } from '../../../support/redis.ts';
import { limits } from './simulation.ts';

const served = { isServed: true, refusedShare: 0 };

/** The pool of an instance, which has one slot. */
function open(store: SlotStore, key: string): CapacityPool {
  const parts = { log: silentLog, store, monotonic: () => performance.now() };
  return new CapacityPool('scarce', key, { ...limits, concurrent: 1 }, parts);
}
/** A place, and a promise of its slot, where it has to wait. */
async function ask(pool: CapacityPool, account: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const place = await pool.requestSlot({ account, weight: 1, mayWait: true }, 'model', resolve);
  return { place, granted: promise };
}

describe.skipIf(redisUrl === undefined)('a pool of slots in Redis', () => {
  const name = `pool ${randomUUID()}`;
  afterAll(() => clearKeys(encodeURIComponent(name)));

  it('grants a slot that one instance frees to a request of another one', async () => {
    const key = `${name} two`;
    await using one = await openRedis();
    await using other = await openRedis();
    using first = open(one.slots, key);
    using second = open(other.slots, key);
    const unsubscribe = await other.slots.onGrant(
      (_, ids) => ids.forEach((id) => second.grant(id)),
      () => undefined,
    );
    const running = await ask(first, 'a');
    const waiting = await ask(second, 'b');
    expect([running.place.state, waiting.place.state]).toEqual(['running', 'waiting']);
    await first.end(running.place, served);
    await waiting.granted;
    await second.end(waiting.place, served);
    unsubscribe();
  });

  it('notices with its next beat a grant whose message was lost', async () => {
    const key = `${name} lost`;
    await using one = await openRedis();
    await using other = await openRedis();
    using first = open(one.slots, key);
    using second = open(other.slots, key);
    const running = await ask(first, 'a');
    const waiting = await ask(second, 'b');
    await first.end(running.place, served);
    await second.beat();
    expect(waiting.place.state).toBe('running');
    await second.end(waiting.place, served);
  });

  it('grants by itself while Redis is away, and tells it afterwards what it has granted', async () => {
    const key = `${name} away`;
    await using proxy = await startProxy();
    await using shared = await openRedis(proxy.url);
    await using watching = await openRedis();
    using pool = open(shared.slots, key);
    const running = await ask(pool, 'a');
    const [next, last] = [await ask(pool, 'a'), await ask(pool, 'b')];
    proxy.turn('cut');
    await pool.end(running.place, served);
    await pool.beat();
    // Of an account that has used less, so it comes before the other one.
    await Promise.race([next.granted, last.granted]);
    const late = await ask(pool, 'c');
    expect(late.place.state).toBe('waiting');
    proxy.turn('open');
    using other = open(watching.slots, key);
    const limited = { ...limits, concurrent: 1 };
    await expect
      .poll(async () => (await shared.ping().then(() => pool.beat())) ?? 'told', { timeout: 10_000 })
      .toBe('told');
    const held = (await shared.slots.beat(key, limited)).hasSlotById ?? new Map<string, boolean>();
    expect([...held.values()].toSorted()).toEqual([false, false, true]);
    // The slot is the one that was granted meanwhile: nobody else gets it.
    expect((await other.requestSlot({ account: 'd', weight: 1, mayWait: false }, 'model', () => undefined)).state).toBe(
      'refused',
    );
    for (const { place } of [next, last, late]) await pool.end(place, served);
    expect((await watching.slots.beat(key, limited)).hasSlotById?.size).toBe(0);
  });
});
