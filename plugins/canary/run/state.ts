import { gauge } from '#core/gateway/health/gauge.ts';
import type { Services } from '#core/gateway/host/host.ts';
import { inBrackets, type ProblemKind, readEmphasis } from '#core/web/problems/problem.ts';
import type { Canary } from '../record/canaries.ts';

export const resultShownMs = 86_400_000;

/** `last` is the running canary or, if there is none, the one that ended last. */
export function getCanaryState(services: Pick<Services, 'keep'>): { last: Canary | undefined } {
  return services.keep('canary-state', () => ({ last: undefined }));
}

function findRecentlyRolledBack(services: Pick<Services, 'keep' | 'now'>): Canary | undefined {
  const { last } = getCanaryState(services);
  return last?.end?.outcome === 'worse' && services.now() - last.end.at.getTime() < resultShownMs ? last : undefined;
}

export const canaryGauges = [
  gauge(
    'config_canary_ratio',
    'Share of the accounts that a canary serves, from 0 to 1; 0 while none runs.',
    (host) => {
      const { last } = getCanaryState(host);
      return last?.end === undefined ? (last?.share ?? 0) : 0;
    },
  ),
  gauge(
    'config_canary_taken_back',
    '1 for a day after a canary was rolled back automatically, because it was worse.',
    (host) => (findRecentlyRolledBack(host) === undefined ? 0 : 1),
  ),
];

export const rolledBackProblem: ProblemKind = {
  name: 'canary_taken_back',
  order: 44,
  runbook: 'canary-taken-back',
  find({ host, t }) {
    const { id, end } = findRecentlyRolledBack(host) ?? {};
    if (id === undefined || end === undefined) return [];
    const text = readEmphasis(t('operator.canary_state.worse', { number: id }));
    return [
      {
        severity: 'bad',
        title: t('operator.canary'),
        pieces: [...text, { text: inBrackets(t(end.reason)) }],
        since: end.at,
        step: { path: '/operator/configuration/canary' },
      },
    ];
  },
};
