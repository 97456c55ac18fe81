import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LiveBus, type LiveChange } from '#core/web/live/live-bus.ts';
import { type Events, SharedUnavailable } from '#core/platform/shared/shared.ts';
import { silentLog } from '../../../support/database.ts';

/** What two instances share, with the messages that went over it. */
class Wire implements Events {
  readonly messages: string[] = [];
  isDown = false;

  get isConnected(): boolean {
    return !this.isDown;
  }

  readonly #listeners = new Set<{ listen: (message: string) => void; gap: (() => void) | undefined }>();

  async publish(_channel: string, message: string): Promise<void> {
    if (this.isDown) throw new SharedUnavailable('no answer');
    this.messages.push(message);
    for (const { listen } of this.#listeners) listen(message);
  }

  async subscribe(_channel: string, listen: (message: string) => void, gap?: () => void): Promise<() => void> {
    const listener = { listen, gap };
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

/** An instance, and what it has heard. */
async function open(instance: string) {
  const bus = new LiveBus({ instance, log: silentLog, shared: { kind: 'redis', events: wire } as never });
  buses.push(bus);
  const heard: LiveChange[] = [];
  bus.listen((change) => heard.push(change));
  await bus.ready();
  return { bus, heard };
}

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
const named = (heard: readonly LiveChange[]) =>
  heard.map(({ topic, accounts }) => [topic, accounts === undefined ? 'all' : [...accounts]]);

it('an update reaches pages of this instance at once, and other instances within a moment, once each', async () => {
  const [one, two] = [await open('one'), await open('two')];
  one.bus.publish('requests', ['a', 'b']);
  expect(named(one.heard)).toEqual([['requests', ['a', 'b']]]);
  await pass(0);
  expect(named(two.heard)).toEqual([['requests', ['a', 'b']]]);
  expect(one.heard).toHaveLength(1);
});

it('sends at most one message a second, with everything that changed meanwhile', async () => {
  const [one, two] = [await open('one'), await open('two')];
  for (let count = 0; count < 200; count++) {
    one.bus.publish('requests', [`account-${count % 10}`]);
    one.bus.publish('health');
    await pass(10);
  }
  await pass(1_000);
  expect(wire.messages.length).toBeLessThanOrEqual(4);
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

it('sends what could not be sent once the store is back', async () => {
  const [one, two] = [await open('one'), await open('two')];
  wire.isDown = true;
  one.bus.publish('orders', ['a']);
  await pass(3_000);
  one.bus.publish('orders', ['b']);
  wire.isDown = false;
  await pass(1_000);
  expect(named(two.heard)).toEqual([['orders', ['a', 'b']]]);
});

it('says whether it hears of other instances', async () => {
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

it('sends nothing over a store that no other instance has', async () => {
  const bus = new LiveBus({ instance: 'one', log: silentLog, shared: { kind: 'memory', events: wire } as never });
  buses.push(bus);
  bus.publish('requests', ['a']);
  await pass(2_000);
  expect(wire.messages).toEqual([]);
});
