import { type LatencyHistogram, quantile, sumRequests } from '#core/gateway/records/latency-histogram.ts';

/** Counts of one route during a period. */
export interface TrendCounts {
  readonly attempts: number;
  readonly throttled: number; // by the vendor
  readonly firstContent: LatencyHistogram;
  readonly streamedTokens: number; // of streams long enough to measure their speed
  readonly streamedMs: number;
}

export type StepDown =
  | { readonly kind: 'throttled'; readonly before: number; readonly now: number } // shares
  | { readonly kind: 'first_token'; readonly before: number; readonly now: number } // ms, medians
  | { readonly kind: 'speed'; readonly before: number; readonly now: number }; // tokens per second

const minCounts = { attempts: 200, answers: 100, tokens: 20_000 }; // in both periods, for a comparison
/** The thresholds are wide, because vendors vary by a third from day to day. */
const thresholds = {
  throttled: { share: 0.02, times: 3 },
  firstToken: { ms: 300, times: 1.5 },
  speed: { times: 0.7 },
};

export function findSteps(before: TrendCounts, now: TrendCounts): StepDown[] {
  return [...findThrottledStep(before, now), ...findFirstTokenStep(before, now), ...findSpeedStep(before, now)];
}

function findThrottledStep(before: TrendCounts, now: TrendCounts): StepDown[] {
  if (Math.min(before.attempts, now.attempts) < minCounts.attempts) return [];
  const [earlier, later] = [before, now].map(({ throttled, attempts }) => throttled / attempts) as [number, number];
  const isStep = later >= thresholds.throttled.share && later >= earlier * thresholds.throttled.times;
  return isStep ? [{ kind: 'throttled', before: earlier, now: later }] : [];
}

function findFirstTokenStep(before: TrendCounts, now: TrendCounts): StepDown[] {
  if (Math.min(sumRequests(before.firstContent), sumRequests(now.firstContent)) < minCounts.answers) return [];
  const [earlier = 0, later = 0] = [before, now].map(({ firstContent }) => quantile(firstContent, 0.5));
  const isStep = later - earlier >= thresholds.firstToken.ms && later >= earlier * thresholds.firstToken.times;
  return isStep ? [{ kind: 'first_token', before: earlier, now: later }] : [];
}

function findSpeedStep(before: TrendCounts, now: TrendCounts): StepDown[] {
  if (Math.min(before.streamedTokens, now.streamedTokens) < minCounts.tokens) return [];
  const [earlier, later] = [calculateSpeed(before) ?? 0, calculateSpeed(now) ?? 0];
  return later <= earlier * thresholds.speed.times ? [{ kind: 'speed', before: earlier, now: later }] : [];
}

/** Tokens per second; undefined if no stream was long enough. */
export function calculateSpeed({
  streamedTokens,
  streamedMs,
}: Pick<TrendCounts, 'streamedTokens' | 'streamedMs'>): number | undefined {
  return streamedMs === 0 ? undefined : (streamedTokens * 1000) / streamedMs;
}
