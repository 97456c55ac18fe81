import type { Database } from '#core/platform/database/database.ts';
import { quantile, sizeOf } from '#core/gateway/records/latency-histogram.ts';
import { readUsage, startOfHours } from '#core/gateway/records/usage.ts';

/** How fast a model answers. Ms to the first token, medians. */
export interface ModelSpeed {
  /** Median of this hour and the last one; undefined without responses. */
  readonly lastHourMs: number | undefined;
  /** Median of the last seven days; undefined with too few responses. */
  readonly usualMs: number | undefined;
}

/** Hours whose median is usual, and answers that it takes. */
const usual = { hours: 7 * 24, answers: 200 };

/** The speed of every model with traffic, by public name. @param now epoch ms */
export async function readModelSpeed(
  database: Pick<Database, 'query'>,
  now: number,
): Promise<ReadonlyMap<string, ModelSpeed>> {
  const [week, hour] = await Promise.all([
    readUsage(database, { since: startOfHours(now, usual.hours) }, ['model']),
    readUsage(database, { since: startOfHours(now, 2) }, ['model']),
  ]);
  const lastHour = new Map(hour.map(({ model, firstContent }) => [model, quantile(firstContent, 0.5)]));
  return new Map(
    week.flatMap(({ model, firstContent }) => {
      if (model === null) return [];
      const usualMs = sizeOf(firstContent) < usual.answers ? undefined : quantile(firstContent, 0.5);
      return [[model, { lastHourMs: lastHour.get(model), usualMs }]];
    }),
  );
}
