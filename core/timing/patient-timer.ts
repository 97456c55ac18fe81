/** Ms by which a timer may be late before the loop counts as blocked, or the machine as stopped. */
const punctual = 50;

/**
 * A timer whose end is held against somebody else. When it fires late, because the event loop was blocked or the machine was
 * stopped, what has arrived meanwhile is still unread: as much time as it was late is given once more.
 */
export class PatientTimer {
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;
  #duration = 0; // ms
  #endsAt = 0; // on the clock of performance.now()
  #isExtended = false;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Starts the time, or starts it again. */
  start(milliseconds: number): void {
    this.stop();
    this.#isExtended = false;
    this.#duration = milliseconds;
    this.#run(milliseconds);
  }

  /** Starts the same time again. Cheap: it may be called for every chunk. */
  restart(): void {
    if (this.#isExtended) return this.start(this.#duration);
    this.#endsAt = performance.now() + this.#duration;
    this.#timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #run(milliseconds: number): void {
    this.#endsAt = performance.now() + milliseconds;
    this.#timer = setTimeout(() => this.#fire(), milliseconds);
  }

  #fire(): void {
    const late = performance.now() - this.#endsAt;
    if (late <= punctual || this.#isExtended) return this.#onEnd();
    this.#isExtended = true;
    this.#run(Math.min(late, this.#duration));
  }
}
