const pattern = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?\s?(Z|[+-]\d\d:?\d\d)?$/;
const offsetMs = 7 * 3_600_000; // GMT+7 (Jakarta)

/** Midtrans's times, such as `2026-01-02 10:00:00`, are in GMT+7 unless they name a zone. */
export function parseLocalTime(value: unknown): Date | undefined {
  if (typeof value !== 'string') return undefined;
  const match = pattern.exec(value);
  if (match === null) return undefined;
  const [, day, time, zone = '+07:00'] = match;
  const date = new Date(`${day}T${time}${zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Includes the zone, as requests require: `2026-01-02 10:00:00 +0700`. */
export function formatLocalTime(time: Date): string {
  const local = new Date(time.getTime() + offsetMs).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)} +0700`;
}
