import { quantile, sumRequests } from '#core/gateway/records/latency-histogram.ts';
import { readStreamingSpeed, readUsage, startOfHours } from '#core/gateway/records/usage.ts';
import type { Queries } from '#core/platform/database/database.ts';

/** How fast a model is. Times are medians to the first token. */
export interface ModelSpeed {
  readonly lastHourMs: number | undefined; // of this hour and the previous one; undefined if there were no responses
  readonly usualMs: number | undefined; // of the last seven days; undefined if there were too few responses
  readonly weekMs: number | undefined; // the same, even if there were very few responses; undefined if there were none
  readonly tokensPerSecond: number | undefined; // in the streams of the last seven days; undefined if none was long enough
}

const usualPeriod = { hours: 7 * 24, minResponses: 200 };

/**
 * Reads the speed of every model that has traffic, by public name.
 *
 * @param now epoch ms
 */
export async function readModelSpeed(database: Queries, now: number): Promise<ReadonlyMap<string, ModelSpeed>> {
  const [week, streaming, hour] = await Promise.all([
    readUsage(database, { since: startOfHours(now, usualPeriod.hours) }, ['model']),
    readStreamingSpeed(database, startOfHours(now, usualPeriod.hours)),
    readUsage(database, { since: startOfHours(now, 2) }, ['model']),
  ]);
  const lastHour = new Map(hour.map(({ model, firstContent }) => [model, quantile(firstContent, 0.5)]));
  return new Map(
    week.flatMap(({ model, firstContent }) => {
      if (model === null) return [];
      const weekMs = quantile(firstContent, 0.5);
      const usualMs = sumRequests(firstContent) < usualPeriod.minResponses ? undefined : weekMs;
      return [[model, { lastHourMs: lastHour.get(model), usualMs, weekMs, tokensPerSecond: streaming.get(model) }]];
    }),
  );
}
