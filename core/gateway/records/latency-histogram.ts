/**
 * A histogram of durations, as pairs of a bucket and its number of requests in the order of the buckets. Bucket `n` ends at 10 ms × 1.1ⁿ, and
 * the last bucket starts at an hour.
 */
export type LatencyHistogram = readonly (readonly [bucket: number, requests: number])[];

const firstBucketEndMs = 10;
const bucketGrowth = 1.1;

/**
 * Returns a quantile in ms, within 5 % of the exact value between 10 ms and an hour; undefined if there are no requests.
 *
 * @param share share of the requests; 0.5 for the median
 */
export function quantile(histogram: LatencyHistogram, share: number): number | undefined {
  const total = sumRequests(histogram);
  let countedRequests = 0;
  for (const [bucket, requests] of histogram) {
    countedRequests += requests;
    if (countedRequests >= share * total) return firstBucketEndMs * bucketGrowth ** (bucket - 0.5);
  }
  return undefined;
}

export function sumRequests(histogram: LatencyHistogram): number {
  return histogram.reduce((sum, [, requests]) => sum + requests, 0);
}

/** Adds up the requests of several histograms by bucket. */
export function mergeHistograms(histograms: Iterable<LatencyHistogram>): LatencyHistogram {
  const requestsByBucket = new Map<number, number>();
  for (const histogram of histograms)
    for (const [bucket, requests] of histogram)
      requestsByBucket.set(bucket, (requestsByBucket.get(bucket) ?? 0) + requests);
  return [...requestsByBucket].toSorted(([a], [b]) => a - b);
}
