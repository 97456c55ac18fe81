import { inBackground } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import { firstOrTimeout } from '#core/platform/timing/deadline.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { unauthenticated } from '#core/gateway/facts.ts';
import { addressBlockOf } from '#core/gateway/http/network.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { startOfMinute, type UnauthenticatedCount } from '#core/gateway/records/unauthenticated.ts';

const batchSize = 1_000;
/** Ms between log lines about unstored counts, and between attempts to store them. */
const reminderIntervalMs = 60_000;
const retryEvery = 3_000;

type Counting = { -readonly [Member in keyof UnauthenticatedCount]: UnauthenticatedCount[Member] };

interface UnauthenticatedCountsOptions {
  readonly add: (counts: readonly UnauthenticatedCount[]) => Promise<void>;
  readonly log: Logger;
  readonly now: () => number; // epoch ms
}

/** True for a request that is known to belong to no account. It does not become false. */
export function isUnauthenticated(exchange: Exchange): boolean {
  return exchange.find(unauthenticated) === true;
}

/**
 * Counts requests without an account by minute, address block and status, and selects the few of them to record. A minute is stored
 * when it is over. Its counts are in memory until then, so a killed process loses those of one minute.
 */
export class UnauthenticatedCounts {
  readonly #options: UnauthenticatedCountsOptions;
  #minute = 0;
  readonly #current = new Map<string, Counting>();
  #recorded = 0; // in this minute
  readonly #waiting: UnauthenticatedCount[] = []; // of past minutes, oldest first
  #requestCount = 0;
  #stored = 0;
  #storing: Promise<void> | undefined;
  readonly #attempts = new Throttle(retryEvery);
  readonly #reminder = new Throttle(reminderIntervalMs);

  constructor(options: UnauthenticatedCountsOptions) {
    this.#options = options;
  }

  /** @returns true if the request is to be recorded */
  count(address: string | undefined, status: number | undefined): boolean {
    this.#turn();
    const counting = this.#countOf(addressBlockOf(address), status);
    counting.requests++;
    this.#requestCount++;
    const { alike, all } = bounds.unauthenticatedRecords;
    if (counting.requests > alike || this.#recorded >= all) return false;
    this.#recorded++;
    return true;
  }

  /** Starts to store the finished minutes. Counts that cannot be stored wait. */
  store(): void {
    this.#turn();
    if (this.#storing !== undefined || this.#waiting.length === 0 || !this.#attempts.pass()) return;
    inBackground(this.#options.log, 'storing counts of requests without an account', () => this.#storeWaiting());
  }

  /**
   * Stores all counts, including the current minute, or logs how many requests are missing in them.
   *
   * @param deadline ms
   */
  async finish(deadline: number): Promise<void> {
    this.#close();
    // A running store may have begun before the last minute was over.
    const isStored = Promise.resolve(this.#storing).then(() => this.#storeWaiting());
    await firstOrTimeout([isStored], deadline);
    const lost = this.#requestCount - this.#stored;
    if (lost > 0) this.#options.log.warn(`${lost} requests without an account are missing in the counts of them`);
  }

  #storeWaiting(): Promise<void> {
    return (this.#storing ??= this.#storeAll().finally(() => {
      this.#storing = undefined;
    }));
  }

  async #storeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchSize);
      try {
        await this.#options.add(batch);
        this.#stored += sumOf(batch);
        this.#attempts.reset();
      } catch (error) {
        this.#waiting.unshift(...batch);
        this.#dropOldest();
        this.#noteFailure(error);
        return;
      }
    }
  }

  #noteFailure(error: unknown): void {
    if (!this.#reminder.pass()) return;
    const reason = error instanceof Error ? error.message.split('\n', 1).join() : String(error);
    this.#options.log.warn(`counts of requests without an account wait for the database: ${reason.slice(0, 200)}`);
  }

  #turn(): void {
    const minute = startOfMinute(this.#options.now());
    if (minute === this.#minute) return;
    this.#close();
    this.#minute = minute;
  }

  #countOf(block: string | undefined, status: number | undefined): Counting {
    const key = keyOf(block, status);
    const known = this.#current.get(key);
    if (known !== undefined) return known;
    if (block !== undefined && this.#current.size >= bounds.unauthenticatedBlocks)
      return this.#countOf(undefined, status);
    const counting = { minute: this.#minute, block, status, requests: 0 };
    this.#current.set(key, counting);
    return counting;
  }

  /** Ends the minute: its largest counts stay separate, the others are merged. */
  #close(): void {
    const counts = [...this.#current.values()].toSorted((a, b) => b.requests - a.requests);
    this.#current.clear();
    this.#recorded = 0;
    for (const [index, { block, status, requests }] of counts.entries())
      this.#countOf(index < bounds.unauthenticatedCounts ? block : undefined, status).requests += requests;
    this.#waiting.push(...this.#current.values());
    this.#dropOldest();
    this.#current.clear();
  }

  #dropOldest(): void {
    this.#waiting.splice(0, Math.max(0, this.#waiting.length - bounds.waitingCounts));
  }
}

function keyOf(block: string | undefined, status: number | undefined): string {
  return `${block ?? ''} ${status ?? ''}`;
}

function sumOf(counts: readonly UnauthenticatedCount[]): number {
  return counts.reduce((sum, { requests }) => sum + requests, 0);
}
