import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ClientGone } from '#core/platform/errors/table.ts';
import { MemoryLimiter } from '#core/platform/shared/memory.ts';
import type { Limits, Take } from '#core/platform/shared/shared.ts';
import { SlotQueue } from '../../../plugins/rate-limit/slot-queue.ts';
import { createExchange } from '../../support/exchange.ts';

const limits: Limits = { limit: 1_000, period: 1, burst: 1_000, concurrent: 1 };
let limiter: MemoryLimiter;
let slots: SlotQueue;
/** Requests that got a slot, and their slots. */
let served: string[];
let leases: Map<string, string>;

beforeEach(() => {
  vi.useFakeTimers();
  limiter = new MemoryLimiter(() => performance.now());
  slots = new SlotQueue(limiter, () => performance.now());
  served = [];
  leases = new Map();
});
afterEach(() => {
  vi.useRealTimers();
});

function ask(name: string, { wait = 15_000, key = 'key', exchange = createExchange() } = {}) {
  const taking = slots.take(key, limits, exchange, wait).then((take: Take) => {
    if (take.refusedBy === undefined) served.push(name);
    leases.set(name, take.lease ?? '');
    return take.refusedBy;
  });
  taking.catch(() => undefined);
  return taking;
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const end = async (name: string) => {
  slots.release('key', leases.get(name) ?? '');
  await pass(0);
};

it('requests get the slots of their key in the order in which they came', async () => {
  for (const name of ['a', 'b', 'c']) void ask(name);
  void ask('other', { key: 'other' });
  await pass(0);
  expect(served).toEqual(['a', 'other']);
  await end('a');
  expect(served).toEqual(['a', 'other', 'b']);
  await end('b');
  expect(served).toEqual(['a', 'other', 'b', 'c']);
});

it('a request waits for the slot of one that did not wait, such as a POST', async () => {
  const { lease = '' } = limiter.take('key', limits);
  void ask('a');
  await pass(100);
  expect(served).toEqual([]);
  slots.release('key', lease);
  await pass(0);
  expect(served).toEqual(['a']);
});

it('a slot that another instance has released is found within a second', async () => {
  const { lease = '' } = limiter.take('key', limits);
  void ask('a');
  limiter.release('key', lease);
  await pass(1_000);
  expect(served).toEqual(['a']);
});

it('a request is refused when it has waited long enough, and those behind it go on waiting', async () => {
  void ask('a');
  const short = ask('b', { wait: 1_000 });
  void ask('c');
  await pass(1_000);
  expect(await short).toBe('concurrency');
  await end('a');
  expect(served).toEqual(['a', 'c']);
});

it('a request that does not wait is refused at once', async () => {
  void ask('a');
  const refused = ask('b', { wait: 0 });
  await pass(0);
  expect(await refused).toBe('concurrency');
});

it('a request whose client has left takes no slot', async () => {
  void ask('a');
  const exchange = createExchange();
  const left = ask('b', { exchange });
  void ask('c');
  await pass(0);
  exchange.abort(new ClientGone());
  await expect(left).rejects.toBeInstanceOf(ClientGone);
  await end('a');
  expect(served).toEqual(['a', 'c']);
});

it('a request whose client leaves while a store is asked for a slot does not wait for one', async () => {
  const asked = Promise.withResolvers<void>();
  const { take } = limiter;
  void ask('a');
  await pass(0);
  vi.spyOn(limiter, 'take').mockImplementation(
    (...parameters) => asked.promise.then(() => take.apply(limiter, parameters)) as never,
  );
  const exchange = createExchange();
  const left = ask('b', { exchange });
  void ask('c');
  exchange.abort(new ClientGone());
  asked.resolve();
  await expect(left).rejects.toBeInstanceOf(ClientGone);
});

it('a request is queued while it waits for others, and not while a store is asked for a slot', async () => {
  const never = Promise.withResolvers<Take>();
  const exchange = createExchange();
  void ask('a');
  void ask('b', { exchange, wait: 60_000 });
  await pass(0);
  expect(exchange.isQueued).toBe(true);
  vi.spyOn(limiter, 'take').mockReturnValue(never.promise as never);
  await pass(500);
  expect(exchange.isQueued).toBe(false);
});
