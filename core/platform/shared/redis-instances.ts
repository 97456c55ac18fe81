import type { ScriptedRedis } from './redis-client.ts';

const lifetimeSeconds = 15;
/** Time for every instance to reconnect or send a heartbeat after Redis lost its data, ms. */
const reappearanceMs = 7_500;

/** Number of instances that use one server, counted by their heartbeats. */
export class RedisInstances {
  readonly #client: ScriptedRedis;
  readonly #key: () => string;
  readonly #instance: string;
  #count = 1;
  #isKnown = false;
  /** performance.now() until which other instances may be missing. */
  #isIncompleteUntil = 0;

  /** @param instance the same on all servers of a cluster, because a replica takes over its primary's data */
  constructor(client: ScriptedRedis, instance: string, key: () => string) {
    this.#client = client;
    this.#instance = instance;
    this.#key = key;
  }

  /** Instances as of the last heartbeat. */
  get count(): number {
    return this.#count;
  }

  /**
   * Sends a heartbeat. A Redis that lost its data learns of the other instances only from their next heartbeats; until then the previous
   * count applies.
   */
  async beat(): Promise<void> {
    const [count, isNew] = await this.#client.gatewayHeartbeat(
      this.#key(),
      this.#instance,
      lifetimeSeconds * 1_000_000,
    );
    if (isNew === 1 && this.#isKnown) this.#isIncompleteUntil = performance.now() + reappearanceMs;
    this.#isKnown = true;
    this.#count = performance.now() < this.#isIncompleteUntil ? Math.max(count, this.#count) : count;
  }

  async leave(): Promise<void> {
    await this.#client.zrem(this.#key(), this.#instance);
  }
}
