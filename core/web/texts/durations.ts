import type { Language } from './texts.ts';

/** A number and its unit, separately because templates print the unit smaller, and as one text. */
export interface FormattedAmount {
  readonly value: string;
  readonly unit: string;
  readonly text: string;
}

/** Remaining time: `4 d 07:12:45`. */
export interface FormattedRemaining {
  /** Number of days; '' under a day. */
  readonly days: string;
  /** Unit of the days; '' under a day. */
  readonly unit: string;
  /** `07:12:45`. */
  readonly clock: string;
  readonly text: string;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Unit names without periods or plural forms. */
const units = {
  en: { ms: 'ms', second: 's', minute: 'min', hour: 'h', day: 'd' },
  id: { ms: 'ms', second: 'dtk', minute: 'mnt', hour: 'jam', day: 'hari' },
} as const satisfies Record<Language, Record<string, string>>;

/**
 * Formats an elapsed time: ms below 100 ms (below a second with `fine`), seconds with two decimals below ten, with one below a minute, then
 * minutes and seconds, then hours and minutes.
 */
export function formatDuration(ms: number, language: Language, locale: string, { fine = false } = {}): FormattedAmount {
  const names = units[language];
  const whole = Math.max(0, Math.round(ms));
  if (whole < (fine ? second : 100)) return amount(String(whole), names.ms);
  // Values that would round up to 60.0 s are shown as a minute.
  if (whole < minute - 50) {
    const digits = whole < 10 * second - 5 ? 2 : 1;
    return amount(formatNumber(whole / second, locale, { least: digits, most: digits }), names.second);
  }
  const seconds = Math.round(whole / second);
  if (seconds < 3600) return pair(Math.floor(seconds / 60), names.minute, seconds % 60, names.second);
  const minutes = Math.round(seconds / 60);
  return pair(Math.floor(minutes / 60), names.hour, minutes % 60, names.minute);
}

const two = (value: number) => String(Math.floor(value)).padStart(2, '0');

/** Formats remaining time, rounded up to whole seconds, so it reads 00:00:00 only at the end. */
export function formatRemaining(ms: number, language: Language): FormattedRemaining {
  const left = Math.max(0, Math.ceil(ms / second) * second);
  const count = Math.floor(left / day);
  const clock = `${two((left % day) / hour)}:${two((left % hour) / minute)}:${two((left % minute) / second)}`;
  if (count === 0) return { days: '', unit: '', clock, text: clock };
  const unit = units[language].day;
  return { days: String(count), unit, clock, text: `${count} ${unit} ${clock}` };
}

// Cached: Intl formatters are slow to create, and a page prints a hundred numbers.
const relatives = new Map<string, Intl.RelativeTimeFormat>();
const numbers = new Map<string, Intl.NumberFormat>();

/** @param options digits after the decimal point, from `least` to `most`; `share` formats a percentage */
export function formatNumber(
  value: number,
  locale: string,
  { least = 0, most, share = false }: { least?: number; most: number; share?: boolean },
): string {
  const make = () =>
    new Intl.NumberFormat(locale, {
      style: share ? 'percent' : 'decimal',
      minimumFractionDigits: least,
      maximumFractionDigits: most,
    });
  return keep(numbers, `${locale} ${least} ${most} ${share}`, make).format(value);
}

function keep<T>(kept: Map<string, T>, key: string, make: () => T): T {
  const known = kept.get(key) ?? make();
  kept.set(key, known);
  return known;
}

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', day],
  ['hour', hour],
  ['minute', minute],
  ['second', second],
];

/** Formats `12 min ago`, `in 6 hr`, `yesterday`. */
export function formatRelative(ms: number, locale: string): string {
  const format = keep(
    relatives,
    locale,
    () => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
  );
  const [unit, length] = steps.find(([, size]) => Math.abs(ms) >= size) ?? ['second', second];
  return format.format(Math.trunc(ms / length), unit).replace(/\bhr\b/, 'h');
}

function amount(value: string, unit: string): FormattedAmount {
  return { value, unit, text: `${value}\u00A0${unit}` };
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): FormattedAmount {
  const value = small === 0 ? String(large) : `${large}\u00A0${largeUnit} ${small}`;
  return amount(value, small === 0 ? largeUnit : smallUnit);
}
