import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { KeyClosure, KeyClosures, ReportedClosure } from '#core/gateway/model-call/key-closures.ts';
import { doubledDelay } from '#core/platform/timing/backoff.ts';
import { pickBySession } from './route-order.ts';

/** Times are monotonic ms, like every `now` in this file. */
interface PooledKey {
  readonly value: string;
  /** While the closure lasts, the key is not used at all. */
  closure: KeyClosure;
  refusedUntil: number; // for all models
  refusals: number;
  /** By upstream model: vendors limit models separately. */
  readonly throttles: Map<string, Throttle>;
  /** Value of the pool's use counter at this key's last use. */
  lastUse: number;
}

interface Throttle {
  readonly at: number;
  readonly until: number;
}

/** Keys of an upstream by value. */
export type KnownKeys = Map<string, PooledKey>;

const refusalCooldownSeconds = { first: 60, longest: 3_600 };
const throttleMemoryMs = 3_600_000;

/**
 * API keys of one upstream. A session stays with its key, because vendors cache prompts per account. Other requests rotate through the keys
 * that were never throttled, or longest ago. A throttled key cools down for that model, a rejected one for all models.
 */
export class KeyPool {
  readonly #keys: readonly PooledKey[];
  readonly #closures: KeyClosures | undefined;
  #uses = 0;

  /**
   * @param known keys from before a reload; updated in place to the keys of this pool
   * @param closures of all keys; missing in trials, which neither close nor open keys
   */
  constructor(upstream: Upstream, known: KnownKeys = new Map(), closures?: KeyClosures) {
    const { apiKeys } = upstream;
    this.#closures = closures;
    // An upstream without keys, such as a local server, is called without one.
    const values = apiKeys.length > 0 ? [...new Set(apiKeys)] : [''];
    this.#keys = values.map((value) => known.get(value) ?? unknownKey(value, closures?.getByKey(upstream, value)));
    known.clear();
    for (const key of this.#keys) known.set(key.value, key);
    this.#uses = Math.max(...this.#keys.map(({ lastUse }) => lastUse));
  }

  /** A copy for trials: it knows which keys are closed, and does not close, open or cool down any here. */
  forTrial(upstream: Upstream): KeyPool {
    return new KeyPool(upstream, new Map(this.#keys.map(({ value, closure }) => [value, unknownKey(value, closure)])));
  }

  get size(): number {
    return this.#keys.length;
  }

  /** Position of the key from 1, which identifies it in messages. */
  positionOf(value: string): number {
    return this.#keys.findIndex((key) => key.value === value) + 1;
  }

  /**
   * Picks an available key, or else the first that will be available.
   *
   * @param session requests with a common prompt cache
   * @param preferred the key known to have that cache
   */
  pick(now: number, model: string, session?: string, preferred?: string): string {
    const preferredKey = preferred === undefined ? undefined : this.#find(preferred);
    const isUsable = preferredKey !== undefined && cooldownEnd(preferredKey, model) <= now;
    const key = isUsable ? preferredKey : this.#choose(now, model, session);
    key.lastUse = ++this.#uses;
    return key.value;
  }

  /** True if any key is available now. */
  isReady(now: number, model: string): boolean {
    return this.#keys.some((key) => cooldownEnd(key, model) <= now);
  }

  /**
   * Ms until the first throttled key is available again. Undefined if a key is available, or all keys were rejected: the upstream may
   * accept one at any time, for example once a bill is paid.
   */
  throttledFor(now: number, model: string): number | undefined {
    if (this.isReady(now, model)) return undefined;
    const waits = this.#keys
      .filter(({ refusedUntil, closure }) => refusedUntil <= now && closure.until <= now)
      .map((key) => cooldownEnd(key, model) - now);
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  /** Number of keys cooling down for this model or, by default, for any. */
  coolingDown(now: number, model?: string): number {
    let count = 0;
    for (const key of this.#keys) {
      const models = model === undefined ? [...key.throttles.keys(), ''] : [model];
      if (models.some((name) => cooldownEnd(key, name) > now)) count++;
    }
    return count;
  }

  /** Number of keys in a cooldown because the upstream rejected them. */
  countRefused(now: number): number {
    return this.#keys.filter(({ refusedUntil }) => refusedUntil > now).length;
  }

  /** Number of keys closed by their vendor. */
  countClosed(now: number): number {
    return this.#keys.filter(({ closure }) => closure.until > now).length;
  }

  /**
   * The vendor closed the key.
   *
   * @returns false if it should cool down instead
   */
  close(value: string, report: ReportedClosure): boolean {
    const key = this.#find(value);
    return key !== undefined && this.#closures?.report(key.closure, report) === true;
  }

  /**
   * The upstream throttled the key for a model.
   *
   * @param until ms, like `now`
   */
  coolDown(value: string, model: string, now: number, until: number): void {
    const key = this.#find(value);
    if (key === undefined) return;
    const longest = Math.max(key.throttles.get(model)?.until ?? 0, until);
    key.throttles.set(model, { at: now, until: longest });
  }

  /**
   * The upstream rejected the key, or it is out of credit.
   *
   * @returns seconds of its cooldown; 0 if it is already cooling down, because rejections of requests in flight do not extend it
   */
  refuse(value: string, now: number): number {
    const key = this.#find(value);
    if (key === undefined || key.refusedUntil > now) return 0;
    const seconds = doubledDelay(refusalCooldownSeconds, key.refusals);
    key.refusals++;
    key.refusedUntil = now + seconds * 1000;
    return seconds;
  }

  /** The upstream accepted the key. */
  accept(value: string): void {
    const key = this.#find(value);
    if (key === undefined) return;
    key.refusals = 0;
    key.refusedUntil = 0;
    if (key.closure.until !== 0) this.#closures?.recordAccepted(key.closure);
  }

  /** Makes every key available. */
  reset(): void {
    for (const key of this.#keys) {
      key.refusedUntil = 0;
      key.refusals = 0;
      // The closure stays on record until the vendor accepts the key.
      if (key.closure.until !== 0) key.closure.until = 1;
      key.throttles.clear();
    }
  }

  #choose(now: number, model: string, session: string | undefined): PooledKey {
    const ready = this.#keys.filter((key) => cooldownEnd(key, model) <= now);
    if (ready.length === 0) return minBy(this.#keys, (key) => [cooldownEnd(key, model)]);
    if (session !== undefined) return pickBySession(ready, ({ value }) => value, session);
    return minBy(ready, (key) => [throttledAt(key, model, now), key.lastUse]);
  }

  #find(value: string): PooledKey | undefined {
    return this.#keys.find((key) => key.value === value);
  }
}

function unknownKey(value: string, closure: KeyClosure = { id: '', until: 0 }): PooledKey {
  return { value, closure, refusedUntil: 0, refusals: 0, throttles: new Map(), lastUse: 0 };
}

function cooldownEnd({ refusedUntil, closure, throttles }: PooledKey, model: string): number {
  return Math.max(refusedUntil, closure.until, throttles.get(model)?.until ?? 0);
}

/** Time of the last throttling; 0 if none, or too long ago to matter. */
function throttledAt({ throttles }: PooledKey, model: string, now: number): number {
  const at = throttles.get(model)?.at ?? 0;
  return now - at < throttleMemoryMs ? at : 0;
}

function minBy<T>(candidates: readonly T[], ranksOf: (candidate: T) => readonly number[]): T {
  return candidates.reduce((best, candidate) => (isBefore(ranksOf(candidate), ranksOf(best)) ? candidate : best));
}

function isBefore(ranks: readonly number[], others: readonly number[]): boolean {
  const index = ranks.findIndex((rank, place) => rank !== others[place]);
  return index >= 0 && (ranks[index] ?? 0) < (others[index] ?? 0);
}
