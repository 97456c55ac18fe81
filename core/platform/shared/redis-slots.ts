import { randomUUID } from 'node:crypto';
import type { ScriptedRedis } from './redis-client.ts';
import { createChannelName, type RedisEvents } from './redis-events.ts';
import type { RedisNodes } from './redis-nodes.ts';
import {
  fairness,
  instanceLifetimeMs,
  type RequestedSlot,
  type SlotLimits,
  type SlotReply,
  type SlotResult,
  type SlotStore,
} from './slots.ts';

/** In the order of slots.lua. The braces keep the keys on one node of a Redis cluster. */
const createKeys = (pool: string) =>
  ['pool', 'accounts', 'ready', 'queue', 'waiting', 'running', 'ids', 'instances'].map(
    (kind) => `gw:slots:${kind}:{${pool}}`,
  );
const constants = JSON.stringify(fairness);
const emptyIfInfinite = (value: number) => (value === Infinity ? '' : value);

/** Slots in Redis. A script grants them, and notifies the instances whose requests got a slot. */
export class RedisSlots implements SlotStore {
  readonly instance: string;
  readonly #client: ScriptedRedis;
  readonly #nodes: RedisNodes;
  readonly #events: RedisEvents;
  readonly #now: () => number | '';

  /** @param now clock in ms, replaced in tests; empty for the clock of Redis */
  constructor(client: ScriptedRedis, nodes: RedisNodes, events: RedisEvents, now: () => number | '' = () => '') {
    this.instance = randomUUID().slice(0, 13);
    this.#client = client;
    this.#nodes = nodes;
    this.#events = events;
    this.#now = now;
  }

  get instances(): number {
    return this.#nodes.instanceCount;
  }

  enter(pool: string, limits: SlotLimits, { id, account, weight, mayWait }: RequestedSlot): Promise<SlotReply> {
    return this.#run('enter', pool, limits, [id, account, weight, mayWait ? 1 : 0]);
  }

  adopt(pool: string, limits: SlotLimits, { id, account, weight }: RequestedSlot, age: number): Promise<SlotReply> {
    return this.#run('adopt', pool, limits, [id, account, weight, age]);
  }

  end(
    pool: string,
    limits: SlotLimits,
    id: string,
    { isServed, refusedShare, remaining }: SlotResult,
  ): Promise<SlotReply> {
    const parameters = [id, isServed ? 1 : 0, refusedShare, remaining?.requests ?? '', remaining?.validForMs ?? ''];
    return this.#run('end', pool, limits, parameters);
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

  #run(
    operation: string,
    pool: string,
    limits: SlotLimits,
    parameters: readonly (string | number)[],
  ): Promise<SlotReply> {
    const keys = createKeys(encodeURIComponent(pool));
    return this.#nodes
      .circuitOf(keys[0] as string)
      .run(async () =>
        readReply(
          await this.#client.gatewaySlots(
            ...keys,
            operation,
            this.#now(),
            this.instance,
            instanceLifetimeMs,
            createChannelName('slots:'),
            constants,
            emptyIfInfinite(limits.concurrent),
            emptyIfInfinite(limits.requests),
            limits.periodMs,
            emptyIfInfinite(limits.waitingByAccount),
            emptyIfInfinite(limits.waiting),
            ...parameters,
          ),
        ),
      );
  }
}

function readReply([state, position, expectedMs, nextInMs, count, ...ids]: readonly (string | number)[]): SlotReply {
  const granted = ids.slice(0, Number(count)).map(String);
  const hasSlotById = new Map<string, boolean>();
  for (let index = granted.length; index < ids.length; index += 2)
    hasSlotById.set(String(ids[index]), ids[index + 1] === 1);
  return {
    state: state === '' ? undefined : (state as SlotReply['state']),
    position: Number(position),
    expectedMs: Number(expectedMs),
    nextInMs: nextInMs === '' ? undefined : Number(nextInMs),
    grantedIds: granted,
    hasSlotById,
  };
}
