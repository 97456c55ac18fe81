/** A timer that fires later than this means that the event loop was blocked or the machine suspended. */
const toleratedLatenessMs = 50;
/** Node.js may fire a timer up to a millisecond early. */
const granularityMs = 1;

/**
 * Times out a peer. When the timer fires late, because the event loop was blocked or the machine was suspended, data that
 * arrived in the meantime is still unread, so the timer is extended once by its delay.
 */
export class LagTolerantTimer {
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;
  #duration = 0; // ms
  #endsAt = 0; // on the clock of performance.now()
  #isExtended = false;
  #isDeadlineMoved = false; // while the timer was running
  #isStopped = true;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  start(milliseconds: number): void {
    this.stop();
    this.#isStopped = false;
    this.#isExtended = false;
    this.#duration = milliseconds;
    this.#endsAt = performance.now() + milliseconds;
    this.#fireAfter(milliseconds);
  }

  /**
   * Restarts with the same duration, even after it fired; does nothing after `stop`. Cheap enough to call for every chunk, because the
   * timer itself is not reset.
   */
  restart(now: number = performance.now()): void {
    if (this.#isStopped) return;
    this.#isExtended = false;
    this.#endsAt = now + this.#duration;
    if (this.#timer === undefined) this.#fireAfter(this.#duration);
    else this.#isDeadlineMoved = true;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #fireAfter(milliseconds: number): void {
    this.#isDeadlineMoved = false;
    this.#timer = setTimeout(() => this.#fire(), milliseconds);
  }

  #fire(): void {
    this.#timer = undefined;
    const latenessMs = performance.now() - this.#endsAt; // negative if early
    if (this.#isDeadlineMoved && latenessMs < -granularityMs) return this.#fireAfter(-latenessMs);
    if (latenessMs <= toleratedLatenessMs || this.#isExtended) return this.#onEnd();
    const extension = Math.min(latenessMs, this.#duration);
    this.#isExtended = true;
    this.#endsAt += latenessMs + extension;
    this.#fireAfter(extension);
  }
}
