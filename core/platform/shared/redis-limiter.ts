import { randomUUID } from 'node:crypto';
import { bounds } from '../bounds.ts';
import { describe, intervalOf } from './gcra.ts';
import type { ScriptedRedis } from './redis-client.ts';
import type { RedisNodes } from './redis-nodes.ts';
import type { Fallback } from './reply-watch.ts';
import type { Limiter, Limits, Take } from './shared.ts';

const leaseLifetime = 25_000_000; // µs
/**
 * Heartbeats after which a live process renews a lease, which takes 10 to 15 seconds: two heartbeats may fail, and the slots of most
 * requests need no renewal.
 */
const renewAfter = 3;

// The braces keep both keys of a script on one node of a Redis cluster.
const arrivalKey = (key: string) => `gw:limit:arrival:{${key}}`;
const leasesKey = (key: string) => `gw:limit:leases:{${key}}`;

/**
 * A slot is a member of its key's sorted set, scored by its expiry. The process that took it renews it until it is
 * released. Releases that fail while Redis is down are repeated when it is up.
 */
export class RedisLimiter implements Limiter {
  readonly #client: ScriptedRedis;
  readonly #nodes: RedisNodes;
  /** Leases that this process holds, by key, with the number of the heartbeat before they were taken or renewed. */
  readonly #held = new Map<string, Map<string, number>>();
  #heartbeat = 0;
  /** Leases to release, by key: ended, or possibly granted by a late command. */
  readonly #owed = new Map<string, string>();

  constructor(client: ScriptedRedis, nodes: RedisNodes) {
    this.#client = client;
    this.#nodes = nodes;
  }

  get instances(): number {
    return this.#nodes.count;
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
    await Promise.all(
      held.map(([key, leases]) =>
        this.#nodes.circuitOf(leasesKey(key)).run(() => this.#client.zrem(leasesKey(key), ...leases.keys())),
      ),
    );
  }

  /** Called at each heartbeat: renews the slots that need it, and releases ended ones. Sends all commands before it returns. */
  beat(): void {
    this.#heartbeat++;
    this.#catchUp(this.#heartbeat - renewAfter);
  }

  /** Called once Redis responds again: renews all slots of this process, because Redis may have lost them, and releases ended ones. */
  catchUp(): void {
    this.#catchUp(this.#heartbeat);
  }

  #catchUp(last: number): void {
    for (const [lease, key] of this.#owed) this.#giveBack(key, lease);
    for (const [key, leases] of this.#held) {
      const due = [...leases].filter(([, since]) => since <= last).map(([lease]) => lease);
      if (due.length > 0) this.#renew(key, leases, due);
    }
  }

  #renew(key: string, leases: Map<string, number>, due: readonly string[]): void {
    const now = this.#heartbeat;
    this.#client.gatewayRenew(leasesKey(key), leaseLifetime, ...due).then(
      () => {
        for (const lease of due) if (leases.has(lease)) leases.set(lease, now);
      },
      // The next heartbeat retries.
      () => undefined,
    );
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
    // Redis may only be late, and would then grant a slot that no caller knows of.
    const giveUp = () => {
      if (takesSlot && isSent) this.#giveBack(key, lease);
    };
    try {
      const take = await this.#nodes.circuitOf(arrivalKey(key)).run(send, replace);
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
    if (held === undefined) this.#held.set(key, new Map([[lease, this.#heartbeat]]));
    else held.set(lease, this.#heartbeat);
  }

  #giveBack(key: string, lease: string): void {
    this.#client.zrem(leasesKey(key), lease).then(
      () => this.#owed.delete(lease),
      () => this.#owed.size < bounds.pendingReleases && this.#owed.set(lease, key),
    );
  }
}
