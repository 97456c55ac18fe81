import { bounds } from '#core/platform/bounds.ts';
import { doubledDelay } from '#core/platform/timing/backoff.ts';
import type { Requester } from './requester.ts';
import { remember } from './evidence.ts';

/** Ms for which the route comes last. */
const range = { first: 30_000, longest: 600_000 };
/** Failures of the route in a conversation, and conversations of an account with so many, after which it comes last for them. */
const enough = 2;

interface Setback {
  faults: number;
  /** Pauses since it was last served. */
  times: number;
  until: number;
  /** When it was failed last. */
  at: number;
}

/**
 * Conversations and accounts that a route has failed, for which it comes after the other routes of a model for a while. One of them
 * opens no breaker, however often it is failed, but need not try the same dead route first at each turn. An entry ends when the route
 * has served it. Times are ms of a monotonic clock.
 */
export class Setbacks {
  readonly #entries = new Map<string, Setback>();

  /** The route has failed a request, or has not responded to it. */
  failed({ account, conversation }: Requester, now: number): void {
    const own = this.#of(`c${conversation}`, now);
    if (now < own.until) return;
    own.faults++;
    const isFirst = own.times === 0;
    if (!begin(own, now)) return;
    const shared = this.#of(`a${account}`, now);
    if (isFirst) shared.faults++;
    if (now >= shared.until) begin(shared, now);
  }

  /** The route has served a request. */
  served(requester: Requester): void {
    if (this.#entries.size === 0) return;
    this.#entries.delete(`c${requester.conversation}`);
    this.#entries.delete(`a${requester.account}`);
  }

  /** True while the route comes last for a request. */
  has(requester: Requester, now: number): boolean {
    if (this.#entries.size === 0) return false;
    return this.#isIn(`a${requester.account}`, now) || this.#isIn(`c${requester.conversation}`, now);
  }

  clear(): void {
    this.#entries.clear();
  }

  #isIn(name: string, now: number): boolean {
    return now < (this.#entries.get(name)?.until ?? 0);
  }

  /** The entry as the latest; a new one where the last failure was long ago. */
  #of(name: string, now: number): Setback {
    const known = this.#entries.get(name);
    const isRecent = known !== undefined && now - Math.max(known.at, known.until) < range.longest;
    const entry = isRecent ? known : { faults: 0, times: 0, until: 0, at: now };
    entry.at = now;
    remember(this.#entries, name, entry, bounds.setbacks);
    return entry;
  }
}

/** Begins a pause after enough failures; after the first pause, one is. @returns false when it did not */
function begin(entry: Setback, now: number): boolean {
  if (entry.times === 0 && entry.faults < enough) return false;
  entry.until = now + doubledDelay(range, entry.times);
  entry.times++;
  return true;
}
