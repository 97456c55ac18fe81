import { epoch } from '#core/platform/database/rows.ts';
import { string } from '#core/platform/schema.ts';
import { FieldErrors, type PageRequest } from './page.ts';

/** A local time as browsers send it, in the page's time zone. */
export const localTimePattern = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:[0-5]\d(?::[0-5]\d)?$/;

export const localTimeField = string({ maxLength: 19, pattern: localTimePattern.source });

/** Converts both ends of a time range in the page's time zone to RFC 3339. Throws FieldErrors for a date that does not exist. */
export async function localRangeToInstants(request: PageRequest, since: string, until: string) {
  return { since: await localToInstant(request, since), until: await localToInstant(request, until) };
}

/** Converts a local time in the page's time zone to RFC 3339. Throws FieldErrors, for `field`, if the date does not exist. */
export async function localToInstant({ host, format }: PageRequest, local: string, field = ''): Promise<string> {
  const day = new Date(`${local.slice(0, 10)}T00:00:00Z`);
  const hour = Number(local.slice(11, 13));
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(local.slice(0, 10)) || hour > 23)
    throw new FieldErrors({ [field]: 'form.invalid' });
  const [row] = await host.database.query<{ at: number }>(`select ${epoch('?::timestamp at time zone ?')} as at`, [
    local,
    format.timeZone,
  ]);
  return new Date(row?.at ?? 0).toISOString();
}

/** Converts a time (epoch ms) to the value of a form field in the page's time zone: `2026-11-22T20:00`. */
export function instantToLocal({ format }: Pick<PageRequest, 'format'>, time: number): string {
  const { timeZone } = format;
  // The Swedish locale writes dates the ISO 8601 way.
  const formatted = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(time);
  return formatted.replace(' ', 'T');
}
