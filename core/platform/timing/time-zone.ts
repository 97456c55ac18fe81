/** True for the name of a time zone, such as `Asia/Jakarta`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** A time in a zone as spreadsheets read it: `2026-11-22` and `13:05:00`. */
export function localTime(time: Date, timeZone: string): { readonly day: string; readonly clock: string } {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const [day = '', clock = ''] = format.format(time).split(' ');
  return { day, clock };
}
