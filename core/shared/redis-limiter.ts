import { randomUUID } from 'node:crypto';
import { bounds } from '../bounds.ts';
import { describe, intervalOf } from './gcra.ts';
import { guard, type ScriptedRedis } from './redis-client.ts';
import type { Limiter, Limits, Take } from './shared.ts';

/** Seconds after which the slot of a dead holder is free, and between renewals by live ones. */
const leaseLifetime = 60;
const renewInterval = 20;

// The braces keep both keys of a script on one node of a Redis cluster.
const arrivalKey = (key: string) => `gw:limit:arrival:{${key}}`;
const leasesKey = (key: string) => `gw:limit:leases:{${key}}`;

/**
 * A slot is a member of its key's sorted set, scored by its expiry. The process that took it renews it until it is
 * released. Releases that fail while Redis is down are repeated when it is up.
 */
export class RedisLimiter implements Limiter {
  readonly #client: ScriptedRedis;
  /** Leases that this process holds, by key. */
  readonly #held = new Map<string, Set<string>>();
  /** Leases that are over, or may have been granted by a command that timed out, with their keys. */
  readonly #owed = new Map<string, string>();
  readonly #timer: NodeJS.Timeout;

  constructor(client: ScriptedRedis) {
    this.#client = client;
    this.#timer = setInterval(() => this.#catchUp(), renewInterval * 1000);
    this.#timer.unref();
    client.on('ready', () => this.#catchUp());
  }

  take(key: string, limits: Limits): Promise<Take> {
    return this.#run(key, limits, randomUUID());
  }

  peek(key: string, limits: Limits): Promise<Take> {
    return this.#run(key, limits, '');
  }

  release(key: string, lease: string): void {
    const held = this.#held.get(key);
    if (held?.delete(lease) !== true) return;
    if (held.size === 0) this.#held.delete(key);
    this.#giveBack(key, lease);
  }

  async releaseAll(): Promise<void> {
    clearInterval(this.#timer);
    const held = [...this.#held];
    this.#held.clear();
    await Promise.allSettled(held.map(([key, leases]) => this.#client.zrem(leasesKey(key), ...leases)));
  }

  async #run(key: string, limits: Limits, lease: string): Promise<Take> {
    const takesSlot = lease !== '' && limits.concurrent !== undefined;
    const [refused, debt, wait] = await guard(
      this.#client.gatewayTake(
        arrivalKey(key),
        leasesKey(key),
        intervalOf(limits),
        limits.burst,
        limits.concurrent ?? '',
        lease,
        leaseLifetime * 1_000_000,
      ),
    ).catch((error: unknown) => {
      // Redis may only be late, and grant a slot that no caller knows of.
      if (takesSlot) this.#giveBack(key, lease);
      throw error;
    });
    const refusedBy = refused === 0 ? undefined : refused === 1 ? 'rate' : 'concurrency';
    const isTaken = refused === 0 && takesSlot;
    if (isTaken) this.#hold(key, lease);
    return describe(debt, limits, wait, refusedBy, isTaken ? lease : undefined);
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

  #catchUp(): void {
    for (const [lease, key] of this.#owed) this.#giveBack(key, lease);
    // A failed renewal is repeated next time; a lease lives for three rounds.
    this.#renew().catch(() => undefined);
  }

  /** Held leases are added again as well: a restarted Redis has lost them. */
  async #renew(): Promise<void> {
    if (this.#held.size === 0) return;
    const [seconds] = await this.#client.time();
    const expiresAt = (Number(seconds) + leaseLifetime) * 1_000_000;
    const pipeline = this.#client.pipeline();
    for (const [key, leases] of this.#held) {
      pipeline.zadd(leasesKey(key), ...[...leases].flatMap((lease) => [expiresAt, lease]));
      pipeline.expire(leasesKey(key), leaseLifetime + 1);
    }
    await pipeline.exec();
  }
}
