import { lostTime } from '#core/timing/loop-lag.ts';
import { PatientTimer } from '#core/timing/patient-timer.ts';

/** Ms of backpressure after which an answer's duration measures its client, not its route. */
const heldBackAfter = 200;

export interface AttemptClockOptions {
  /** Seconds until the awaited content must have come, however many bytes come before it. */
  readonly deadline: number;
  /** Seconds without a byte that are allowed at first. */
  readonly silence: number;
  /** Called when the time is up. @param isSilent false when the deadline has passed */
  readonly onLate: (isSilent: boolean) => void;
}

/**
 * The deadline and the idle timeout of an attempt. One timer for both: it is not moved by a byte; when it fires, it looks
 * when the last byte came, and is set again if there is time left. Times are those of performance.now().
 */
export class AttemptClock {
  readonly #onLate: (isSilent: boolean) => void;
  readonly #timer = new PatientTimer(() => this.#look());
  readonly #lostBefore = lostTime();
  #looksAt = Infinity;
  #lastByteAt = performance.now();
  #silence = 0; // ms
  #until: number;
  #pausedSince: number | undefined;
  #heldBack = 0; // ms of pauses that are over

  constructor({ deadline, silence, onLate }: AttemptClockOptions) {
    this.#onLate = onLate;
    this.#until = this.#lastByteAt + deadline * 1000;
    this.allow(silence * 1000);
  }

  /** Ms without a byte that are allowed. */
  get silence(): number {
    return this.#silence;
  }

  /** True when backpressure of the client delayed the answer: its duration is no measure of the route. */
  get wasHeldBack(): boolean {
    return this.#heldBack + this.#pause > heldBackAfter;
  }

  /** True when this process did not run for a part of the time: no duration is a measure of the route. */
  get wasInterrupted(): boolean {
    return lostTime() > this.#lostBefore;
  }

  /** Something has come. */
  heard(): void {
    this.#lastByteAt = performance.now();
  }

  /** Sets the ms without a byte that are allowed from now on. */
  allow(silence: number): void {
    this.#silence = silence;
    const now = performance.now();
    const due = Math.min(now + silence, this.#until);
    if (due < this.#looksAt) this.#lookAfter(due - now);
  }

  /** Brings the deadline forward to so many ms from now. */
  limit(milliseconds: number): void {
    this.#until = Math.min(this.#until, performance.now() + milliseconds);
    this.allow(milliseconds);
  }

  /** The awaited content is there: from now on only the idle timeout counts. */
  arrived(): void {
    this.heard();
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
    this.#pausedSince = undefined;
    this.heard();
  }

  stop(): void {
    this.#timer.stop();
  }

  /** Ms of the current pause. */
  get #pause(): number {
    return this.#pausedSince === undefined ? 0 : performance.now() - this.#pausedSince;
  }

  #lookAfter(milliseconds: number): void {
    this.#looksAt = performance.now() + milliseconds;
    this.#timer.start(milliseconds);
  }

  #look(): void {
    if (this.#pausedSince !== undefined) this.heard();
    const now = performance.now();
    const until = this.#until + this.#pause;
    const left = Math.min(this.#lastByteAt + this.#silence, until) - now;
    if (left > 1) this.#lookAfter(left);
    else this.#onLate(until - now > 1);
  }
}
