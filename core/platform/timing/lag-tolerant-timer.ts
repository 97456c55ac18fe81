/** A longer delay of a timer means that the event loop was blocked or the machine suspended. */
const toleratedMs = 50;

/**
 * A timer for timeouts of peers. When it fires late, because the event loop was blocked or the machine was suspended, data that
 * arrived in the meantime is still unread, so the timer is extended once by its delay.
 */
export class LagTolerantTimer {
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;
  #duration = 0; // ms
  #endsAt = 0; // on the clock of performance.now()
  #isExtended = false;
  #isRestarted = false; // while its timer was running
  #isStopped = true;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Starts or restarts the timer. */
  start(milliseconds: number): void {
    this.stop();
    this.#isStopped = false;
    this.#isExtended = false;
    this.#duration = milliseconds;
    this.#endsAt = performance.now() + milliseconds;
    this.#fireAfter(milliseconds);
  }

  /**
   * Restarts the same duration, also after it ended, but not after `stop`. Cheap enough to call for every chunk, because the
   * timer itself is not reset.
   */
  restart(now: number = performance.now()): void {
    if (this.#isStopped) return;
    this.#isExtended = false;
    this.#endsAt = now + this.#duration;
    if (this.#timer === undefined) this.#fireAfter(this.#duration);
    else this.#isRestarted = true;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #fireAfter(milliseconds: number): void {
    this.#isRestarted = false;
    this.#timer = setTimeout(() => this.#fire(), milliseconds);
  }

  #fire(): void {
    this.#timer = undefined;
    const late = performance.now() - this.#endsAt;
    if (this.#isRestarted && late < -1) return this.#fireAfter(-late);
    if (late <= toleratedMs || this.#isExtended) return this.#onEnd();
    const extension = Math.min(late, this.#duration);
    this.#isExtended = true;
    this.#endsAt += late + extension;
    this.#fireAfter(extension);
  }
}
