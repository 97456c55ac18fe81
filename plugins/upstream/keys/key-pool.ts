import type { Upstream } from '#core/catalog/catalog.ts';
import { doubledDelay } from '#core/timing/backoff.ts';
import { pickBySession } from '../routing/route-order.ts';

/** What is known of an API key of an upstream. Times are epoch ms. */
interface PooledKey {
  readonly value: string;
  /** The upstream did not accept it, or it is spent: left alone until then. */
  refusedUntil: number;
  /** Refusals one after the other. */
  refusals: number;
  /** By the model there: vendors limit each one for itself. */
  readonly throttles: Map<string, Throttle>;
  /** Which use of the pool was its last. */
  lastUse: number;
}

interface Throttle {
  readonly at: number;
  readonly until: number;
}

/** What is known of keys, by the key. */
export type KnownKeys = Map<string, PooledKey>;

/** Seconds for which a key that the upstream did not accept is not used. */
const refusalCooldown = { first: 60, longest: 3_600 };
/** Ms after which it does not matter any more that a key was throttled. */
const throttleMemory = 3_600_000;

/**
 * The API keys of one upstream. A session keeps to its key, because vendors cache prompts by account; others take the
 * keys that were never throttled, or longest ago, and among these each in turn. A key that was throttled rests for that
 * model, one that was refused for all.
 */
export class KeyPool {
  readonly #keys: readonly PooledKey[];
  #uses = 0;

  /** @param known what a pool before a reload has learned; goes on to be what this one knows */
  constructor({ apiKeys }: Upstream, known: KnownKeys = new Map()) {
    // An upstream without keys is asked without one: a local server, for instance.
    const values = apiKeys.length > 0 ? [...new Set(apiKeys)] : [''];
    this.#keys = values.map((value) => known.get(value) ?? unknownKey(value));
    known.clear();
    for (const key of this.#keys) known.set(key.value, key);
    this.#uses = Math.max(...this.#keys.map(({ lastUse }) => lastUse));
  }

  get size(): number {
    return this.#keys.length;
  }

  /** Which of the keys it is, from 1: what people may be told of a key. */
  positionOf(value: string): number {
    return this.#keys.findIndex((key) => key.value === value) + 1;
  }

  /** A key that does not rest; the one that is rested first when all do. @param session what belongs together */
  pick(now: number, model: string, session?: string): string {
    const key = this.#choose(now, model, session);
    key.lastUse = ++this.#uses;
    return key.value;
  }

  /** True when some key may be used now. */
  isReady(now: number, model: string): boolean {
    return this.#keys.some((key) => cooldownEnd(key, model) <= now);
  }

  /**
   * Ms until the first key that was throttled may be used again. Undefined while one may be used now, and when no key was
   * throttled that could serve: one that was refused may be accepted at any time, as soon as a bill is paid.
   */
  throttledFor(now: number, model: string): number | undefined {
    if (this.isReady(now, model)) return undefined;
    const waits = this.#keys
      .filter(({ refusedUntil }) => refusedUntil <= now)
      .map((key) => cooldownEnd(key, model) - now);
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  /** How many may not be used now. @param model left out for: not for every model */
  coolingDown(now: number, model?: string): number {
    const models = (key: PooledKey) => (model === undefined ? [...key.throttles.keys(), ''] : [model]);
    return this.#keys.filter((key) => models(key).some((one) => cooldownEnd(key, one) > now)).length;
  }

  /** The upstream wants it used less for a model. @param until epoch ms */
  coolDown(value: string, model: string, now: number, until: number): void {
    const key = this.#find(value);
    if (key === undefined) return;
    const longest = Math.max(key.throttles.get(model)?.until ?? 0, until);
    key.throttles.set(model, { at: now, until: longest });
  }

  /**
   * The upstream did not accept it, or it is spent.
   *
   * @returns seconds for which it is left alone; 0 when it rests already, for requests that were under way
   */
  refuse(value: string, now: number): number {
    const key = this.#find(value);
    if (key === undefined || key.refusedUntil > now) return 0;
    const seconds = doubledDelay(refusalCooldown, key.refusals);
    key.refusals++;
    key.refusedUntil = now + seconds * 1000;
    return seconds;
  }

  /** The upstream has accepted it. */
  accept(value: string): void {
    const key = this.#find(value);
    if (key === undefined) return;
    key.refusals = 0;
    key.refusedUntil = 0;
  }

  /** Every key may be used again at once. */
  reset(): void {
    for (const key of this.#keys) {
      key.refusedUntil = 0;
      key.refusals = 0;
      key.throttles.clear();
    }
  }

  #choose(now: number, model: string, session: string | undefined): PooledKey {
    const ready = this.#keys.filter((key) => cooldownEnd(key, model) <= now);
    if (ready.length === 0) return least(this.#keys, (key) => [cooldownEnd(key, model)]);
    if (session !== undefined) return pickBySession(ready, ({ value }) => value, session);
    return least(ready, (key) => [throttledAt(key, model, now), key.lastUse]);
  }

  #find(value: string): PooledKey | undefined {
    return this.#keys.find((key) => key.value === value);
  }
}

function unknownKey(value: string): PooledKey {
  return { value, refusedUntil: 0, refusals: 0, throttles: new Map(), lastUse: 0 };
}

/** Until when a key is left alone for a model. */
function cooldownEnd({ refusedUntil, throttles }: PooledKey, model: string): number {
  return Math.max(refusedUntil, throttles.get(model)?.until ?? 0);
}

/** When it was throttled last, as far as that matters; 0 for never. */
function throttledAt({ throttles }: PooledKey, model: string, now: number): number {
  const at = throttles.get(model)?.at ?? 0;
  return now - at < throttleMemory ? at : 0;
}

/** The first of those that come first by these numbers, the earlier ones counting more. */
function least<T>(candidates: readonly T[], ranksOf: (candidate: T) => readonly number[]): T {
  return candidates.reduce((best, one) => (isBefore(ranksOf(one), ranksOf(best)) ? one : best));
}

function isBefore(ranks: readonly number[], others: readonly number[]): boolean {
  const index = ranks.findIndex((rank, place) => rank !== others[place]);
  return index >= 0 && (ranks[index] ?? 0) < (others[index] ?? 0);
}
