import { formatMoney } from '#core/business/accounts/money.ts';
import {
  type FormattedAmount,
  type FormattedRemaining,
  formatDuration,
  formatRelative,
  formatRemaining,
  formatNumber,
} from './durations.ts';
import type { Language } from './texts.ts';

/** Formats values for a visitor. Templates print the results and format nothing themselves. */
export interface Formatter {
  /** IANA name of the zone for all times. */
  readonly timeZone: string;
  /** `Rp 95.000`, the same in every language. `amount` is in the currency's smallest payable unit. */
  money(amount: number, currency: string): string;
  /** `1,284` or `1.284`. */
  number(value: number): string;
  /** Day and time, with the name of the zone: `25 Nov 2026, 21:40 WIB`. */
  time(value: Date): FormattedTime;
  /** Day without a time: `25 Nov 2026`. */
  day(value: Date): FormattedTime;
  /** Time in a log row: `14:32:07`. */
  clock(value: Date): FormattedTime;
  /** `14:32`. */
  shortTime(value: Date): FormattedTime;
  /** `Wed 25 Nov, 21:40`. Includes the year if `now` is given and the date would be ambiguous without it. */
  dayTime(value: Date, now?: Date | number): FormattedTime;
  /** `Wed 18 Nov`. */
  shortDay(value: Date): FormattedTime;
  /** `12 min ago`, `yesterday`; after a week, the date. */
  relative(value: Date, now: Date): FormattedTime;
  /** A duration: `12 ms`, `0.71 s`, `1 min 4 s`. */
  duration(ms: number): FormattedAmount;
  /** A part of a longer time: `412 ms – 4.28 s`. Both values are ms since its start. */
  span(from: number, to: number): string;
  /** Time that is left, as a countdown: `4 d 07:12:45`. */
  remaining(ms: number): FormattedRemaining;
  /** `1.4%`, `41.0%`. Returns 0% and 100% only if they are exact. `share` is from 0 to 1; default for `digits`: 1. */
  percent(share: number, digits?: number): string;
  /** `96 kB`, in steps of 1000. */
  bytes(count: number): FormattedAmount;
  /** `1.3K`, for a chart's axis. */
  compact(value: number): string;
  /** `200 K`, `1 M`. Formats a limit, so it rounds down. */
  limit(value: number): string;
}

/** The text, and its machine-readable form for `<time datetime="…">`. */
export interface FormattedTime {
  readonly iso: string;
  readonly text: string;
}

const locales: Readonly<Record<Language, string>> = { en: 'en-GB', id: 'id-ID' }; // 24-hour clock, day before month

const weekMs = 7 * 86_400_000;
const ambiguousAfterMs = 300 * 86_400_000; // a date further away is ambiguous without a year

/** Intl also accepts offsets such as `+07:00`, but they have no canonical form. */
const zonePattern = /^[A-Za-z][\w+-]*(\/[A-Za-z][\w+-]*){0,2}$/;

const formatters = new Map<string, Formatter>();

/**
 * Returns the formatter for a language and the visitor's time zone. If that is unknown or invalid, uses `fallback`, the service's zone, or
 * else this machine's.
 */
export function getFormatter(language: Language, timeZone: string | undefined, fallback?: string): Formatter {
  const zone = canonicalizeZone(timeZone) ?? canonicalizeZone(fallback) ?? getMachineZone();
  const key = `${language} ${zone}`;
  const existing = formatters.get(key);
  if (existing !== undefined) return existing;
  const formatter = createFormatter(language, zone);
  formatters.set(key, formatter);
  return formatter;
}

function createFormatter(language: Language, timeZone: string): Formatter {
  const locale = locales[language];
  const numbers = new Intl.NumberFormat(locale);
  const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
  const minutes = { hour: '2-digit', minute: '2-digit' } as const;
  const weekday = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  const time = (options: Intl.DateTimeFormatOptions) => createTimeFormat(locale, { timeZone, ...options });
  const day = time({ dateStyle: 'medium' });
  const shortTime = time(minutes);
  const shortDay = omitComma(time(weekday));
  const shortDayOfYear = omitComma(time({ ...weekday, year: 'numeric' }));
  return {
    timeZone,
    money: formatMoney,
    number: (value) => numbers.format(value),
    compact: (value) => compact.format(value),
    limit: (value) => formatLimit(value, language, locale),
    percent: (share, digits = 1) => formatPercent(share, locale, digits),
    bytes: (count) => formatBytes(count, locale),
    time: addZoneName(
      time({ day: 'numeric', month: 'short', year: 'numeric', ...minutes, timeZoneName: 'short' }),
      timeZone,
    ),
    day,
    clock: time({ ...minutes, second: '2-digit' }),
    shortTime,
    dayTime: (value, now) => {
      const isFar = now !== undefined && Math.abs(+value - +now) > ambiguousAfterMs;
      return {
        iso: value.toISOString(),
        text: `${(isFar ? shortDayOfYear : shortDay)(value).text}, ${shortTime(value).text}`,
      };
    },
    shortDay,
    relative: (value, now) =>
      Math.abs(value.getTime() - now.getTime()) < weekMs
        ? { iso: value.toISOString(), text: formatRelative(value.getTime() - now.getTime(), locale) }
        : day(value),
    duration: (ms) => formatDuration(ms, language, locale),
    span: (from, to) => formatSpan(from, to, language, locale),
    remaining: (ms) => formatRemaining(ms, language),
  };
}

type TimeFormat = (value: Date) => FormattedTime;

function createTimeFormat(locale: string, options: Intl.DateTimeFormatOptions): TimeFormat {
  const format = new Intl.DateTimeFormat(locale, options);
  return (value) => ({ iso: value.toISOString(), text: format.format(value) });
}

function omitComma(format: TimeFormat): TimeFormat {
  return (value) => {
    const { iso, text } = format(value);
    return { iso, text: text.replace(',', '') }; // Intl writes `Rab, 25 Nov`
  };
}

/** `WIB`, `WITA` or `WIT` in every language, because Intl has these names only in Indonesian. */
function addZoneName(format: TimeFormat, timeZone: string): TimeFormat {
  const [name] =
    new Intl.DateTimeFormat('id-ID', { timeZone, timeZoneName: 'short' }).format(0).match(/WI(?:B|TA|T)$/) ?? [];
  if (name === undefined) return format;
  return (value) => {
    const { iso, text } = format(value);
    return { iso, text: text.replace(/GMT\+\d$/, name) };
  };
}

/** Canonical, so that cookies cannot create more formatters than there are zones. */
function canonicalizeZone(name: string | undefined): string | undefined {
  if (name === undefined || !zonePattern.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

function getMachineZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

function formatBytes(count: number, locale: string): FormattedAmount {
  let step = 0;
  let value = Math.max(0, count);
  // Anything that would round up to 1000 uses the next unit.
  while (value >= 999.5 && step < byteUnits.length - 1) {
    value /= 1000;
    step++;
  }
  const digits = step > 0 && value < 9.95 ? 1 : 0;
  const text = formatNumber(value, locale, { maxDigits: digits });
  const unit = byteUnits[step] ?? 'B';
  return { value: text, unit, text: `${text}\u00A0${unit}` };
}

const limitUnits: Readonly<Record<Language, readonly [string, string]>> = { en: ['K', 'M'], id: ['rb', 'jt'] };

function formatLimit(value: number, language: Language, locale: string): string {
  if (value < 1000) return formatNumber(value, locale, { maxDigits: 0 });
  const [thousands, millions] = limitUnits[language];
  if (value < 1_000_000) return `${formatNumber(Math.floor(value / 1000), locale, { maxDigits: 0 })}\u00A0${thousands}`;
  return `${formatNumber(Math.floor(value / 100_000) / 10, locale, { maxDigits: 1 })}\u00A0${millions}`;
}

function formatPercent(share: number, locale: string, digits: number): string {
  const percent = Math.min(100, Math.max(0, share * 100));
  if (percent === 0 || percent === 100) return formatNumber(percent / 100, locale, { maxDigits: 0, isPercent: true });
  const smallestPercent = 10 ** -digits;
  const shown = Math.min(Math.max(percent, smallestPercent), 100 - smallestPercent);
  return formatNumber(shown / 100, locale, { minDigits: digits, maxDigits: digits, isPercent: true });
}

function formatSpan(from: number, to: number, language: Language, locale: string): string {
  const start = formatDuration(from, language, locale, { fine: true });
  const end = formatDuration(to, language, locale, { fine: true });
  if (from <= 0) return `0 – ${end.text}`;
  return `${start.unit === end.unit ? start.value : start.text} – ${end.text}`;
}

/** Joins texts, skipping empty ones: `Rp 95.000 · paid`. */
export function joinParts(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(' · ');
}
