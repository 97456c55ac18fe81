import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLogger } from '#core/platform/logger.ts';
import { RedisEvents } from '#core/platform/shared/redis-events.ts';
import type { RedisNodes } from '#core/platform/shared/redis-nodes.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const closed = { circuitOf: () => ({ requireClosed: () => undefined }) } as unknown as RedisNodes;
const timedOut = () => Promise.reject(new Error('Command timed out'));

/** Events over a subscriber whose SUBSCRIBE commands get these replies, in their order. */
async function connect(...replies: (() => Promise<unknown>)[]) {
  const subscribe = vi.fn<() => Promise<unknown>>(() => (replies.shift() ?? timedOut)());
  const subscriber = Object.assign(new EventEmitter(), { status: 'ready', subscribe });
  const lines: string[] = [];
  const events = new RedisEvents(
    closed,
    subscriber as unknown as Redis,
    createLogger((line) => lines.push(line)),
  );
  const onGap = vi.fn<() => void>();
  await events.subscribe('a', () => undefined, onGap);
  return { events, subscriber, subscribe, onGap, lines };
}

it('a gap is reported once Redis has confirmed the channel again, however late', async () => {
  const confirmed = Promise.withResolvers<void>();
  const { subscriber, subscribe, onGap } = await connect(
    async () => 1,
    () => new Promise(() => undefined),
    () => confirmed.promise,
  );
  subscriber.emit('ready');
  await vi.advanceTimersByTimeAsync(300);
  // A catch-up from here would miss what comes before the confirmation.
  expect([subscribe.mock.calls.length, onGap.mock.calls.length]).toEqual([3, 0]);
  confirmed.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(onGap).toHaveBeenCalledOnce();
});

it('a gap of a connection that is lost again is left to the next one', async () => {
  const { subscriber, onGap } = await connect(
    async () => 1,
    () => new Promise(() => undefined),
    async () => 1,
  );
  subscriber.emit('ready');
  subscriber.status = 'reconnecting';
  await vi.advanceTimersByTimeAsync(300);
  expect(onGap).not.toHaveBeenCalled();
  subscriber.status = 'ready';
  subscriber.emit('ready');
  await vi.advanceTimersByTimeAsync(0);
  expect(onGap).toHaveBeenCalledOnce();
});

it('a message that a listener cannot read is logged, and the other listeners get it', async () => {
  const { events, subscriber, lines } = await connect(async () => 1);
  const heard: string[] = [];
  await events.subscribe('a', (message) => JSON.parse(message));
  await events.subscribe('a', (message) => heard.push(message));
  subscriber.emit('message', 'gw:event:a', 'no JSON');
  expect(heard).toEqual(['no JSON']);
  expect(lines.join('')).toContain('a listener of the channel a in Redis failed: SyntaxError');
});
