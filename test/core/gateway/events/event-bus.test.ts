import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { EventBus } from '#core/gateway/events/event-bus.ts';
import type { EventHandler } from '#core/gateway/events/event-handler.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import type { Events } from '#core/platform/shared/shared.ts';
import { silentLog } from '../../../support/database.ts';

const rotated = { accountId: 'a1', keyId: 'k1' };
const handlerOf = (handle: (payload: never) => void | Promise<void>, plugin = 'mail'): EventHandler => ({
  event: 'key.rotated',
  plugin,
  handle,
});
const busOf = (events: Events, handlers: EventHandler[], log = silentLog) =>
  new EventBus(events, handlers, () => 'host', log);

afterEach(() => vi.useRealTimers());

/** On a busy machine. */
const patience = { timeout: 15_000 };

describe('an event', () => {
  it('reaches the handlers of its type on every instance, with the host', async () => {
    await using shared = new MemoryShared();
    const heard: unknown[] = [];
    const handler: EventHandler = { ...handlerOf(() => undefined), handle: (...received) => void heard.push(received) };
    await using here = busOf(shared.events, [handler, { ...handler, event: 'order.paid' }]);
    await using there = busOf(shared.events, [handler]);
    await Promise.all([here.listen(), there.listen()]);
    await here.publish('key.rotated', rotated);
    await vi.waitFor(
      () =>
        expect(heard).toEqual([
          [rotated, 'host'],
          [rotated, 'host'],
        ]),
      patience,
    );
  });

  it('larger than its bound is refused', async () => {
    await using shared = new MemoryShared();
    await using bus = busOf(shared.events, []);
    await expect(bus.publish('key.rotated', { accountId: 'a'.repeat(20_000), keyId: 'k' })).rejects.toThrow(
      'the event key.rotated is larger than 16384 bytes',
    );
  });
});

describe('a handler', () => {
  it('that throws is logged with its plugin, and gets the next event', async () => {
    await using shared = new MemoryShared();
    const error = vi.fn<(message: string, error?: unknown) => void>();
    const failure = new Error('no mail server');
    let calls = 0;
    const handler = handlerOf(() => {
      if (calls++ === 0) throw failure;
    });
    await using bus = busOf(shared.events, [handler], { ...silentLog, error });
    await bus.listen();
    await bus.publish('key.rotated', rotated);
    await bus.publish('key.rotated', rotated);
    await vi.waitFor(() => expect(calls).toBe(2), patience);
    expect(error.mock.calls).toEqual([['plugin mail, handler of key.rotated failed', failure]]);
  });

  it('gets one event after another', async () => {
    await using shared = new MemoryShared();
    const steps: string[] = [];
    const handler = handlerOf(async ({ keyId }: never) => {
      steps.push(`begin ${String(keyId)}`);
      await sleep(1);
      steps.push(`end ${String(keyId)}`);
    });
    await using bus = busOf(shared.events, [handler]);
    await bus.listen();
    for (const keyId of ['1', '2']) await bus.publish('key.rotated', { ...rotated, keyId });
    await vi.waitFor(() => expect(steps).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2']), patience);
  });

  it('gets events that come after a pause, and nothing is logged', async () => {
    await using shared = new MemoryShared();
    const error = vi.fn<(message: string) => void>();
    let calls = 0;
    await using bus = busOf(shared.events, [handlerOf(() => void calls++)], { ...silentLog, error });
    await bus.listen();
    for (const expected of [1, 2]) {
      await bus.publish('key.rotated', rotated);
      await vi.waitFor(() => expect(calls).toBe(expected), patience);
      // The queue notices only after the handler that it is empty.
      await sleep(1);
    }
    expect(error).not.toHaveBeenCalled();
  });

  it('that never ends is named in the log, and the next event is handled meanwhile', async () => {
    vi.useFakeTimers();
    await using shared = new MemoryShared();
    const error = vi.fn<(message: string) => void>();
    let calls = 0;
    const handler = handlerOf(() => (calls++ === 0 ? new Promise<void>(() => undefined) : undefined));
    await using bus = busOf(shared.events, [handler], { ...silentLog, error });
    await bus.listen();
    await bus.publish('key.rotated', rotated);
    await bus.publish('key.rotated', rotated);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(calls).toBe(2);
    expect(error).toHaveBeenCalledExactlyOnceWith('plugin mail, handler of key.rotated has not finished after 30 s');
  });

  it('that is too slow loses events over its bound, and the log counts them', async () => {
    await using shared = new MemoryShared();
    const error = vi.fn<(message: string) => void>();
    const { promise, resolve } = Promise.withResolvers<void>();
    await using bus = busOf(shared.events, [handlerOf(() => promise)], { ...silentLog, error });
    await bus.listen();
    for (let count = 0; count < 1_003; count++) await bus.publish('key.rotated', rotated);
    resolve();
    await vi.waitFor(
      () => expect(error).toHaveBeenLastCalledWith('plugin mail, handler of key.rotated: 2 events dropped'),
      patience,
    );
    expect(error).toHaveBeenCalledTimes(2);
  });
});

it('a bus tries again while the shared store does not answer', async () => {
  vi.useFakeTimers();
  await using shared = new MemoryShared();
  const subscribe = vi
    .fn<Events['subscribe']>((...parameters) => shared.events.subscribe(...parameters))
    .mockRejectedValueOnce(new Error('away'));
  const handle = vi.fn<() => void>();
  await using bus = busOf({ isConnected: true, publish: shared.events.publish.bind(shared.events), subscribe }, [
    handlerOf(handle),
  ]);
  await bus.listen();
  await vi.advanceTimersByTimeAsync(5_000);
  await bus.publish('key.rotated', rotated);
  await vi.advanceTimersByTimeAsync(0);
  expect(handle).toHaveBeenCalledTimes(1);
});
