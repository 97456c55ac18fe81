import type { PageReader } from './page.ts';

export function describeDowntime(
  { model, from, until }: { readonly model: string; readonly from: Date; readonly until: Date },
  { t, format, host }: PageReader,
): string {
  const minutes = t('operator.credit_minutes', { count: Math.round((+until - +from) / 60_000) });
  return t('operator.downtime', { model, time: format.dayTime(from, host.now()).text, minutes });
}
