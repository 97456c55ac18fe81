import type { TelemetrySignal } from '#core/config/sections/telemetry-section.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Backoff } from '#core/platform/timing/backoff.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import type { Collector } from './collector.ts';

/** Delays between attempts while the collector accepts no items. */
const retryDelaysMs = { min: 1_000, max: 30_000 };
/** Minimum time between log lines about failed attempts. */
const reminderIntervalMs = 60_000;

/** Sends items of one signal until the collector has accepted or refused them. */
export class SignalSender {
  readonly #collector: Pick<Collector, 'send'>;
  readonly #signal: TelemetrySignal;
  readonly #log: Logger;
  readonly #closing = Promise.withResolvers<void>();
  readonly #backoff = new Backoff(retryDelaysMs);
  readonly #reminder = new Throttle(reminderIntervalMs);
  #isClosing = false;
  #dropped = 0;

  constructor(collector: Pick<Collector, 'send'>, signal: TelemetrySignal, log: Logger) {
    this.#collector = collector;
    this.#signal = signal;
    this.#log = log;
  }

  /** Number of items that the collector did not get. */
  get dropped(): number {
    return this.#dropped;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  countDropped(count: number): void {
    this.#dropped += count;
  }

  /** Stops retries and ends pauses. Each later delivery gets one attempt. */
  close(): void {
    this.#isClosing = true;
    this.#closing.resolve();
  }

  /** Resolves after this time, or when the sender closes. */
  async pause(milliseconds: number): Promise<void> {
    await waitForFirst([this.#closing.promise], milliseconds);
  }

  /**
   * Delivers the items, and retries while the collector is unavailable.
   *
   * @returns false if the sender closed before the collector accepted them; they do not count as dropped then
   */
  async deliver(items: readonly object[]): Promise<boolean> {
    for (;;) {
      const result = await this.#collector.send(this.#signal, items);
      if (result.kind !== 'later') {
        const lostCount = result.kind === 'refused' ? items.length : result.rejected;
        this.#recordResult(lostCount, result.reason);
        return true;
      }
      this.#warn(`the collector takes no ${this.#signal}; retrying: ${result.reason}`);
      const waitMs = Math.max(this.#backoff.next(), result.retryAfterMs);
      if (this.#isClosing) return false;
      await this.pause(waitMs);
    }
  }

  #recordResult(lostCount: number, reason: string): void {
    if (lostCount > 0) {
      this.#dropped += lostCount;
      this.#warn(`the collector refused ${lostCount} ${this.#signal}: ${reason}`);
    } else if (this.#backoff.failures > 0) this.#log.info(`the collector takes ${this.#signal} again`);
    if (this.#backoff.failures > 0) this.#reminder.reset();
    this.#backoff.reset();
  }

  #warn(message: string): void {
    if (this.#reminder.tryPass()) this.#log.warn(message);
  }
}
