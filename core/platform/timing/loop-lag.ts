/** Ms between two measurements. */
const interval = 250;
/** Ms by which a measurement may be late on a busy machine. */
const punctual = 100;

const now = performance.now.bind(performance);

/** Measures how late a timer is: that long, the event loop was blocked or the machine suspended. */
class LagMeter {
  #stalled = 0; // ms
  #nextAt = now() + interval;

  constructor() {
    setInterval(() => this.#measure(), interval).unref();
  }

  get stalled(): number {
    return this.#stalled;
  }

  #measure(): void {
    const late = now() - this.#nextAt;
    if (late > punctual) this.#stalled += late;
    this.#nextAt = now() + interval;
  }
}

/** One for the process, whose event loop it measures. */
const meter = new LagMeter();

/**
 * Total ms for which this process was stalled: its event loop was blocked or the machine was suspended. The difference between two
 * calls shows whether a duration measured between them is reliable.
 */
export function stalledTime(): number {
  return meter.stalled;
}
