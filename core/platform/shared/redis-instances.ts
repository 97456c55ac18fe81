import { randomUUID } from 'node:crypto';
import type { ScriptedRedis } from './redis-client.ts';

/** Seconds after which an instance without a heartbeat no longer counts. */
const lifetime = 15;
const key = 'gw:instances';

/** The instances that use one Redis, counted by their heartbeats. */
export class RedisInstances {
  readonly #client: ScriptedRedis;
  readonly #instance = randomUUID();
  #count = 1;

  constructor(client: ScriptedRedis) {
    this.#client = client;
  }

  /** As of the last heartbeat. */
  get count(): number {
    return this.#count;
  }

  async beat(): Promise<void> {
    this.#count = await this.#client.gatewayHeartbeat(key, this.#instance, lifetime * 1_000_000);
  }

  async leave(): Promise<void> {
    await this.#client.zrem(key, this.#instance);
  }
}
