import { stalledTime } from '#core/platform/timing/loop-lag.ts';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';

/** Ms of backpressure after which the duration of a response measures its client, not its route. */
const heldBackAfter = 200;

/** Why an attempt timed out: no bytes, bytes without progress, or the deadline. */
export type TimeoutCause = 'silence' | 'no progress' | 'deadline';

export interface AttemptClockOptions {
  /** Seconds until the awaited content must have come, whatever comes before it. */
  readonly deadline: number;
  /** Seconds without a byte that are allowed at first. */
  readonly silence: number;
  readonly onTimeout: (cause: TimeoutCause) => void;
}

/**
 * The timeouts of an attempt, with one timer for all. Bytes do not reset it; when it fires, it checks when the last byte
 * and the last progress arrived, and is set again if time is left. Times are those of performance.now(), in ms.
 */
export class AttemptClock {
  readonly #onTimeout: (cause: TimeoutCause) => void;
  readonly #timer = new LagTolerantTimer(() => this.#look());
  readonly #stalledBefore = stalledTime();
  #looksAt = Infinity;
  #lastByteAt = performance.now();
  #silence = 0;
  #lastProgressAt = this.#lastByteAt;
  #progressLimit = Infinity; // without progress
  #until: number; // the deadline
  #grace = Infinity; // until then, whatever the deadline is
  #pausedSince: number | undefined;
  #heldBack = 0; // in pauses that are over

  constructor({ deadline, silence, onTimeout }: AttemptClockOptions) {
    this.#onTimeout = onTimeout;
    this.#until = this.#lastByteAt + deadline * 1000;
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

  /** True when backpressure of the client delayed the answer: its duration is no measure of the route. */
  get wasHeldBack(): boolean {
    return this.#heldBack + this.#pause > heldBackAfter;
  }

  /** True when this process did not run for a part of the time: no duration is a measure of the route. */
  get wasInterrupted(): boolean {
    return stalledTime() > this.#stalledBefore;
  }

  /** A byte has come. @param at on the clock of performance.now() */
  heard(at: number = performance.now()): void {
    this.#lastByteAt = at;
  }

  /** The last byte was a part of the answer. */
  progressed(): void {
    this.#lastProgressAt = this.#lastByteAt;
  }

  /** Sets the ms that are allowed from now on without a byte, and without progress. */
  allow(silence: number, progressLimit: number = this.#progressLimit): void {
    this.#silence = silence;
    this.#progressLimit = progressLimit;
    this.#lookEarlier();
  }

  /** Ends the attempt after so many ms at the latest. */
  limit(milliseconds: number): void {
    this.#grace = performance.now() + milliseconds;
    this.#lookEarlier();
  }

  /** Takes the limit back. */
  unlimit(): void {
    this.#grace = Infinity;
    this.#begin();
  }

  /** The awaited content is there: no deadline from now on. */
  arrived(): void {
    this.#begin();
    this.#until = Infinity;
  }

  /** The upstream is paused for its client: the time does not count. */
  pause(): void {
    this.#pausedSince ??= performance.now();
  }

  resume(): void {
    if (this.#pausedSince === undefined) return;
    this.#heldBack += this.#pause;
    this.#until += this.#pause;
    this.#grace += this.#pause;
    this.#pausedSince = undefined;
    this.#begin();
  }

  stop(): void {
    this.#timer.stop();
  }

  /** The time without a byte and without progress begins now. */
  #begin(): void {
    this.heard();
    this.progressed();
  }

  /** Ms of the current pause. */
  get #pause(): number {
    return this.#pausedSince === undefined ? 0 : performance.now() - this.#pausedSince;
  }

  #lookEarlier(): void {
    const now = performance.now();
    const due = Math.min(now + this.#silence, now + this.#progressLimit, this.#until, this.#grace);
    if (due < this.#looksAt) this.#lookAfter(due - now);
  }

  #lookAfter(milliseconds: number): void {
    this.#looksAt = performance.now() + milliseconds;
    this.#timer.start(milliseconds);
  }

  #look(): void {
    if (this.#pausedSince !== undefined) this.#begin();
    const now = performance.now();
    const ends = {
      deadline: Math.min(this.#until, this.#grace) + this.#pause,
      silence: this.#lastByteAt + this.#silence,
      'no progress': this.#lastProgressAt + this.#progressLimit,
    };
    const left = Math.min(...Object.values(ends)) - now;
    if (left > 1) return this.#lookAfter(left);
    const cause = (Object.keys(ends) as TimeoutCause[]).find((reason) => ends[reason] - now <= 1);
    this.#onTimeout(cause ?? 'deadline');
  }
}
