import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import { readStalledMs } from '#core/platform/timing/loop-lag.ts';

/** Holds the event loop, as a stopped process does. */
const block = (milliseconds: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

describe('a lag-tolerant timer', () => {
  const onEnd = vi.fn<() => void>();
  beforeEach(() => {
    onEnd.mockReset();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => void vi.useRealTimers());

  it('ends when its time is up', () => {
    new LagTolerantTimer(onEnd).start(100);
    vi.advanceTimersByTime(99);
    expect(onEnd).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onEnd).toHaveBeenCalledOnce();
  });

  it('has all of its time again after a restart', () => {
    const timer = new LagTolerantTimer(onEnd);
    timer.start(100);
    vi.advanceTimersByTime(90);
    timer.restart();
    vi.advanceTimersByTime(99);
    expect(onEnd).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onEnd).toHaveBeenCalledOnce();
  });

  it('has its time once more when it is restarted after its end', () => {
    const timer = new LagTolerantTimer(onEnd);
    timer.start(100);
    vi.advanceTimersByTime(100);
    timer.restart();
    vi.advanceTimersByTime(99);
    expect(onEnd).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(1);
    expect(onEnd).toHaveBeenCalledTimes(2);
  });

  it('does not end once it is stopped, restarted or not', () => {
    const timer = new LagTolerantTimer(onEnd);
    timer.start(100);
    timer.stop();
    timer.restart();
    vi.advanceTimersByTime(1_000);
    expect(onEnd).not.toHaveBeenCalled();
  });
});

describe('a lag-tolerant timer that fires late', () => {
  it('ends only after what has arrived meanwhile is read', async () => {
    const { promise: accepted, resolve: accept } = Promise.withResolvers<Socket>();
    const server = createServer(accept).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const reader = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const writer = await accepted;
    const order: string[] = [];
    reader.on('data', () => order.push('read'));
    const ended = Promise.withResolvers<void>();
    const timer = new LagTolerantTimer(() => {
      order.push('ended');
      ended.resolve();
    });
    timer.start(20);
    writer.write('a'); // The system has it at once, and this process reads it when the loop turns.
    block(200);
    await ended.promise;
    expect(order).toEqual(['read', 'ended']);
    reader.destroy();
    server.close();
  });

  it('ends all the same, after as much time again', async () => {
    const ended = Promise.withResolvers<number>();
    const timer = new LagTolerantTimer(() => ended.resolve(performance.now()));
    timer.start(100);
    block(300);
    const blockedUntil = performance.now();
    const after = (await ended.promise) - blockedUntil;
    expect(after).toBeGreaterThan(90);
    expect(after).toBeLessThan(5_000);
  });
});

it('the time for which the loop was blocked is counted', async () => {
  const before = readStalledMs();
  await new Promise((resolve) => setTimeout(resolve, 300));
  block(600);
  await vi.waitFor(() => expect(readStalledMs() - before).toBeGreaterThan(200), { timeout: 10_000 });
});
