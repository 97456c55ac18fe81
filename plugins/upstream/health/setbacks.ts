import { bounds } from '#core/platform/bounds.ts';
import { doubledDelay } from '#core/platform/timing/backoff.ts';
import type { Requester } from './requester.ts';
import { remember } from './evidence.ts';

const rangeMs = { first: 30_000, longest: 600_000 };
/** Failures of a conversation, and failing conversations of an account, after which the route comes last for them. */
const threshold = 2;

interface Setback {
  faults: number;
  times: number; // pauses since the route last served
  until: number;
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

  /** Makes the entry the latest; a new one if the last failure is old. */
  #of(name: string, now: number): Setback {
    const known = this.#entries.get(name);
    const isRecent = known !== undefined && now - Math.max(known.at, known.until) < rangeMs.longest;
    const entry = isRecent ? known : { faults: 0, times: 0, until: 0, at: now };
    entry.at = now;
    remember(this.#entries, name, entry, bounds.setbacks);
    return entry;
  }
}

/** Starts a pause after enough failures; after the first pause, one is enough. @returns false if none started */
function begin(entry: Setback, now: number): boolean {
  if (entry.times === 0 && entry.faults < threshold) return false;
  entry.until = now + doubledDelay(rangeMs, entry.times);
  entry.times++;
  return true;
}
