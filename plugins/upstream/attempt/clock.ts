import { stalledTime } from '#core/platform/timing/loop-lag.ts';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';

/** Backpressure after which a response's duration measures its client, not its route. */
const heldBackAfterMs = 200;

/** Cause of an attempt's timeout: no bytes, bytes without progress, or the deadline. */
export type TimeoutCause = 'silence' | 'no progress' | 'deadline';

interface AttemptClockOptions {
  readonly deadline: number; // seconds until the awaited content, regardless of other data
  readonly silence: number; // seconds without a byte at first; see `allow`
  readonly onTimeout: (cause: TimeoutCause) => void;
}

/**
 * The timeouts of an attempt, with one timer for all. Bytes do not reset it; when it fires, it checks when the last byte
 * and the last progress arrived, and is set again if time is left. Times are those of performance.now(), in ms.
 */
export class AttemptClock {
  readonly #onTimeout: (cause: TimeoutCause) => void;
  readonly #timer = new LagTolerantTimer(() => this.#check());
  readonly #stalledBefore = stalledTime();
  #checksAt = Infinity;
  #lastByteAt = performance.now();
  #silence = 0;
  #lastProgressAt = this.#lastByteAt;
  #progressLimit = Infinity; // without progress
  #deadline: number;
  #limit = Infinity; // ends the attempt even before the deadline
  #pausedSince: number | undefined;
  #heldBack = 0; // in pauses that are over

  constructor({ deadline, silence, onTimeout }: AttemptClockOptions) {
    this.#onTimeout = onTimeout;
    this.#deadline = this.#lastByteAt + deadline * 1000;
    this.allow(silence * 1000);
  }

  /** Ms without a byte that are allowed. */
  get silence(): number {
    return this.#silence;
  }

  /** Ms without progress that are allowed. */
  get progressLimit(): number {
    return this.#progressLimit;
  }

  /** True when backpressure of the client delayed the answer: its duration does not measure the route. */
  get wasHeldBack(): boolean {
    return this.#heldBack + this.#pause > heldBackAfterMs;
  }

  /** True when this process was stalled for part of the time: its durations do not measure the route. */
  get wasInterrupted(): boolean {
    return stalledTime() > this.#stalledBefore;
  }

  /** A byte has arrived. @param time on the clock of performance.now() */
  noteByte(time: number = performance.now()): void {
    this.#lastByteAt = time;
  }

  /** The last byte was a part of the answer. */
  noteProgress(): void {
    this.#lastProgressAt = this.#lastByteAt;
  }

  /** Sets the ms that are allowed from now on without a byte, and without progress. */
  allow(silence: number, progressLimit: number = this.#progressLimit): void {
    this.#silence = silence;
    this.#progressLimit = progressLimit;
    this.#checkEarlier();
  }

  /** Ends the attempt after so many ms at the latest. */
  limit(milliseconds: number): void {
    this.#limit = performance.now() + milliseconds;
    this.#checkEarlier();
  }

  /** Removes that limit. */
  liftLimit(): void {
    this.#limit = Infinity;
    this.#restart();
  }

  /** The awaited content has arrived: no deadline applies from now on. */
  noteContent(): void {
    this.#restart();
    this.#deadline = Infinity;
  }

  /** The upstream is paused for its client: the time does not count. */
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
    const ends = {
      deadline: Math.min(this.#deadline, this.#limit) + this.#pause,
      silence: this.#lastByteAt + this.#silence,
      'no progress': this.#lastProgressAt + this.#progressLimit,
    };
    const left = Math.min(...Object.values(ends)) - now;
    if (left > 1) return this.#checkAfter(left);
    const cause = (Object.keys(ends) as TimeoutCause[]).find((reason) => ends[reason] - now <= 1);
    this.#onTimeout(cause ?? 'deadline');
  }
}
