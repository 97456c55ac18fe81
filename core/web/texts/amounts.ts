import { type FormattedAmount, formatDuration, formatNumber } from './durations.ts';
import type { Language } from './texts.ts';

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** In steps of 1000, with one decimal below ten. */
export function formatBytes(count: number, locale: string): FormattedAmount {
  let step = 0;
  let value = Math.max(0, count);
  // What would be rounded up to 1000 belongs to the next unit.
  while (value >= 999.5 && step < byteUnits.length - 1) {
    value /= 1000;
    step++;
  }
  const digits = step > 0 && value < 9.95 ? 1 : 0;
  const text = formatNumber(value, locale, { most: digits });
  const unit = byteUnits[step] ?? 'B';
  return { value: text, unit, text: `${text}\u00A0${unit}` };
}

/** One decimal below 10 %, none below 99 %, then two: where the figures of a service that works differ. */
export function formatPercent(share: number, locale: string): string {
  const percent = Math.min(100, Math.max(0, share * 100));
  const digits = percent < 10 ? 1 : percent < 99 ? 0 : 2;
  const smallest = 0.1;
  const largest = 99.99;
  const shown = percent > 0 && percent < smallest ? smallest : percent < 100 ? Math.min(percent, largest) : percent;
  return formatNumber(shown / 100, locale, { most: digits, share: true });
}

/** `0 – 412 ms`, `412 ms – 4.28 s`: one unit where both have the same. */
export function formatSpan(from: number, to: number, language: Language, locale: string): string {
  const start = formatDuration(from, language, locale, { fine: true });
  const end = formatDuration(to, language, locale, { fine: true });
  return `${from <= 0 ? '0' : start.unit === end.unit ? start.value : start.text} – ${end.text}`;
}
