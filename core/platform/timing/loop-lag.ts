const intervalMs = 250;
const toleratedLatenessMs = 100;

const now = performance.now.bind(performance);

class LagMeter {
  #stalledMs = 0;
  #nextAt = now() + intervalMs;

  constructor() {
    setInterval(() => this.#measure(), intervalMs).unref();
  }

  get stalledMs(): number {
    return this.#stalledMs;
  }

  #measure(): void {
    const latenessMs = now() - this.#nextAt;
    if (latenessMs > toleratedLatenessMs) this.#stalledMs += latenessMs;
    this.#nextAt = now() + intervalMs;
  }
}

const meter = new LagMeter();

/**
 * Returns how many ms this process has been stalled in total, by a blocked event loop or a suspended machine. The difference between two
 * calls shows whether a duration measured between them is reliable.
 */
export function readStalledMs(): number {
  return meter.stalledMs;
}
