const bucketMs = 100;

export class Figures {
  readonly #now: () => number;
  readonly #series = new Map<string, number[]>();

  /** @param now returns ms since the simulation began */
  constructor(now: () => number) {
    this.#now = now;
  }

  count(name: string, amount = 1): void {
    const series = this.#series.get(name) ?? [];
    this.#series.set(name, series);
    const index = Math.floor(this.#now() / bucketMs);
    series[index] = (series[index] ?? 0) + amount;
  }

  get names(): string[] {
    return [...this.#series.keys()];
  }

  /** Times are ms. */
  total(name: string, from = 0, until = Infinity): number {
    return this.#between(name, from, until).reduce((sum, amount) => sum + amount, 0);
  }

  perSecond(name: string, from: number, until: number): number {
    return this.total(name, from, until) / ((until - from) / 1000);
  }

  /** Returns the highest amount in a tenth of a second. */
  peak(name: string, from = 0, until = Infinity): number {
    return this.#between(name, from, until).reduce((most, amount) => Math.max(most, amount), 0);
  }

  /** Ms from `from` to the start of the last non-empty bucket. */
  last(name: string, from: number): number {
    return ((this.#series.get(name)?.length ?? 0) - 1) * bucketMs - from;
  }

  #between(name: string, from: number, until: number): number[] {
    const part = (this.#series.get(name) ?? []).slice(Math.floor(from / bucketMs), Math.ceil(until / bucketMs));
    return Array.from(part, (amount) => amount ?? 0);
  }
}

/** Measures the worst time span. `times` are ms, in order. */
export function overshootOf(
  times: readonly number[],
  { limit, period, burst }: { readonly limit: number; readonly period: number; readonly burst: number },
): number {
  const perMs = limit / (period * 1000);
  let least = Infinity;
  let most = 0;
  for (const [index, time] of times.entries()) {
    const used = index - perMs * time;
    least = Math.min(least, used);
    most = Math.max(most, used + 1 - least);
  }
  return Math.max(0, most - burst);
}
