import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import { readStalledMs } from '#core/platform/timing/loop-lag.ts';

const minClientDelayMs = 200; // after more backpressure, the duration measures the client rather than the route

/** Why an attempt timed out: no bytes, bytes but no progress, or the deadline. */
export type TimeoutCause = 'silence' | 'no progress' | 'deadline';

interface AttemptClockOptions {
  readonly deadline: number; // seconds until the awaited content, no matter what else arrives
  readonly silence: number; // seconds without a byte, at first; see `setTimeouts`
  readonly onTimeout: (cause: TimeoutCause) => void;
}

/**
 * Timeouts of an attempt, all on one timer. Bytes do not reset the timer. When it fires, it compares the times of the last byte and the
 * last progress with their timeouts, and restarts if neither has run out. Times are `performance.now()` ms.
 */
export class AttemptClock {
  readonly #onTimeout: (cause: TimeoutCause) => void;
  readonly #timer = new LagTolerantTimer(() => this.#checkTimeouts());
  readonly #stalledMsAtStart = readStalledMs();
  #nextCheckAt = Infinity;
  #lastByteAt = performance.now();
  #silenceTimeoutMs = 0;
  #lastProgressAt = this.#lastByteAt;
  #progressTimeoutMs = Infinity;
  #deadlineAt: number;
  #graceEndsAt = Infinity; // see `startGrace`
  #pausedAt: number | undefined;
  #completedPausesMs = 0;

  constructor({ deadline, silence, onTimeout }: AttemptClockOptions) {
    this.#onTimeout = onTimeout;
    this.#deadlineAt = this.#lastByteAt + deadline * 1000;
    this.setTimeouts(silence * 1000);
  }

  get silenceTimeoutMs(): number {
    return this.#silenceTimeoutMs;
  }

  get progressTimeoutMs(): number {
    return this.#progressTimeoutMs;
  }

  /** True if client backpressure delayed the response, so its duration does not measure the route. */
  get wasDelayedByClient(): boolean {
    return this.#completedPausesMs + this.#currentPauseMs > minClientDelayMs;
  }

  /** True if this process stalled during the attempt, so its durations do not measure the route. */
  get wasProcessStalled(): boolean {
    return readStalledMs() > this.#stalledMsAtStart;
  }

  noteByte(time: number = performance.now()): void {
    this.#lastByteAt = time;
  }

  /** Notes that the last byte was content and not just a ping. */
  noteProgress(): void {
    this.#lastProgressAt = this.#lastByteAt;
  }

  setTimeouts(silenceTimeoutMs: number, progressTimeoutMs: number = this.#progressTimeoutMs): void {
    this.#silenceTimeoutMs = silenceTimeoutMs;
    this.#progressTimeoutMs = progressTimeoutMs;
    this.#scheduleEarlierCheck();
  }

  /** Ends the attempt after this time, even before the deadline. */
  startGrace(graceMs: number): void {
    this.#graceEndsAt = performance.now() + graceMs;
    this.#scheduleEarlierCheck();
  }

  cancelGrace(): void {
    this.#graceEndsAt = Infinity;
    this.#restartTimeouts();
  }

  /** Notes that the awaited content has arrived, so the deadline no longer applies. */
  noteContent(): void {
    this.#restartTimeouts();
    this.#deadlineAt = Infinity;
  }

  /** Stops counting time while the upstream is paused for a slow client. */
  pause(): void {
    this.#pausedAt ??= performance.now();
  }

  /** Resumes counting time. The timeouts restart. */
  resume(): void {
    if (this.#pausedAt === undefined) return;
    this.#completedPausesMs += this.#currentPauseMs;
    this.#deadlineAt += this.#currentPauseMs;
    this.#graceEndsAt += this.#currentPauseMs;
    this.#pausedAt = undefined;
    this.#restartTimeouts();
  }

  stop(): void {
    this.#timer.stop();
  }

  #restartTimeouts(): void {
    this.noteByte();
    this.noteProgress();
  }

  get #currentPauseMs(): number {
    return this.#pausedAt === undefined ? 0 : performance.now() - this.#pausedAt;
  }

  #scheduleEarlierCheck(): void {
    const now = performance.now();
    const earliestEnd = Math.min(
      now + this.#silenceTimeoutMs,
      now + this.#progressTimeoutMs,
      this.#deadlineAt,
      this.#graceEndsAt,
    );
    if (earliestEnd < this.#nextCheckAt) this.#scheduleCheck(earliestEnd - now);
  }

  #scheduleCheck(milliseconds: number): void {
    this.#nextCheckAt = performance.now() + milliseconds;
    this.#timer.start(milliseconds);
  }

  #checkTimeouts(): void {
    if (this.#pausedAt !== undefined) this.#restartTimeouts();
    const now = performance.now();
    const endTimes = {
      deadline: Math.min(this.#deadlineAt, this.#graceEndsAt) + this.#currentPauseMs,
      silence: this.#lastByteAt + this.#silenceTimeoutMs,
      'no progress': this.#lastProgressAt + this.#progressTimeoutMs,
    };
    const remainingMs = Math.min(...Object.values(endTimes)) - now;
    if (remainingMs > 1) return this.#scheduleCheck(remainingMs);
    const cause = (Object.keys(endTimes) as TimeoutCause[]).find((reason) => endTimes[reason] - now <= 1);
    this.#onTimeout(cause ?? 'deadline');
  }
}
