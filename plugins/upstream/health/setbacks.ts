import { bounds } from '#core/platform/bounds.ts';
import { exponentialDelay } from '#core/platform/timing/backoff.ts';
import { storeLatest } from './evidence.ts';
import type { Requester } from './requester.ts';

const pauseRangeMs = { min: 30_000, max: 600_000 };
const pauseThreshold = 2; // failures of a conversation, or failing conversations of an account

interface Setback {
  failures: number;
  pauses: number; // since the route last succeeded
  pausedUntil: number;
  lastFailedAt: number;
}

/**
 * Conversations and accounts for which this route is tried last for a while, because it failed them. A single conversation never opens the
 * breaker, but it should not start with the same dead route on each turn. An entry is removed when the route serves its conversation or
 * account. Times are monotonic ms.
 */
export class Setbacks {
  readonly #entries = new Map<string, Setback>();

  recordFailure({ account, conversation }: Requester, now: number): void {
    const conversationEntry = this.#updateEntry(`c${conversation}`, now);
    if (now < conversationEntry.pausedUntil) return;
    conversationEntry.failures++;
    const isFirstPause = conversationEntry.pauses === 0;
    if (!startPause(conversationEntry, now)) return;
    const accountEntry = this.#updateEntry(`a${account}`, now);
    if (isFirstPause) accountEntry.failures++;
    if (now >= accountEntry.pausedUntil) startPause(accountEntry, now);
  }

  recordSuccess(requester: Requester): void {
    if (this.#entries.size === 0) return;
    this.#entries.delete(`c${requester.conversation}`);
    this.#entries.delete(`a${requester.account}`);
  }

  isDemoted(requester: Requester, now: number): boolean {
    if (this.#entries.size === 0) return false;
    return this.#isPaused(`a${requester.account}`, now) || this.#isPaused(`c${requester.conversation}`, now);
  }

  clear(): void {
    this.#entries.clear();
  }

  #isPaused(key: string, now: number): boolean {
    return now < (this.#entries.get(key)?.pausedUntil ?? 0);
  }

  #updateEntry(key: string, now: number): Setback {
    const existing = this.#entries.get(key);
    const isRecent =
      existing !== undefined && now - Math.max(existing.lastFailedAt, existing.pausedUntil) < pauseRangeMs.max;
    const entry = isRecent ? existing : { failures: 0, pauses: 0, pausedUntil: 0, lastFailedAt: now };
    entry.lastFailedAt = now;
    storeLatest(this.#entries, key, entry, bounds.setbacks);
    return entry;
  }
}

/** Starts a pause after `pauseThreshold` failures or, if there has been a pause, after any failure. Returns false if none started. */
function startPause(entry: Setback, now: number): boolean {
  if (entry.pauses === 0 && entry.failures < pauseThreshold) return false;
  entry.pausedUntil = now + exponentialDelay(pauseRangeMs, entry.pauses);
  entry.pauses++;
  return true;
}
