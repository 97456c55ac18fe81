import type { TelemetrySignal } from '#core/config/sections/telemetry-section.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Backoff } from '#core/platform/timing/backoff.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import type { Collector } from './collector.ts';

const retryDelaysMs = { min: 1_000, max: 30_000 };
const reminderIntervalMs = 60_000;

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

  get dropped(): number {
    return this.#dropped;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  countDropped(count: number): void {
    this.#dropped += count;
  }

  /** From now on, each delivery gets only one attempt. */
  close(): void {
    this.#isClosing = true;
    this.#closing.resolve();
  }

  async pause(milliseconds: number): Promise<void> {
    await waitForFirst([this.#closing.promise], milliseconds);
  }

  /** @returns false if the sender was closed before the collector accepted the items; they then do not count as dropped */
  async deliver(items: readonly object[]): Promise<boolean> {
    for (;;) {
      const result = await this.#collector.send(this.#signal, items);
      if (result.kind !== 'later') {
        const lostCount = result.kind === 'refused' ? items.length : result.rejected;
        this.#recordResult(lostCount, result.reason);
        return true;
      }
      this.#warn(`the collector does not accept ${this.#signal}; retrying: ${result.reason}`);
      const waitMs = Math.max(this.#backoff.next(), result.retryAfterMs);
      if (this.#isClosing) return false;
      await this.pause(waitMs);
    }
  }

  #recordResult(lostCount: number, reason: string): void {
    if (lostCount > 0) {
      this.#dropped += lostCount;
      this.#warn(`the collector rejected ${lostCount} ${this.#signal}: ${reason}`);
    } else if (this.#backoff.failures > 0) this.#log.info(`the collector accepts ${this.#signal} again`);
    if (this.#backoff.failures > 0) this.#reminder.reset();
    this.#backoff.reset();
  }

  #warn(message: string): void {
    if (this.#reminder.tryPass()) this.#log.warn(message);
  }
}
