/**
 * Returns true for the name of a time zone, such as `Asia/Jakarta`. Returns false for an offset, such as `+07:00`, because PostgreSQL follows
 * POSIX and reads it as seven hours west of Greenwich.
 */
export function isTimeZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false;
  // Ten times as fast as creating a formatter, which also accepts other names for these zones.
  if (Intl.supportedValuesOf('timeZone').includes(name)) return true;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Returns true for a day that exists, such as `2026-11-22`. */
export function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Returns true for an instant that exists, such as `2026-11-22T20:00+07:00`. Its year in UTC must be 1 to 9999, as in PostgreSQL. */
export function isInstant(text: string): boolean {
  const time = new Date(text);
  return isDay(text.slice(0, 10)) && !Number.isNaN(time.getTime()) && /^(?!0000)\d{4}-/.test(time.toISOString());
}

/** Returns true for a month, such as `2026-11`. */
export function isMonth(text: string): boolean {
  return isDay(`${text}-01`);
}

const formats = new Map<string, Intl.DateTimeFormat>(); // slow to create (1 ms); few, because zones come from gateway.yaml and commands
const maxFormats = 32;

/** Formats a time in a zone for spreadsheets: `2026-11-22` and `13:05:00`. */
export function formatLocalTime(time: Date, timeZone: string): { readonly day: string; readonly clock: string } {
  const format = formats.get(timeZone) ?? addFormat(timeZone);
  const [day = '', clock = ''] = format.format(time).split(' ');
  return { day, clock };
}

function addFormat(timeZone: string): Intl.DateTimeFormat {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  if (formats.size >= maxFormats) formats.clear();
  formats.set(timeZone, format);
  return format;
}
