/** Ms for which a client may hold an answer back before its pace is the client's and no more the route's. */
const moment = 200;

export interface AttemptClockOptions {
  /** Seconds until what is waited for has to be there, however many bytes come before it. */
  readonly deadline: number;
  /** Seconds of silence that are allowed at first. */
  readonly silence: number;
  /** Called once time is up. @param isSilent false when it is the deadline that has passed */
  readonly onLate: (isSilent: boolean) => void;
}

/**
 * How long an attempt may take and be silent. One timer, which looks when the last byte came: no byte moves it, and one
 * that is due too early finds that there is time left. Times are those of performance.now().
 */
export class AttemptClock {
  readonly #onLate: (isSilent: boolean) => void;
  #timer: NodeJS.Timeout | undefined;
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

  /** Ms of silence that are allowed. */
  get silence(): number {
    return this.#silence;
  }

  /** True when the answer had to wait for its client: how long it took says nothing about the route. */
  get wasHeldBack(): boolean {
    const current = this.#pausedSince === undefined ? 0 : performance.now() - this.#pausedSince;
    return this.#heldBack + current > moment;
  }

  /** Something has come that ends the silence. */
  heard(): void {
    this.#lastByteAt = performance.now();
  }

  /** From now on this much silence is allowed, in ms. */
  allow(silence: number): void {
    this.#silence = silence;
    const now = performance.now();
    const due = Math.min(now + silence, this.#until);
    if (due < this.#looksAt) this.#lookAfter(due - now);
  }

  /** All of it has to be there within these ms, if it has not to be sooner. */
  limit(milliseconds: number): void {
    this.#until = Math.min(this.#until, performance.now() + milliseconds);
    this.allow(milliseconds);
  }

  /** What was waited for is there: only silence counts from now on. */
  arrived(): void {
    this.heard();
    this.#until = Infinity;
  }

  /** The answer waits for its client: that is no silence of the upstream. */
  pause(): void {
    this.#pausedSince ??= performance.now();
  }

  resume(): void {
    if (this.#pausedSince === undefined) return;
    this.#heldBack += performance.now() - this.#pausedSince;
    this.#pausedSince = undefined;
    this.heard();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #lookAfter(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#looksAt = performance.now() + milliseconds;
    this.#timer = setTimeout(() => this.#look(), milliseconds);
  }

  #look(): void {
    if (this.#pausedSince !== undefined) this.heard();
    const now = performance.now();
    const left = Math.min(this.#lastByteAt + this.#silence, this.#until) - now;
    if (left > 1) this.#lookAfter(left);
    else this.#onLate(this.#until - now > 1);
  }
}
