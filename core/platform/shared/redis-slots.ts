import { randomUUID } from 'node:crypto';
import { eventChannel, type RedisEvents } from './redis-events.ts';
import type { ScriptedRedis } from './redis-client.ts';
import type { RedisNodes } from './redis-nodes.ts';
import {
  fairness,
  instanceLifetime,
  type SlotAsk,
  type SlotLimits,
  type SlotReply,
  type SlotResult,
  type SlotStore,
} from './slots.ts';

/** Keys of a pool, in the order of slots.lua; the braces keep them on one node of a Redis cluster. */
const keysOf = (pool: string) =>
  ['pool', 'accounts', 'ready', 'queue', 'waiting', 'running', 'ids', 'instances'].map(
    (kind) => `gw:slots:${kind}:{${pool}}`,
  );
const numbers = JSON.stringify(fairness);
const finite = (value: number) => (value === Infinity ? '' : value);

/** Slots in Redis: one script decides, and notifies the instances whose requests got a slot. */
export class RedisSlots implements SlotStore {
  readonly instance: string;
  readonly #client: ScriptedRedis;
  readonly #nodes: RedisNodes;
  readonly #events: RedisEvents;
  readonly #now: () => number | '';

  /** @param now ms for tests; empty for the clock of Redis */
  constructor(client: ScriptedRedis, nodes: RedisNodes, events: RedisEvents, now: () => number | '' = () => '') {
    this.instance = randomUUID().slice(0, 13);
    this.#client = client;
    this.#nodes = nodes;
    this.#events = events;
    this.#now = now;
  }

  get instances(): number {
    return this.#nodes.count;
  }

  enter(pool: string, limits: SlotLimits, { id, account, weight, mayWait }: SlotAsk): Promise<SlotReply> {
    return this.#run('enter', pool, limits, [id, account, weight, mayWait ? 1 : 0]);
  }

  adopt(pool: string, limits: SlotLimits, { id, account, weight }: SlotAsk, age: number): Promise<SlotReply> {
    return this.#run('adopt', pool, limits, [id, account, weight, age]);
  }

  end(pool: string, limits: SlotLimits, id: string, { isServed, refused, left }: SlotResult): Promise<SlotReply> {
    const ending = [id, isServed ? 1 : 0, refused, left?.requests ?? '', left?.leftFor ?? ''];
    return this.#run('end', pool, limits, ending);
  }

  beat(pool: string, limits: SlotLimits): Promise<SlotReply> {
    return this.#run('beat', pool, limits, []);
  }

  onGrant(listener: (pool: string, ids: readonly string[]) => void, onGap: () => void): Promise<() => void> {
    return this.#events.subscribe(
      `slots:${this.instance}`,
      (message) => {
        const [pool = '', ...ids] = message.split(' ');
        listener(decodeURIComponent(pool), ids);
      },
      onGap,
    );
  }

  #run(op: string, pool: string, limits: SlotLimits, rest: readonly (string | number)[]): Promise<SlotReply> {
    const keys = keysOf(encodeURIComponent(pool));
    return this.#nodes
      .circuitOf(keys[0] as string)
      .run(async () =>
        readReply(
          await this.#client.gatewaySlots(
            ...keys,
            op,
            this.#now(),
            this.instance,
            instanceLifetime,
            eventChannel('slots:'),
            numbers,
            finite(limits.concurrent),
            finite(limits.requests),
            limits.period,
            finite(limits.waitingByAccount),
            finite(limits.waiting),
            ...rest,
          ),
        ),
      );
  }
}

function readReply([state, position, expected, nextIn, count, ...ids]: readonly (string | number)[]): SlotReply {
  const granted = ids.slice(0, Number(count)).map(String);
  const held = new Map<string, boolean>();
  for (let index = granted.length; index < ids.length; index += 2) held.set(String(ids[index]), ids[index + 1] === 1);
  return {
    state: state === '' ? undefined : (state as SlotReply['state']),
    position: Number(position),
    expected: Number(expected),
    nextIn: nextIn === '' ? undefined : Number(nextIn),
    granted,
    held,
  };
}
