import { InvalidArgumentError } from 'commander';
import type { Database } from '#core/platform/database/database.ts';
import { isDay, rangeOfDays } from './days.ts';

/** A time as it is written on the command line: a while ago, a day in the zone of the output, or exactly. */
export type WrittenTime = { readonly ago: number } | { readonly day: string } | { readonly at: number };

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const exact = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** `30m`, `24h`, `7d` and `2w` ago, `2026-11-22`, `2026-11-22T13:00Z`, `2026-11-22T20:00+07:00`. */
export function parseTime(text: string): WrittenTime {
  const [, count, unit = ''] = /^(\d{1,4})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return { ago: Number(count) * (units[unit] ?? 0) };
  if (isDay(text)) return { day: text };
  const at = exact.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return { at };
  throw new InvalidArgumentError('It must be a time, for example 30m, 24h, 7d, 2026-11-22 or 2026-11-22T13:00Z.');
}

/** Epoch ms; a day is its beginning. */
export async function resolveTime(
  { database, now }: { readonly database: Pick<Database, 'query'>; now(): number },
  time: WrittenTime,
  timeZone: string,
): Promise<number> {
  if ('ago' in time) return now() - time.ago;
  if ('at' in time) return time.at;
  const { since } = await rangeOfDays(database, timeZone, time.day, undefined);
  return since?.getTime() ?? now();
}
