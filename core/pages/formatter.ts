import { formatMoney } from '../accounts/money.ts';
import type { Language } from './texts.ts';

/** Writes values for one reader. Templates get what it returns and format nothing themselves. */
export interface Formatter {
  /** IANA name of the zone that times are written in. */
  readonly timeZone: string;
  /** `Rp 95.000`, the same in every language. @param amount in the smallest unit that the currency is paid in */
  money(amount: number, currency: string): string;
  /** `1,284` or `1.284`. */
  number(value: number): string;
  /** Day and time with the name of the zone: `25 Nov 2026, 21:40 GMT+7`. */
  time(value: Date): FormattedTime;
  /** The day alone: `25 Nov 2026`. */
  day(value: Date): FormattedTime;
}

/** For `<time datetime="…">`: what machines read, and what people do. */
export interface FormattedTime {
  readonly iso: string;
  readonly text: string;
}

/** 24 hours and the day before the month, as everywhere that English is read outside of the United States. */
const locales: Readonly<Record<Language, string>> = { en: 'en-GB', id: 'id-ID' };

const formatters = new Map<string, Formatter>();

/** @param timeZone of the reader; the gateway's own when it is undefined or not a zone */
export function formatterFor(language: Language, timeZone: string | undefined): Formatter {
  const zone = canonicalZone(timeZone) ?? ownTimeZone();
  const key = `${language} ${zone}`;
  const known = formatters.get(key);
  if (known !== undefined) return known;
  const made = createFormatter(locales[language], zone);
  formatters.set(key, made);
  return made;
}

function createFormatter(locale: string, timeZone: string): Formatter {
  const numbers = new Intl.NumberFormat(locale);
  const days = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'medium' });
  const times = new Intl.DateTimeFormat(locale, {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });
  return {
    timeZone,
    money: formatMoney,
    number: (value) => numbers.format(value),
    time: (value) => ({ iso: value.toISOString(), text: times.format(value) }),
    day: (value) => ({ iso: value.toISOString(), text: days.format(value) }),
  };
}

/**
 * The canonical name of a zone, so that there are no more formatters than zones, whatever cookies say.
 *
 * @returns undefined for what is not the name of a zone
 */
function canonicalZone(name: string | undefined): string | undefined {
  if (name === undefined || !zoneName.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Names alone: offsets such as `+07:00`, which Intl accepts too, have no canonical form. */
const zoneName = /^[A-Za-z][\w+-]*(\/[A-Za-z][\w+-]*){0,2}$/;

function ownTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
