import { randomUUID } from 'node:crypto';
import { bounds } from '../bounds.ts';
import type { Circuit } from './circuit.ts';
import { describe, intervalOf } from './gcra.ts';
import type { ScriptedRedis } from './redis-client.ts';
import type { Fallback } from './reply-watch.ts';
import type { Limiter, Limits, Take } from './shared.ts';

/** µs after which the slot of a dead holder is free. A live one renews it every few seconds. */
const leaseLifetime = 25_000_000;

// The braces keep both keys of a script on one node of a Redis cluster.
const arrivalKey = (key: string) => `gw:limit:arrival:{${key}}`;
const leasesKey = (key: string) => `gw:limit:leases:{${key}}`;

/**
 * A slot is a member of its key's sorted set, scored by its expiry. The process that took it renews it until it is
 * released. Releases that fail while Redis is down are repeated when it is up.
 */
export class RedisLimiter implements Limiter {
  readonly #client: ScriptedRedis;
  readonly #circuit: Circuit;
  readonly #instances: RedisInstances;
  /** Leases that this process holds, by key. */
  readonly #held = new Map<string, Set<string>>();
  /** Leases to release, by key: they ended, or may have been granted by a late command. */
  readonly #owed = new Map<string, string>();

  constructor(client: ScriptedRedis, circuit: Circuit, instances: RedisInstances) {
    this.#client = client;
    this.#circuit = circuit;
    this.#instances = instances;
  }

  get instances(): number {
    return this.#instances.count;
  }

  take(key: string, limits: Limits, fallback?: Fallback<Take>): Promise<Take> {
    return this.#run(key, limits, randomUUID(), fallback);
  }

  peek(key: string, limits: Limits, fallback?: Fallback<Take>): Promise<Take> {
    return this.#run(key, limits, '', fallback);
  }

  release(key: string, lease: string): void {
    const held = this.#held.get(key);
    if (held?.delete(lease) !== true) return;
    if (held.size === 0) this.#held.delete(key);
    this.#giveBack(key, lease);
  }

  /** Releases all slots of this process. */
  async releaseAll(): Promise<void> {
    const held = [...this.#held];
    this.#held.clear();
    if (held.length === 0) return;
    await this.#circuit.run(() =>
      Promise.all(held.map(([key, leases]) => this.#client.zrem(leasesKey(key), ...leases))),
    );
  }

  /** Renews the slots of this process and releases ended ones. Sends everything before it returns. */
  catchUp(): void {
    for (const [lease, key] of this.#owed) this.#giveBack(key, lease);
    // A renewal that fails is repeated next time; a lease lives for several.
    for (const [key, leases] of this.#held)
      this.#client.gatewayRenew(leasesKey(key), leaseLifetime, ...leases).catch(() => undefined);
  }

  async #run(key: string, limits: Limits, lease: string, fallback?: Fallback<Take>): Promise<Take> {
    const takesSlot = lease !== '' && limits.concurrent !== undefined;
    let isSent = false;
    let isReplaced = false;
    const send = async () => {
      isSent = true;
      const [refused, debt, wait, running] = await this.#client.gatewayTake(
        arrivalKey(key),
        leasesKey(key),
        intervalOf(limits),
        limits.burst,
        limits.concurrent ?? '',
        lease,
        leaseLifetime,
      );
      const refusedBy = refused === 0 ? undefined : refused === 1 ? 'rate' : 'concurrency';
      const take = describe(debt, limits, wait, refusedBy, refused === 0 && takesSlot ? lease : undefined);
      return running === undefined ? take : { ...take, running };
    };
    const replace = () => {
      const take = fallback?.();
      isReplaced = take !== undefined;
      return take;
    };
    // Redis may only be late, and grant a slot that no caller knows of.
    const giveUp = () => {
      if (takesSlot && isSent) this.#giveBack(key, lease);
    };
    try {
      const take = await this.#circuit.run(send, replace);
      if (isReplaced) giveUp();
      else if (take.lease !== undefined) this.#hold(key, take.lease);
      return take;
    } catch (error) {
      giveUp();
      throw error;
    }
  }

  #hold(key: string, lease: string): void {
    const held = this.#held.get(key);
    if (held === undefined) this.#held.set(key, new Set([lease]));
    else held.add(lease);
  }

  #giveBack(key: string, lease: string): void {
    this.#client.zrem(leasesKey(key), lease).then(
      () => this.#owed.delete(lease),
      () => this.#owed.size < bounds.owedSlots && this.#owed.set(lease, key),
    );
  }
}

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
