import { stalledTime } from '#core/platform/timing/loop-lag.ts';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';

/** Time under backpressure after which the duration of a response measures its client, not its route. */
const heldBackAfterMs = 200;

/** Cause of an attempt's timeout: no bytes, bytes without progress, or the deadline. */
export type TimeoutCause = 'silence' | 'no progress' | 'deadline';

interface AttemptClockOptions {
  readonly deadline: number; // seconds until the awaited content, regardless of other data
  readonly silence: number; // seconds without a byte at first; see `allow`
  readonly onTimeout: (cause: TimeoutCause) => void;
}

/**
 * Timeouts of an attempt, with one timer for all. Bytes do not reset it: when it fires, it checks when the last byte and the last progress
 * arrived, and restarts if time is left. Times are `performance.now()` ms.
 */
export class AttemptClock {
  readonly #onTimeout: (cause: TimeoutCause) => void;
  readonly #timer = new LagTolerantTimer(() => this.#check());
  readonly #stalledBefore = stalledTime();
  #checksAt = Infinity;
  #lastByteAt = performance.now();
  #silence = 0;
  #lastProgressAt = this.#lastByteAt;
  #progressLimit = Infinity; // ms without progress
  #deadline: number;
  #limit = Infinity; // see `limit`
  #pausedSince: number | undefined;
  #heldBack = 0; // ms in completed pauses

  constructor({ deadline, silence, onTimeout }: AttemptClockOptions) {
    this.#onTimeout = onTimeout;
    this.#deadline = this.#lastByteAt + deadline * 1000;
    this.allow(silence * 1000);
  }

  /** Allowed ms without a byte. */
  get silence(): number {
    return this.#silence;
  }

  /** Allowed ms without progress. */
  get progressLimit(): number {
    return this.#progressLimit;
  }

  /** True if client backpressure delayed the answer: its duration does not measure the route. */
  get wasHeldBack(): boolean {
    return this.#heldBack + this.#pause > heldBackAfterMs;
  }

  /** True if this process was stalled meanwhile: its durations do not measure the route. */
  get wasInterrupted(): boolean {
    return stalledTime() > this.#stalledBefore;
  }

  /**
   * A byte arrived.
   *
   * @param time `performance.now()` ms
   */
  noteByte(time: number = performance.now()): void {
    this.#lastByteAt = time;
  }

  /** The last byte was part of the answer, and not only a ping. */
  noteProgress(): void {
    this.#lastProgressAt = this.#lastByteAt;
  }

  /** Sets the allowed ms without a byte and without progress. */
  allow(silence: number, progressLimit: number = this.#progressLimit): void {
    this.#silence = silence;
    this.#progressLimit = progressLimit;
    this.#checkEarlier();
  }

  /** Ends the attempt within these ms, even before the deadline. */
  limit(milliseconds: number): void {
    this.#limit = performance.now() + milliseconds;
    this.#checkEarlier();
  }

  /** Removes the limit set by `limit`. */
  liftLimit(): void {
    this.#limit = Infinity;
    this.#restart();
  }

  /** The awaited content arrived: the deadline no longer applies. */
  noteContent(): void {
    this.#restart();
    this.#deadline = Infinity;
  }

  /** The upstream is paused for a slow client: the time is not counted. */
  pause(): void {
    this.#pausedSince ??= performance.now();
  }

  resume(): void {
    if (this.#pausedSince === undefined) return;
    this.#heldBack += this.#pause;
    this.#deadline += this.#pause;
    this.#limit += this.#pause;
    this.#pausedSince = undefined;
    this.#restart();
  }

  stop(): void {
    this.#timer.stop();
  }

  #restart(): void {
    this.noteByte();
    this.noteProgress();
  }

  get #pause(): number {
    return this.#pausedSince === undefined ? 0 : performance.now() - this.#pausedSince;
  }

  #checkEarlier(): void {
    const now = performance.now();
    const due = Math.min(now + this.#silence, now + this.#progressLimit, this.#deadline, this.#limit);
    if (due < this.#checksAt) this.#checkAfter(due - now);
  }

  #checkAfter(milliseconds: number): void {
    this.#checksAt = performance.now() + milliseconds;
    this.#timer.start(milliseconds);
  }

  #check(): void {
    if (this.#pausedSince !== undefined) this.#restart();
    const now = performance.now();
    const timeouts = {
      deadline: Math.min(this.#deadline, this.#limit) + this.#pause,
      silence: this.#lastByteAt + this.#silence,
      'no progress': this.#lastProgressAt + this.#progressLimit,
    };
    const left = Math.min(...Object.values(timeouts)) - now;
    if (left > 1) return this.#checkAfter(left);
    const cause = (Object.keys(timeouts) as TimeoutCause[]).find((reason) => timeouts[reason] - now <= 1);
    this.#onTimeout(cause ?? 'deadline');
  }
}
