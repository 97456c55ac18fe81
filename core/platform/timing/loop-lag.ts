const intervalMs = 250;
const toleratedMs = 100;

const now = performance.now.bind(performance);

/** Measures the delay of a timer, which shows how long the event loop was blocked or the machine suspended. */
class LagMeter {
  #stalled = 0; // ms
  #nextAt = now() + intervalMs;

  constructor() {
    setInterval(() => this.#measure(), intervalMs).unref();
  }

  get stalled(): number {
    return this.#stalled;
  }

  #measure(): void {
    const late = now() - this.#nextAt;
    if (late > toleratedMs) this.#stalled += late;
    this.#nextAt = now() + intervalMs;
  }
}

const meter = new LagMeter();

/**
 * Returns the total ms for which this process was stalled: its event loop was blocked or the machine was suspended. The difference between
 * two calls shows whether a duration measured between them is reliable.
 */
export function stalledTime(): number {
  return meter.stalled;
}
