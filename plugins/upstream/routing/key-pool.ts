import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { KeyClosure, KeyClosures, ReportedClosure } from '#core/gateway/model-call/key-closures.ts';
import { exponentialDelay } from '#core/platform/timing/backoff.ts';
import { pickBySession } from './route-order.ts';

/** Times are monotonic ms, like every `now` in this file. */
interface PooledKey {
  readonly value: string;
  closure: KeyClosure;
  rejectedUntil: number; // for all models
  rejections: number;
  readonly throttles: Map<string, Throttle>; // by upstream model, because vendors limit models separately
  lastUse: number; // value of the pool's use counter, not a time
}

interface Throttle {
  readonly throttledAt: number;
  readonly until: number;
}

export type PooledKeys = Map<string, PooledKey>;

const rejectionCooldownSeconds = { min: 60, max: 3_600 };
const throttleMemoryMs = 3_600_000;

/**
 * API keys of one upstream. A session keeps its key, because vendors cache prompts per account. Other requests rotate through the keys that
 * were never throttled; if there are none, they use the key that was throttled longest ago. A throttled key cools down for that model, a
 * rejected one for all models.
 */
export class KeyPool {
  readonly #keys: readonly PooledKey[];
  readonly #closures: KeyClosures | undefined;
  #useCount = 0;

  /**
   * @param existingKeys keys from before a reload, which this pool replaces in place
   * @param closures closures of all keys; missing in trials, which neither close nor open keys
   */
  constructor(upstream: Upstream, existingKeys: PooledKeys = new Map(), closures?: KeyClosures) {
    const { apiKeys } = upstream;
    this.#closures = closures;
    // An upstream without keys, such as a local server, is called without one.
    const values = apiKeys.length > 0 ? [...new Set(apiKeys)] : [''];
    this.#keys = values.map(
      (value) => existingKeys.get(value) ?? createKey(value, closures?.getByKey(upstream, value)),
    );
    existingKeys.clear();
    for (const key of this.#keys) existingKeys.set(key.value, key);
    this.#useCount = Math.max(...this.#keys.map(({ lastUse }) => lastUse));
  }

  /** For trials: skips closed keys, and never closes, opens or cools down keys of this pool. */
  copyForTrial(upstream: Upstream): KeyPool {
    return new KeyPool(upstream, new Map(this.#keys.map(({ value, closure }) => [value, createKey(value, closure)])));
  }

  get size(): number {
    return this.#keys.length;
  }

  /** Counted from 1. */
  getPosition(value: string): number {
    return this.#keys.findIndex((key) => key.value === value) + 1;
  }

  /**
   * Picks an available key, or the one that becomes available first. The requests of a session share a prompt cache; `preferred` is the key
   * with that cache, if known.
   */
  pickKey(now: number, model: string, session?: string, preferred?: string): string {
    const preferredKey = preferred === undefined ? undefined : this.#findKey(preferred);
    const isUsable = preferredKey !== undefined && getCooldownEnd(preferredKey, model) <= now;
    const key = isUsable ? preferredKey : this.#chooseKey(now, model, session);
    key.lastUse = ++this.#useCount;
    return key.value;
  }

  isReady(now: number, model: string): boolean {
    return this.#keys.some((key) => getCooldownEnd(key, model) <= now);
  }

  /**
   * Returns the ms until the first throttled key is available again. Undefined if a key is available or all were rejected, because the
   * upstream may accept a rejected key at any time, for example once a bill is paid.
   */
  computeThrottledMs(now: number, model: string): number | undefined {
    if (this.isReady(now, model)) return undefined;
    const waits = this.#keys
      .filter(({ rejectedUntil, closure }) => rejectedUntil <= now && closure.until <= now)
      .map((key) => getCooldownEnd(key, model) - now);
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  /** Counts the keys that are cooling down for this model or, without one, for any model. */
  countCoolingDown(now: number, model?: string): number {
    let count = 0;
    for (const key of this.#keys) {
      const models = model === undefined ? [...key.throttles.keys(), ''] : [model];
      if (models.some((name) => getCooldownEnd(key, name) > now)) count++;
    }
    return count;
  }

  countRejected(now: number): number {
    return this.#keys.filter(({ rejectedUntil }) => rejectedUntil > now).length;
  }

  countClosed(now: number): number {
    return this.#keys.filter(({ closure }) => closure.until > now).length;
  }

  /** Returns false if the key should cool down instead. */
  recordClosure(value: string, report: ReportedClosure): boolean {
    const key = this.#findKey(value);
    return key !== undefined && this.#closures?.report(key.closure, report) === true;
  }

  recordThrottling(value: string, model: string, now: number, until: number): void {
    const key = this.#findKey(value);
    if (key === undefined) return;
    const latestEnd = Math.max(key.throttles.get(model)?.until ?? 0, until);
    key.throttles.set(model, { throttledAt: now, until: latestEnd });
  }

  /** Returns the seconds of the cooldown; 0 if the key is already cooling down, because requests in flight do not extend it. */
  recordRejection(value: string, now: number): number {
    const key = this.#findKey(value);
    if (key === undefined || key.rejectedUntil > now) return 0;
    const seconds = exponentialDelay(rejectionCooldownSeconds, key.rejections);
    key.rejections++;
    key.rejectedUntil = now + seconds * 1000;
    return seconds;
  }

  recordAcceptance(value: string): void {
    const key = this.#findKey(value);
    if (key === undefined) return;
    key.rejections = 0;
    key.rejectedUntil = 0;
    if (key.closure.until !== 0) this.#closures?.recordAccepted(key.closure);
  }

  reset(): void {
    for (const key of this.#keys) {
      key.rejectedUntil = 0;
      key.rejections = 0;
      // The closure stays recorded until the vendor accepts the key.
      if (key.closure.until !== 0) key.closure.until = 1;
      key.throttles.clear();
    }
  }

  #chooseKey(now: number, model: string, session: string | undefined): PooledKey {
    const ready = this.#keys.filter((key) => getCooldownEnd(key, model) <= now);
    if (ready.length === 0) return minBy(this.#keys, (key) => [getCooldownEnd(key, model)]);
    if (session !== undefined) return pickBySession(ready, ({ value }) => value, session);
    return minBy(ready, (key) => [getLastThrottling(key, model, now), key.lastUse]);
  }

  #findKey(value: string): PooledKey | undefined {
    return this.#keys.find((key) => key.value === value);
  }
}

function createKey(value: string, closure: KeyClosure = { id: '', until: 0 }): PooledKey {
  return { value, closure, rejectedUntil: 0, rejections: 0, throttles: new Map(), lastUse: 0 };
}

function getCooldownEnd({ rejectedUntil, closure, throttles }: PooledKey, model: string): number {
  return Math.max(rejectedUntil, closure.until, throttles.get(model)?.until ?? 0);
}

function getLastThrottling({ throttles }: PooledKey, model: string, now: number): number {
  const throttledAt = throttles.get(model)?.throttledAt ?? 0;
  return now - throttledAt < throttleMemoryMs ? throttledAt : 0;
}

function minBy<T>(candidates: readonly T[], rank: (candidate: T) => readonly number[]): T {
  return candidates.reduce((best, candidate) => (isBefore(rank(candidate), rank(best)) ? candidate : best));
}

function isBefore(ranks: readonly number[], otherRanks: readonly number[]): boolean {
  const difference = ranks.findIndex((rank, index) => rank !== otherRanks[index]);
  return difference >= 0 && (ranks[difference] ?? 0) < (otherRanks[difference] ?? 0);
}
