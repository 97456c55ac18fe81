import type { ModelState } from '#core/business/model-health/model-health.ts';
import type { Translate } from '#core/web/texts/texts.ts';

export interface Verdict {
  readonly state: ModelState; // the worst of any model; `no_data` if none has answered a request
  readonly text: string;
}

export function describeVerdict(states: readonly ModelState[], t: Translate): Verdict {
  const count = (state: ModelState) => states.filter((other) => other === state).length;
  const [down, degraded] = [count('down'), count('degraded')];
  const total = states.length;
  if (total === 0) return { state: 'no_data', text: t('status.verdict.none') };
  const [onlyState] = states;
  if (total === 1 && (onlyState === 'down' || onlyState === 'degraded' || onlyState === 'unknown'))
    return { state: onlyState, text: t(`status.verdict_only.${onlyState}`) };
  if (down > 0 && degraded > 0)
    return { state: 'down', text: t('status.verdict.both', { count: down, degraded, total }) };
  if (down > 0) return { state: 'down', text: t('status.verdict.down', { count: down, total }) };
  if (degraded > 0) return { state: 'degraded', text: t('status.verdict.degraded', { count: degraded, total }) };
  if (count('unknown') > 0)
    return { state: 'unknown', text: t('status.verdict.unknown', { count: count('unknown'), total }) };
  if (count('no_data') === total) return { state: 'no_data', text: t('status.verdict.unused') };
  return { state: 'working', text: t('status.verdict.working') };
}
