import type { Language } from './texts.ts';

/** A number and its unit: as one text, and separately because templates print the unit smaller. */
export interface FormattedAmount {
  readonly value: string;
  readonly unit: string;
  readonly text: string;
}

/** Time that is left: `4 d 07:12:45`. */
export interface FormattedRemaining {
  /** Number of days; '' if less than a day is left. */
  readonly days: string;
  /** Unit of the days; '' if less than a day is left. */
  readonly unit: string;
  /** `07:12:45`. */
  readonly clock: string;
  readonly text: string;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const units = {
  en: { ms: 'ms', second: 's', minute: 'min', hour: 'h', day: 'd' },
  id: { ms: 'ms', second: 'dtk', minute: 'mnt', hour: 'jam', day: 'hari' },
} as const satisfies Record<Language, Record<string, string>>;

/**
 * Formats an elapsed time: ms below 100 ms (below a second with `fine`); then seconds, with two decimals below ten and one below a minute;
 * then minutes and seconds; then hours and minutes.
 */
export function formatDuration(ms: number, language: Language, locale: string, { fine = false } = {}): FormattedAmount {
  const names = units[language];
  const roundedMs = Math.max(0, Math.round(ms));
  if (roundedMs < (fine ? second : 100)) return createAmount(String(roundedMs), names.ms);
  // Anything that would round up to 60.0 s is shown as a minute.
  if (roundedMs < minute - 50) {
    const digits = roundedMs < 10 * second - 5 ? 2 : 1;
    return createAmount(
      formatNumber(roundedMs / second, locale, { minDigits: digits, maxDigits: digits }),
      names.second,
    );
  }
  const seconds = Math.round(roundedMs / second);
  if (seconds < 3600) return joinAmounts(Math.floor(seconds / 60), names.minute, seconds % 60, names.second);
  const minutes = Math.round(seconds / 60);
  return joinAmounts(Math.floor(minutes / 60), names.hour, minutes % 60, names.minute);
}

const twoDigits = (value: number) => String(Math.floor(value)).padStart(2, '0');

/** Formats the time that is left, rounded up to whole seconds, so that 00:00:00 appears only at the very end. */
export function formatRemaining(ms: number, language: Language): FormattedRemaining {
  const remaining = Math.max(0, Math.ceil(ms / second) * second);
  const dayCount = Math.floor(remaining / day);
  const clock = `${twoDigits((remaining % day) / hour)}:${twoDigits((remaining % hour) / minute)}:${twoDigits((remaining % minute) / second)}`;
  if (dayCount === 0) return { days: '', unit: '', clock, text: clock };
  const unit = units[language].day;
  return { days: String(dayCount), unit, clock, text: `${dayCount} ${unit} ${clock}` };
}

// Cached, because Intl formatters are slow to create and a page formats a hundred numbers.
const relativeFormats = new Map<string, Intl.RelativeTimeFormat>();
const numberFormats = new Map<string, Intl.NumberFormat>();

/** Formats a number with `minDigits` to `maxDigits` decimals; with `isPercent`, formats a share as a percentage. */
export function formatNumber(
  value: number,
  locale: string,
  { minDigits = 0, maxDigits, isPercent = false }: { minDigits?: number; maxDigits: number; isPercent?: boolean },
): string {
  const make = () =>
    new Intl.NumberFormat(locale, {
      style: isPercent ? 'percent' : 'decimal',
      minimumFractionDigits: minDigits,
      maximumFractionDigits: maxDigits,
    });
  return getOrCreate(numberFormats, `${locale} ${minDigits} ${maxDigits} ${isPercent}`, make).format(value);
}

function getOrCreate<T>(cache: Map<string, T>, key: string, make: () => T): T {
  const value = cache.get(key) ?? make();
  cache.set(key, value);
  return value;
}

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', day],
  ['hour', hour],
  ['minute', minute],
  ['second', second],
];

/** Formats `12 min ago`, `in 6 hr`, `yesterday`. */
export function formatRelative(ms: number, locale: string): string {
  const format = getOrCreate(
    relativeFormats,
    locale,
    () => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
  );
  const [unit, length] = steps.find(([, size]) => Math.abs(ms) >= size) ?? ['second', second];
  return format.format(Math.trunc(ms / length), unit).replace(/\bhr\b/, 'h');
}

function createAmount(value: string, unit: string): FormattedAmount {
  return { value, unit, text: `${value}\u00A0${unit}` };
}

function joinAmounts(large: number, largeUnit: string, small: number, smallUnit: string): FormattedAmount {
  const value = small === 0 ? String(large) : `${large}\u00A0${largeUnit} ${small}`;
  return createAmount(value, small === 0 ? largeUnit : smallUnit);
}
