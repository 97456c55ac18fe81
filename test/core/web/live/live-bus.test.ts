import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Events, SharedUnavailable } from '#core/platform/shared/shared.ts';
import { LiveBus, type LiveChange } from '#core/web/live/live-bus.ts';
import { silentLog } from '../../../support/database.ts';

/** What two instances share, with the messages that went over it. */
class Wire implements Events {
  readonly messages: string[] = [];
  isDown = false;

  get isConnected(): boolean {
    return !this.isDown;
  }

  /** How often a message has reached an instance. */
  deliveries = 0;

  readonly #listeners = new Set<{
    channel: string;
    listen: (message: string) => void;
    gap: (() => void) | undefined;
  }>();

  async publish(channel: string, message: string): Promise<void> {
    if (this.isDown) throw new SharedUnavailable('no answer');
    this.messages.push(message);
    for (const listener of this.#listeners) {
      if (listener.channel !== channel) continue;
      this.deliveries++;
      listener.listen(message);
    }
  }

  async subscribe(channel: string, listen: (message: string) => void, gap?: () => void): Promise<() => void> {
    const listener = { channel, listen, gap };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  reconnect(): void {
    for (const { gap } of this.#listeners) gap?.();
  }
}

let wire: Wire;
let buses: LiveBus[];

beforeEach(() => {
  vi.useFakeTimers();
  wire = new Wire();
  buses = [];
});
afterEach(async () => {
  for (const bus of buses) await bus[Symbol.asyncDispose]();
  vi.useRealTimers();
});

/** An instance that follows these accounts, undefined for any, and what it has heard since. */
async function open(instance: string, ...followed: (string | undefined)[]) {
  const bus = new LiveBus({ instance, log: silentLog, shared: { kind: 'redis', events: wire } as never });
  buses.push(bus);
  const heard: LiveChange[] = [];
  bus.listen((change) => heard.push(change));
  const ends = followed.map((accountId) => bus.follow(accountId));
  await bus.ready();
  heard.length = 0;
  return { bus, heard, unfollow: () => ends.forEach((end) => end()) };
}

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
const named = (heard: readonly LiveChange[]) =>
  heard.map(({ topic, accounts }) => [topic, accounts === undefined ? 'all' : [...accounts]]);

it('an update reaches pages of this instance at once, and other instances within a moment, once each', async () => {
  const [one, two] = [await open('one'), await open('two', 'b')];
  one.bus.publish('requests', ['a', 'b']);
  expect(named(one.heard)).toEqual([['requests', ['a', 'b']]]);
  await pass(0);
  expect(named(two.heard)).toEqual([['requests', ['b']]]);
  expect(one.heard).toHaveLength(1);
});

it('an instance hears that any account has news while a page follows all of them', async () => {
  const [one, two] = [await open('one'), await open('two', undefined)];
  one.bus.publish('requests', ['a', 'b']);
  await pass(0);
  expect(named(two.heard)).toEqual([['requests', []]]);
  two.unfollow();
  one.bus.publish('requests', ['a']);
  await pass(1_000);
  expect(two.heard).toHaveLength(1);
});

it('news of accounts that no page follows are sent to no other instance, however many there are', async () => {
  const instances = await Promise.all(Array.from({ length: 30 }, (_, index) => open(`instance-${index}`)));
  const follower = await open('follower', 'account-7');
  for (const [index, { bus }] of instances.entries()) bus.publish('requests', [`account-${index}`]);
  await pass(0);
  expect(wire.deliveries).toBe(1);
  expect(named(follower.heard)).toEqual([['requests', ['account-7']]]);
});

it('an account counts as changed once it is followed, and hears of it until the last follower has ended', async () => {
  const { bus, heard } = await open('one');
  const ends = [bus.follow('a'), bus.follow('a')];
  expect(bus.receivesChanges('a')).toBe(false);
  await bus.ready();
  expect(bus.receivesChanges('a')).toBe(true);
  expect(named(heard)).toContainEqual(['requests', ['a']]);
  ends[0]?.();
  expect(bus.receivesChanges('a')).toBe(true);
  ends[1]?.();
  expect(bus.receivesChanges('a')).toBe(false);
});

it('the live bus sends at most one message a second and channel, with everything that changed meanwhile', async () => {
  const followed = Array.from({ length: 10 }, (_, index) => `account-${index}`);
  const [one, two] = [await open('one'), await open('two', ...followed)];
  for (let count = 0; count < 200; count++) {
    one.bus.publish('requests', [`account-${count % 10}`]);
    one.bus.publish('health');
    await pass(10);
  }
  await pass(1_000);
  // All accounts, any account, and ten accounts.
  expect(wire.messages.length).toBeLessThanOrEqual(4 * 12);
  const accounts = new Set(
    two.heard.flatMap(({ topic, accounts: some }) => (topic === 'requests' ? [...(some ?? [])] : [])),
  );
  expect(accounts.size).toBe(10);
  expect(named(two.heard)).toContainEqual(['health', 'all']);
});

it('names no more than 500 accounts: then all have news', async () => {
  const [one, two] = [await open('one'), await open('two')];
  for (let count = 0; count < 600; count++) one.bus.publish('requests', [`account-${count}`]);
  await pass(0);
  expect(named(two.heard)).toEqual([['requests', 'all']]);
});

it('the live bus sends what could not be sent once the store is back', async () => {
  const [one, two] = [await open('one'), await open('two', 'a', 'b')];
  wire.isDown = true;
  one.bus.publish('orders', ['a']);
  await pass(3_000);
  one.bus.publish('orders', ['b']);
  wire.isDown = false;
  await pass(1_000);
  expect(named(two.heard)).toEqual([
    ['orders', ['a']],
    ['orders', ['b']],
  ]);
});

it('the live bus says whether it hears of other instances', async () => {
  const { bus } = await open('one');
  expect(bus.isConnected).toBe(true);
  wire.isDown = true;
  expect(bus.isConnected).toBe(false);
  const deaf = new LiveBus({ instance: 'two', log: silentLog, shared: { kind: 'redis', events: wire } as never });
  buses.push(deaf);
  wire.isDown = false;
  expect(deaf.isConnected).toBe(false);
});

it('counts everything as changed after a gap', async () => {
  const { heard } = await open('one');
  wire.reconnect();
  expect(named(heard)).toEqual([
    ['requests', 'all'],
    ['account', 'all'],
    ['orders', 'all'],
    ['health', 'all'],
  ]);
});

it('the live bus sends nothing over a store that no other instance has', async () => {
  const bus = new LiveBus({ instance: 'one', log: silentLog, shared: { kind: 'memory', events: wire } as never });
  buses.push(bus);
  bus.publish('requests', ['a']);
  await pass(2_000);
  expect(wire.messages).toEqual([]);
});
