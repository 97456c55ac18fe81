import { randomUUID } from 'node:crypto';
import { bounds } from '../bounds.ts';
import { createTake, computeIntervalUs } from './gcra.ts';
import type { ScriptedRedis } from './redis-client.ts';
import type { RedisNodes } from './redis-nodes.ts';
import type { Fallback } from './reply-watch.ts';
import type { Limiter, Limits, Take } from './shared.ts';

const refusals: readonly Take['refusedBy'][] = [undefined, 'rate', 'concurrency']; // by the first value that take.lua returns
const leaseLifetimeUs = 25_000_000;
const heartbeatsPerRenewal = 3; // 10 to 15 s; two may fail, and most requests end before their lease needs renewal

// The braces keep both keys of a script on one node of a Redis cluster.
const arrivalKey = (key: string) => `gw:limit:arrival:{${key}}`;
const leasesKey = (key: string) => `gw:limit:leases:{${key}}`;

/**
 * Limiter in Redis. A slot is a lease: a member of its key's sorted set, scored by its expiry. The process that took the lease renews it
 * until it is released. Releases that fail while Redis is down are repeated later.
 */
export class RedisLimiter implements Limiter {
  readonly #client: ScriptedRedis;
  readonly #nodes: RedisNodes;
  readonly #leasesByKey = new Map<string, Map<string, number>>(); // heartbeat before each lease was taken or renewed
  #heartbeat = 0;
  readonly #pendingReleases = new Map<string, string>(); // keys of leases that ended, or that a late command may have granted

  constructor(client: ScriptedRedis, nodes: RedisNodes) {
    this.#client = client;
    this.#nodes = nodes;
  }

  get instances(): number {
    return this.#nodes.instanceCount;
  }

  take(key: string, limits: Limits, fallback?: Fallback<Take>): Promise<Take> {
    return this.#run(key, limits, randomUUID(), fallback);
  }

  peek(key: string, limits: Limits, fallback?: Fallback<Take>): Promise<Take> {
    return this.#run(key, limits, '', fallback);
  }

  release(key: string, lease: string): void {
    const leases = this.#leasesByKey.get(key);
    if (leases?.delete(lease) !== true) return;
    if (leases.size === 0) this.#leasesByKey.delete(key);
    this.#sendRelease(key, lease);
  }

  async releaseAll(): Promise<void> {
    const entries = [...this.#leasesByKey];
    this.#leasesByKey.clear();
    await Promise.all(
      entries.map(([key, leases]) =>
        this.#nodes.circuitOf(leasesKey(key)).run(() => this.#client.zrem(leasesKey(key), ...leases.keys())),
      ),
    );
  }

  /** Renews the leases that need it, and repeats failed releases. Sends all commands before it returns. */
  onHeartbeat(): void {
    this.#heartbeat++;
    this.#renewLeases(this.#heartbeat - heartbeatsPerRenewal);
  }

  /** Renews all leases of this process, because Redis may have lost them, and repeats failed releases. */
  onRecovery(): void {
    this.#renewLeases(this.#heartbeat);
  }

  #renewLeases(maxHeartbeat: number): void {
    for (const [lease, key] of this.#pendingReleases) this.#sendRelease(key, lease);
    for (const [key, leases] of this.#leasesByKey) {
      const dueLeases = [...leases].filter(([, heartbeat]) => heartbeat <= maxHeartbeat).map(([lease]) => lease);
      if (dueLeases.length > 0) this.#renew(key, leases, dueLeases);
    }
  }

  #renew(key: string, leases: Map<string, number>, dueLeases: readonly string[]): void {
    const now = this.#heartbeat;
    this.#client.gatewayRenew(leasesKey(key), leaseLifetimeUs, ...dueLeases).then(
      () => {
        for (const lease of dueLeases) if (leases.has(lease)) leases.set(lease, now);
      },
      // The next heartbeat retries.
      () => undefined,
    );
  }

  async #run(key: string, limits: Limits, lease: string, fallback?: Fallback<Take>): Promise<Take> {
    const takesSlot = lease !== '' && limits.concurrent !== undefined;
    let isSent = false;
    let usedFallback = false;
    const send = async () => {
      isSent = true;
      const [refused, debt, wait, running] = await this.#client.gatewayTake(
        arrivalKey(key),
        leasesKey(key),
        computeIntervalUs(limits),
        limits.burst,
        limits.concurrent ?? '',
        lease,
        leaseLifetimeUs,
      );
      const refusedBy = refusals[refused];
      const take = createTake(debt, limits, wait, refusedBy, refused === 0 && takesSlot ? lease : undefined);
      return running === undefined ? take : { ...take, running };
    };
    const tryFallback = () => {
      const take = fallback?.();
      usedFallback = take !== undefined;
      return take;
    };
    // Redis may only be late. It would then grant a lease that no caller releases.
    const releaseUnclaimed = () => {
      if (takesSlot && isSent) this.#sendRelease(key, lease);
    };
    try {
      const take = await this.#nodes.circuitOf(arrivalKey(key)).run(send, tryFallback);
      if (usedFallback) releaseUnclaimed();
      else if (take.lease !== undefined) this.#addLease(key, take.lease);
      return take;
    } catch (error) {
      releaseUnclaimed();
      throw error;
    }
  }

  #addLease(key: string, lease: string): void {
    const leases = this.#leasesByKey.get(key);
    if (leases === undefined) this.#leasesByKey.set(key, new Map([[lease, this.#heartbeat]]));
    else leases.set(lease, this.#heartbeat);
  }

  #sendRelease(key: string, lease: string): void {
    this.#client.zrem(leasesKey(key), lease).then(
      () => this.#pendingReleases.delete(lease),
      () => this.#pendingReleases.size < bounds.pendingReleases && this.#pendingReleases.set(lease, key),
    );
  }
}
