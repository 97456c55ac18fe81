import { unauthenticated } from '#core/gateway/facts.ts';
import { parseAddressBlock } from '#core/gateway/http/network.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { startOfMinute, type UnauthenticatedCount } from '#core/gateway/records/unauthenticated.ts';
import { runInBackground } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';

const batchSize = 1_000;
const reminderIntervalMs = 60_000; // between log lines about counts that are not stored
const retryIntervalMs = 3_000;

type MutableCount = { -readonly [Member in keyof UnauthenticatedCount]: UnauthenticatedCount[Member] };

interface UnauthenticatedCountsOptions {
  readonly add: (counts: readonly UnauthenticatedCount[]) => Promise<void>;
  readonly log: Logger;
  readonly now: () => number; // epoch ms
}

/** Once an exchange is unauthenticated, it stays so. */
export function isUnauthenticated(exchange: Exchange): boolean {
  return exchange.find(unauthenticated) === true;
}

/**
 * Counts requests without an account by minute, address block and status, and selects the few that are recorded. A minute is stored when it
 * is over. Until then, its counts are in memory, so killing the process loses one minute.
 */
export class UnauthenticatedCounts {
  readonly #options: UnauthenticatedCountsOptions;
  #minute = 0;
  readonly #currentCounts = new Map<string, MutableCount>();
  #recordedRequests = 0; // in the current minute
  readonly #waitingCounts: UnauthenticatedCount[] = []; // of past minutes, oldest first
  #requestCount = 0;
  #storedRequests = 0;
  #storeRun: Promise<void> | undefined;
  readonly #retryThrottle = new Throttle(retryIntervalMs);
  readonly #reminder = new Throttle(reminderIntervalMs);

  constructor(options: UnauthenticatedCountsOptions) {
    this.#options = options;
  }

  /** @returns true if the request should be recorded */
  count(address: string | undefined, status: number | undefined): boolean {
    this.#endPastMinute();
    const count = this.#getCount(parseAddressBlock(address), status);
    count.requests++;
    this.#requestCount++;
    const { perKind, total } = bounds.unauthenticatedRecords;
    if (count.requests > perKind || this.#recordedRequests >= total) return false;
    this.#recordedRequests++;
    return true;
  }

  /** Counts that cannot be stored wait. */
  store(): void {
    this.#endPastMinute();
    if (this.#storeRun !== undefined || this.#waitingCounts.length === 0 || !this.#retryThrottle.tryPass()) return;
    runInBackground(this.#options.log, 'storing counts of requests without an account', () => this.#storeWaiting());
  }

  async finish(timeoutMs: number): Promise<void> {
    this.#endMinute();
    // A run that is under way may have started before the last minute was over.
    const storing = Promise.resolve(this.#storeRun).then(() => this.#storeWaiting());
    await waitForFirst([storing], timeoutMs);
    const missingRequests = this.#requestCount - this.#storedRequests;
    if (missingRequests > 0)
      this.#options.log.warn(`${missingRequests} requests without an account are missing from the counts`);
  }

  #storeWaiting(): Promise<void> {
    return (this.#storeRun ??= this.#storeAll().finally(() => (this.#storeRun = undefined)));
  }

  async #storeAll(): Promise<void> {
    while (this.#waitingCounts.length > 0) {
      const batch = this.#waitingCounts.splice(0, batchSize);
      try {
        await this.#options.add(batch);
        this.#storedRequests += sumRequests(batch);
        this.#retryThrottle.reset();
      } catch (error) {
        this.#waitingCounts.unshift(...batch);
        this.#dropOldest();
        this.#noteFailure(error);
        return;
      }
    }
  }

  #noteFailure(error: unknown): void {
    if (!this.#reminder.tryPass()) return;
    const reason = error instanceof Error ? error.message.split('\n', 1).join() : String(error);
    this.#options.log.warn(`counts of requests without an account wait for the database: ${reason.slice(0, 200)}`);
  }

  #endPastMinute(): void {
    const minute = startOfMinute(this.#options.now());
    if (minute === this.#minute) return;
    this.#endMinute();
    this.#minute = minute;
  }

  #getCount(block: string | undefined, status: number | undefined): MutableCount {
    const key = createKey(block, status);
    const existing = this.#currentCounts.get(key);
    if (existing !== undefined) return existing;
    if (block !== undefined && this.#currentCounts.size >= bounds.unauthenticatedBlocks)
      return this.#getCount(undefined, status);
    const count = { minute: this.#minute, block, status, requests: 0 };
    this.#currentCounts.set(key, count);
    return count;
  }

  #endMinute(): void {
    const counts = [...this.#currentCounts.values()].toSorted((a, b) => b.requests - a.requests);
    this.#currentCounts.clear();
    this.#recordedRequests = 0;
    // The largest counts stay separate; the others are merged.
    for (const [index, { block, status, requests }] of counts.entries())
      this.#getCount(index < bounds.unauthenticatedCounts ? block : undefined, status).requests += requests;
    this.#waitingCounts.push(...this.#currentCounts.values());
    this.#dropOldest();
    this.#currentCounts.clear();
  }

  #dropOldest(): void {
    this.#waitingCounts.splice(0, Math.max(0, this.#waitingCounts.length - bounds.waitingCounts));
  }
}

function createKey(block: string | undefined, status: number | undefined): string {
  return `${block ?? ''} ${status ?? ''}`;
}

function sumRequests(counts: readonly UnauthenticatedCount[]): number {
  return counts.reduce((sum, { requests }) => sum + requests, 0);
}
