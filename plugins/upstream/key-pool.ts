import type { Upstream } from '#core/catalog.ts';
import { pickBySession } from './choice.ts';

/** An API key of an upstream and when it may be used again. */
interface PooledKey {
  readonly value: string;
  restsUntil: number; // epoch ms
  /** Refusals one after the other. */
  refusals: number;
}

/** Seconds for which a key that the upstream did not accept is left alone; twice as long each time. */
const refusedKeyRest = 60;
const longestRest = 3_600;

/**
 * The API keys of one upstream. A session keeps to its key, because vendors cache prompts by account; others take the
 * keys in turn. A key that was throttled or refused rests. Outlives reloads, so that what was learned about a key is
 * not forgotten by them.
 */
export class KeyPool {
  readonly #keys: PooledKey[];
  #next = 0;

  constructor(upstream: Upstream) {
    // An upstream without keys is asked without one: a local server, for instance.
    const values = upstream.apiKeys.length > 0 ? upstream.apiKeys : [''];
    this.#keys = values.map((value) => ({ value, restsUntil: 0, refusals: 0 }));
  }

  get size(): number {
    return this.#keys.length;
  }

  /** A key that does not rest; the one that is rested first when all do. @param session what belongs together */
  pick(now: number, session?: string): string {
    const ready = this.#keys.filter(({ restsUntil }) => restsUntil <= now);
    if (ready.length === 0) {
      return this.#keys.reduce((first, key) => (key.restsUntil < first.restsUntil ? key : first)).value;
    }
    if (session !== undefined) return pickBySession(ready, ({ value }) => value, session).value;
    return this.#inTurn(now);
  }

  /** True when some key may be used now. */
  isReady(now: number): boolean {
    return this.#keys.some(({ restsUntil }) => restsUntil <= now);
  }

  /** How many may not be used now. */
  resting(now: number): number {
    return this.#keys.filter(({ restsUntil }) => restsUntil > now).length;
  }

  /** The upstream wants it used less. @param until epoch ms */
  rest(value: string, until: number): void {
    const key = this.#find(value);
    if (key !== undefined) key.restsUntil = Math.max(key.restsUntil, until);
  }

  /** The upstream did not accept it, or it is spent. @returns seconds for which it is left alone */
  refuse(value: string, now: number): number {
    const key = this.#find(value);
    if (key === undefined) return 0;
    const seconds = Math.min(longestRest, refusedKeyRest * 2 ** key.refusals);
    key.refusals++;
    key.restsUntil = Math.max(key.restsUntil, now + seconds * 1000);
    return seconds;
  }

  /** The upstream has accepted it. */
  accept(value: string): void {
    const key = this.#find(value);
    if (key !== undefined) key.refusals = 0;
  }

  /** Every key may be used again at once. */
  wake(): void {
    for (const key of this.#keys) {
      key.restsUntil = 0;
      key.refusals = 0;
    }
  }

  #inTurn(now: number): string {
    for (let turn = 0; turn < this.#keys.length; turn++) {
      const key = this.#keys[(this.#next + turn) % this.#keys.length] as PooledKey;
      if (key.restsUntil > now) continue;
      this.#next = (this.#next + turn + 1) % this.#keys.length;
      return key.value;
    }
    throw new Error('a key was ready and is not any more');
  }

  #find(value: string): PooledKey | undefined {
    return this.#keys.find((key) => key.value === value);
  }
}
