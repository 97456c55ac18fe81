import type { ScriptedRedis } from './redis-client.ts';

const lifetimeSeconds = 15;
const reappearanceMs = 7_500; // until every instance has reconnected or sent a heartbeat to a Redis that lost its data

/** Counts the instances that use one server by their heartbeats. */
export class RedisInstances {
  readonly #client: ScriptedRedis;
  readonly #key: () => string;
  readonly #instance: string;
  #count = 1;
  #hasSentHeartbeat = false;
  #incompleteUntil = 0; // performance.now(); until then, other instances may be missing

  /** @param instance id of this instance; the same on all servers of a cluster, because a replica takes over its primary's data */
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
   * A Redis that lost its data counts each of the other instances only after its next heartbeat. Until then, the previous count applies.
   */
  async sendHeartbeat(): Promise<void> {
    const [count, isNew] = await this.#client.gatewayHeartbeat(
      this.#key(),
      this.#instance,
      lifetimeSeconds * 1_000_000,
    );
    if (isNew === 1 && this.#hasSentHeartbeat) this.#incompleteUntil = performance.now() + reappearanceMs;
    this.#hasSentHeartbeat = true;
    this.#count = performance.now() < this.#incompleteUntil ? Math.max(count, this.#count) : count;
  }

  async unregister(): Promise<void> {
    await this.#client.zrem(this.#key(), this.#instance);
  }
}
