const toleratedLatenessMs = 50; // if a timer fires later, the event loop was blocked or the machine suspended
const granularityMs = 1; // Node.js may fire a timer up to a millisecond early

/**
 * Times out a peer. When the timer fires late, because the event loop was blocked or the machine was suspended, data that
 * arrived in the meantime is still unread, so the timer is extended once by its delay.
 */
export class LagTolerantTimer {
  readonly #onTimeout: () => void;
  #timer: NodeJS.Timeout | undefined;
  #durationMs = 0;
  #endsAt = 0; // on the clock of performance.now()
  #isExtended = false;
  #isDeadlineMoved = false; // by `restart`, while the timer was running
  #isStopped = true;

  constructor(onTimeout: () => void) {
    this.#onTimeout = onTimeout;
  }

  start(durationMs: number): void {
    this.stop();
    this.#isStopped = false;
    this.#isExtended = false;
    this.#durationMs = durationMs;
    this.#endsAt = performance.now() + durationMs;
    this.#fireAfter(durationMs);
  }

  /**
   * Restarts with the same duration, even after it fired; does nothing after `stop`. Cheap enough to call for every chunk, because the
   * timer itself is not reset.
   */
  restart(now: number = performance.now()): void {
    if (this.#isStopped) return;
    this.#isExtended = false;
    this.#endsAt = now + this.#durationMs;
    if (this.#timer === undefined) this.#fireAfter(this.#durationMs);
    else this.#isDeadlineMoved = true;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #fireAfter(delayMs: number): void {
    this.#isDeadlineMoved = false;
    this.#timer = setTimeout(() => this.#fire(), delayMs);
  }

  #fire(): void {
    this.#timer = undefined;
    const latenessMs = performance.now() - this.#endsAt; // negative if early
    if (this.#isDeadlineMoved && latenessMs < -granularityMs) return this.#fireAfter(-latenessMs);
    if (latenessMs <= toleratedLatenessMs || this.#isExtended) return this.#onTimeout();
    const extensionMs = Math.min(latenessMs, this.#durationMs);
    this.#isExtended = true;
    this.#endsAt += latenessMs + extensionMs;
    this.#fireAfter(extensionMs);
  }
}
