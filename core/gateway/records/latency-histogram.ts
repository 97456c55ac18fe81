/**
 * A histogram of durations: pairs of a bucket and its number of requests, in the order of the buckets. Bucket `n` ends at 10 ms × 1.1ⁿ; the
 * last one starts at an hour.
 */
export type LatencyHistogram = readonly (readonly [bucket: number, requests: number])[];

const firstEnd = 10; // ms
const growth = 1.1;

/**
 * Returns the quantile for a share of the requests, 0.5 for the median. Ms, within 5 % of the exact value between 10 ms and an hour;
 * undefined without requests.
 */
export function quantile(histogram: LatencyHistogram, share: number): number | undefined {
  const all = sizeOf(histogram);
  let below = 0;
  for (const [bucket, requests] of histogram) {
    below += requests;
    if (below >= share * all) return firstEnd * growth ** (bucket - 0.5);
  }
  return undefined;
}

/** Returns the number of requests in all buckets. */
export function sizeOf(histogram: LatencyHistogram): number {
  return histogram.reduce((sum, [, requests]) => sum + requests, 0);
}

/** Merges several histograms. */
export function mergeHistograms(histograms: Iterable<LatencyHistogram>): LatencyHistogram {
  const merged = new Map<number, number>();
  for (const histogram of histograms)
    for (const [bucket, requests] of histogram) merged.set(bucket, (merged.get(bucket) ?? 0) + requests);
  return [...merged].toSorted(([a], [b]) => a - b);
}
