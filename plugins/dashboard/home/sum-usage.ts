import { type LatencyHistogram, mergeHistograms } from '#core/gateway/records/latency-histogram.ts';
import { startOfHours, hourMs } from '#core/gateway/records/usage.ts';
import type { UsageRow } from './account-usage.ts';

export interface HourSum {
  readonly hour: number; // epoch ms of its start
  readonly requests: number;
  readonly errors: number;
  readonly firstContent: LatencyHistogram;
}

export function sumHours(rows: readonly UsageRow[], count: number, now: number): HourSum[] {
  const first = startOfHours(now, count);
  const byHour = Map.groupBy(rows, ({ hour }) => hour);
  return Array.from({ length: count }, (_, index) => {
    const hour = first + index * hourMs;
    const hourRows = byHour.get(hour) ?? [];
    return {
      hour,
      requests: sum(hourRows.map(({ requests }) => requests)),
      errors: sum(hourRows.map(({ errors }) => errors)),
      firstContent: mergeHistograms(hourRows.map(({ firstContent = [] }) => firstContent)),
    };
  });
}

/** `name` is null for requests without an existing model. */
export function sumModels(rows: readonly UsageRow[], since: number): { name: string | null; requests: number }[] {
  const models = new Map<string | null, number>();
  for (const { hour, model, requests } of rows)
    if (hour >= since) models.set(model, (models.get(model) ?? 0) + requests);
  return [...models].map(([name, requests]) => ({ name, requests })).toSorted((a, b) => b.requests - a.requests);
}

export function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
