import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectClient } from '#core/platform/shared/redis-client.ts';
import type { RedisEvents } from '#core/platform/shared/redis-events.ts';
import type { RedisNodes } from '#core/platform/shared/redis-nodes.ts';
import { RedisSlots } from '#core/platform/shared/redis-slots.ts';
import { instanceLifetimeMs, type SlotReply, type SlotResult, unusedResult } from '#core/platform/shared/slots.ts';
import { FairQueue } from '../../../../plugins/upstream/capacity/fair-queue.ts';
import { limits as usual } from '../../../plugins/upstream/capacity/simulation.ts';
import { redisUrl } from '../../../support/redis.ts';
import { clearKeys } from './fixture.ts';

const circuit = { run: <T>(command: () => Promise<T>) => command() };
const nodes = { circuitOf: () => circuit, count: 2 } as unknown as RedisNodes;

describe.skipIf(redisUrl === undefined)('slots in Redis', () => {
  const pool = `test ${randomUUID()}`;
  let client: Awaited<ReturnType<typeof connectClient>>;
  let now = 0;
  let serial = 0;
  const instance = () => new RedisSlots(client, nodes, {} as RedisEvents, () => now);
  const ask = (store: RedisSlots, account: string, mayWait = true) => ({
    id: `${store.instance}:${++serial}`,
    account,
    weight: 1,
    mayWait,
  });

  beforeAll(async () => {
    client = await connectClient(redisUrl ?? '');
    await new Promise<void>((resolve) => client.once('ready', resolve));
  });
  afterAll(async () => {
    await clearKeys(encodeURIComponent(pool));
    client.disconnect();
  });

  it('are granted as the queue of one process grants them, whatever happens', async () => {
    const random = seeded(7);
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    const local = new FairQueue();
    const store = instance();
    const name = `${pool} same`;
    const limits = { ...usual, concurrent: 4, requests: 40, periodMs: 10_000, waitingByAccount: 6, waiting: 15 };
    const known: string[] = [];
    now = 0;
    for (let step = 0; step < 1_500; step++) {
      now += Math.floor(random() * 400);
      let replies: [SlotReply, SlotReply];
      const kind = random();
      if (kind < 0.5) {
        const number = Math.floor(random() * 6);
        const wanted = { ...ask(store, `account ${number}`, random() < 0.9), weight: number === 0 ? 2.5 : 1 };
        known.push(wanted.id);
        replies = [local.enter(wanted, limits, now), await store.enter(name, limits, wanted)];
      } else if (kind < 0.95 && known.length > 0) {
        const id = pick(known);
        known.splice(known.indexOf(id), 1);
        const result: SlotResult = {
          isServed: random() < 0.8,
          refusedShare: random() < 0.05 ? 0.5 : 0,
          remaining: random() < 0.05 ? { requests: Math.floor(random() * 3), validForMs: 1_000 } : undefined,
        };
        replies = [local.end(id, result, limits, now), await store.end(name, limits, id, result)];
      } else replies = [local.beat(limits, now), await store.beat(name, limits)];
      expect(rounded(replies[1]), `step ${step}`).toEqual(rounded(replies[0]));
    }
  });

  it('of an instance that is silent are free, and its places are given up', async () => {
    const name = `${pool} dead`;
    const [dead, other] = [instance(), instance()];
    const limits = { ...usual, concurrent: 2 };
    now = 0;
    for (let count = 0; count < 2; count++) await dead.enter(name, limits, ask(dead, 'a'));
    await dead.enter(name, limits, ask(dead, 'a'));
    const waiting = [ask(other, 'b'), ask(other, 'b'), ask(other, 'b')];
    for (const one of waiting) expect((await other.enter(name, limits, one)).state).toBe('waiting');
    now = instanceLifetimeMs - 1;
    expect((await other.beat(name, limits)).grantedIds).toEqual([]);
    now = instanceLifetimeMs + 1;
    expect((await other.beat(name, limits)).grantedIds).toEqual(waiting.slice(0, 2).map(({ id }) => id));
    expect((await dead.beat(name, limits)).hasSlotById?.size).toBe(0);
  });

  it('report to each instance what it has, and what it waits for', async () => {
    const name = `${pool} held`;
    const [one, other] = [instance(), instance()];
    const limits = { ...usual, concurrent: 1 };
    const [running, waiting, foreign] = [ask(one, 'a'), ask(one, 'a'), ask(other, 'a')];
    await one.enter(name, limits, running);
    await one.enter(name, limits, waiting);
    await other.enter(name, limits, foreign);
    expect([...((await one.beat(name, limits)).hasSlotById ?? [])]).toEqual([
      [running.id, true],
      [waiting.id, false],
    ]);
    // Granted to the second of this instance by a call of the other one.
    await other.end(name, limits, running.id, unusedResult);
    expect((await one.beat(name, limits)).hasSlotById?.get(waiting.id)).toBe(true);
  });

  it('that are in use after Redis has lost them can be added again', async () => {
    const name = `${pool} lost`;
    const store = instance();
    const limits = { ...usual, concurrent: 1 };
    await store.adopt(name, limits, ask(store, 'a'), 3_000);
    expect((await store.enter(name, limits, ask(store, 'b'))).state).toBe('waiting');
  });
});

/** Numbers that differ only by rounding are the same. */
function rounded({ state, position, expectedMs: expected, nextInMs: nextIn, grantedIds: granted }: SlotReply): object {
  return { state, position, expected: Math.round(expected), nextIn: nextIn && Math.round(nextIn), granted };
}

/** Random numbers that are the same in each run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
