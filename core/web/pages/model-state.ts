import type { ModelHealth, ModelState } from '#core/business/model-health/model-health.ts';
import type { PageRequest } from './page.ts';

const kinds: Readonly<Record<ModelState, string>> = {
  working: 'ok',
  degraded: 'warn',
  down: 'bad',
  unknown: 'info',
  no_data: 'none',
};

/** The state of a model for `parts/status`, in the same words on every page. @param now epoch ms */
export function describeModelState(
  health: ModelHealth | undefined,
  { t, format }: Pick<PageRequest, 't' | 'format'>,
  now: number,
): { readonly kind: string; readonly text: string } {
  const state = health?.state ?? 'no_data';
  const isSlow = state === 'degraded' && health?.trouble?.cause === 'slow';
  const time = sinceText(health?.failedAt ?? now, format, now);
  return { kind: kinds[state], text: t(`model_state.${isSlow ? 'slow' : state}`, { time }) };
}

/** `14:31`, or with its day where that is not today. Both epoch ms. */
export function sinceText(time: number, format: PageRequest['format'], now: number): string {
  const [at, today] = [new Date(time), new Date(now)];
  return (format.day(at).text === format.day(today).text ? format.shortTime(at) : format.dayTime(at)).text;
}
