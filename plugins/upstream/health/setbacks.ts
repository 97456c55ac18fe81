import { bounds } from '#core/platform/bounds.ts';
import { doubledDelay } from '#core/platform/timing/backoff.ts';
import type { Requester } from './requester.ts';
import { remember } from './evidence.ts';

const pauseMs = { first: 30_000, longest: 600_000 };
/** Failures of a conversation, or failing conversations of an account, after which the route is tried last. */
const threshold = 2;

interface Setback {
  failures: number;
  pauses: number; // pauses since the route last succeeded
  pausedUntil: number;
  lastFailedAt: number;
}

/**
 * Conversations and accounts for which this route is temporarily tried last, because it failed them. A single conversation never opens the
 * breaker, but should not hit the same dead route first on each turn. An entry is removed once the route serves it. Times are monotonic ms.
 */
export class Setbacks {
  readonly #entries = new Map<string, Setback>();

  /** The route failed a request, or did not respond to it. */
  recordFailure({ account, conversation }: Requester, now: number): void {
    const conversationEntry = this.#touch(`c${conversation}`, now);
    if (now < conversationEntry.pausedUntil) return;
    conversationEntry.failures++;
    const isFirstPause = conversationEntry.pauses === 0;
    if (!startPause(conversationEntry, now)) return;
    const accountEntry = this.#touch(`a${account}`, now);
    if (isFirstPause) accountEntry.failures++;
    if (now >= accountEntry.pausedUntil) startPause(accountEntry, now);
  }

  recordSuccess(requester: Requester): void {
    if (this.#entries.size === 0) return;
    this.#entries.delete(`c${requester.conversation}`);
    this.#entries.delete(`a${requester.account}`);
  }

  /** True while the route is tried last for this requester. */
  isDemoted(requester: Requester, now: number): boolean {
    if (this.#entries.size === 0) return false;
    return this.#isPaused(`a${requester.account}`, now) || this.#isPaused(`c${requester.conversation}`, now);
  }

  clear(): void {
    this.#entries.clear();
  }

  #isPaused(name: string, now: number): boolean {
    return now < (this.#entries.get(name)?.pausedUntil ?? 0);
  }

  /** Makes the entry the latest, and starts a new one if its last failure is old. */
  #touch(name: string, now: number): Setback {
    const existing = this.#entries.get(name);
    const isRecent =
      existing !== undefined && now - Math.max(existing.lastFailedAt, existing.pausedUntil) < pauseMs.longest;
    const entry = isRecent ? existing : { failures: 0, pauses: 0, pausedUntil: 0, lastFailedAt: now };
    entry.lastFailedAt = now;
    remember(this.#entries, name, entry, bounds.setbacks);
    return entry;
  }
}

/**
 * Starts a pause after `threshold` failures, or after any failure once there was a pause.
 *
 * @returns false if none started
 */
function startPause(entry: Setback, now: number): boolean {
  if (entry.pauses === 0 && entry.failures < threshold) return false;
  entry.pausedUntil = now + doubledDelay(pauseMs, entry.pauses);
  entry.pauses++;
  return true;
}
