import { InvalidArgumentError, Option } from 'commander';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { isDay, isMonth, isTimeZone } from '#core/platform/timing/time-zone.ts';

export function parseDay(text: string): string {
  if (isDay(text)) return text;
  throw new InvalidArgumentError('It must be a day, for example 2026-11-22.');
}

export function parseMonth(text: string): string {
  if (isMonth(text)) return text;
  throw new InvalidArgumentError('It must be a month, for example 2026-11.');
}

export function parseTimeZone(text: string): string {
  if (isTimeZone(text)) return text;
  throw new InvalidArgumentError('It must be the name of a time zone, for example Asia/Jakarta.');
}

/** A time as typed on the command line: ms before now, local time in the output's zone, or epoch ms. */
export type TypedTime = { readonly agoMs: number } | { readonly local: string } | { readonly epochMs: number };

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const localMinute = /^(\d{4}-\d\d-\d\d) ([01]\d|2[0-3]):[0-5]\d$/;
const zonedTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Parses `30m`, `24h`, `7d` and `2w` (ago), `2026-11-22`, `2026-11-22 20:00`, `2026-11-22T13:00Z`, `2026-11-22T20:00+07:00`. */
export function parseTime(text: string): TypedTime {
  const [, count, unit = ''] = /^(\d{1,4})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return { agoMs: Number(count) * (unitMs[unit] ?? 0) };
  if (isDay(text) || isDay(localMinute.exec(text)?.[1] ?? '')) return { local: text };
  const epochMs = zonedTime.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(epochMs)) return { epochMs };
  throw new InvalidArgumentError(
    'It must be a time, for example 30m, 24h, 7d, 2026-11-22, "2026-11-22 20:00" or 2026-11-22T13:00Z.',
  );
}

/** Converts a typed time to epoch ms. A date without a time means the start of that day. */
export async function resolveTime(
  { database, now }: { readonly database: Queries; now(): number },
  time: TypedTime,
  timeZone: string,
): Promise<number> {
  if ('agoMs' in time) return now() - time.agoMs;
  if ('epochMs' in time) return time.epochMs;
  const [row] = await database.query<{ at: number }>(`select ${epoch('?::timestamp at time zone ?')} as at`, [
    time.local,
    timeZone,
  ]);
  return row?.at ?? now();
}

export interface ZoneOptions {
  readonly timeZone?: string;
}

export function zoneOption(): Option {
  return new Option('--time-zone <zone>', 'time zone of days and times; default: service.time_zone').argParser(
    parseTimeZone,
  );
}

export function zoneOf(host: Pick<Host, 'section'>, { timeZone }: ZoneOptions): string {
  return timeZone ?? host.section(service).time_zone;
}
