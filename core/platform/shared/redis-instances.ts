import type { ScriptedRedis } from './redis-client.ts';

const lifetimeSeconds = 15;
/** Ms within which every instance reconnects or sends a heartbeat after Redis lost its data. */
const reappearance = 7_500;

/** The instances that use one server, counted by their heartbeats. */
export class RedisInstances {
  readonly #client: ScriptedRedis;
  readonly #key: () => string;
  readonly #instance: string;
  #count = 1;
  #isKnown = false;
  /** Until then other instances may be missing (performance.now()). */
  #isIncompleteUntil = 0;

  /** @param instance the same on all servers of a cluster: a replica takes over its primary's data */
  constructor(client: ScriptedRedis, instance: string, key: () => string) {
    this.#client = client;
    this.#instance = instance;
    this.#key = key;
  }

  /** As of the last heartbeat. */
  get count(): number {
    return this.#count;
  }

  /** A Redis that has lost its data knows the others only after their next heartbeats: until then they count as before. */
  async beat(): Promise<void> {
    const [count, isNew] = await this.#client.gatewayHeartbeat(
      this.#key(),
      this.#instance,
      lifetimeSeconds * 1_000_000,
    );
    if (isNew === 1 && this.#isKnown) this.#isIncompleteUntil = performance.now() + reappearance;
    this.#isKnown = true;
    this.#count = performance.now() < this.#isIncompleteUntil ? Math.max(count, this.#count) : count;
  }

  async leave(): Promise<void> {
    await this.#client.zrem(this.#key(), this.#instance);
  }
}
