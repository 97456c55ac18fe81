export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Interpolates between neighboring values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}

/** Returns the interval that contains the true median in 95 of 100 runs, from the ranks of a binomial distribution. */
export function confidence(values: readonly number[]): [low: number, high: number] {
  const sorted = values.toSorted((a, b) => a - b);
  const margin = 0.98 * Math.sqrt(sorted.length);
  const at = (index: number) => sorted[Math.min(sorted.length - 1, Math.max(0, index))] ?? Number.NaN;
  return [at(Math.round(sorted.length / 2 - margin) - 1), at(Math.round(sorted.length / 2 + margin))];
}

/** @returns such as `1.14 (95 %: 1.09 to 1.20)` */
export function describeRatios(ratios: readonly number[]): string {
  const [low, high] = confidence(ratios);
  return `${median(ratios).toFixed(3)} (95 %: ${low.toFixed(3)} to ${high.toFixed(3)})`;
}
