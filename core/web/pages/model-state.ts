import type { ModelHealth, ModelState } from '#core/business/model-health/model-health.ts';
import type { PageRequest, Localizer } from './page.ts';

const statusKinds: Readonly<Record<ModelState, string>> = {
  working: 'ok',
  degraded: 'warn',
  down: 'bad',
  unknown: 'info',
  no_data: 'none',
};

/** Describes a model's state for `parts/status`, in the same words on every page. */
export function describeModelState(
  health: ModelHealth | undefined,
  { t, format }: Localizer,
  now: number,
): { readonly kind: string; readonly text: string } {
  const state = health?.state ?? 'no_data';
  if (state === 'unknown') {
    const failedAt = health?.failedAt;
    const text = failedAt === undefined ? t('model_state.unanswered') : describeSilence(failedAt, t, format, now);
    return { kind: statusKinds[state], text };
  }
  const isSlow = state === 'degraded' && health?.trouble?.cause === 'slow';
  return { kind: statusKinds[state], text: t(`model_state.${isSlow ? 'slow' : state}`) };
}

function describeSilence(failedAt: number, t: PageRequest['t'], format: PageRequest['format'], now: number): string {
  const time = formatSince(failedAt, format, now);
  return t(isSameDay(failedAt, now, format) ? 'model_state.unknown' : 'model_state.unknown_day', { time });
}

/** Formats a time as `14:31`, with the day unless it is today. Both times are epoch ms. */
export function formatSince(time: number, format: PageRequest['format'], now: number): string {
  const date = new Date(time);
  return (isSameDay(time, now, format) ? format.shortTime(date) : format.dayTime(date)).text;
}

function isSameDay(time: number, other: number, format: PageRequest['format']): boolean {
  return format.day(new Date(time)).text === format.day(new Date(other)).text;
}
