import { createVariantName } from '#core/config/history/history.ts';
import { inBrackets, type ProblemKind, readEmphasis, shorten } from '#core/web/problems/problem.ts';
import { getConfigLoadState } from './load-state.ts';

const refusedProblem: ProblemKind = {
  name: 'config_refused',
  order: 40,
  runbook: 'config-refused',
  find({ host, t }) {
    const { refusal } = getConfigLoadState(host);
    if (refusal === undefined) return [];
    const reason = { text: shorten(refusal.reason), isEnglish: true };
    return [
      {
        severity: 'bad',
        title: t('operator.configuration_refused'),
        pieces: [...readEmphasis(t('problem.config_refused')), { text: ' ' }, reason],
        since: new Date(refusal.refusedAt),
        step: { path: '/operator/health', label: t('operator.refusal') },
      },
    ];
  },
};

const rolledBackProblem: ProblemKind = {
  name: 'config_rolled_back',
  order: 42,
  find({ host, t }) {
    const { rollback } = getConfigLoadState(host);
    if (rollback === undefined) return [];
    const { createdAt, operator, configurationId: number, note = '', variant } = rollback;
    const [title, text] =
      variant === undefined
        ? [t('operator.configuration_taken_back'), t('problem.rolled_back', { number })]
        : [
            t('operator.configuration_behind'),
            t('problem.variant_full', { number, variant: createVariantName(variant) }),
          ];
    const author = note === '' ? operator : `${operator}: ${note}`;
    return [
      {
        severity: 'warn',
        title,
        pieces: [...readEmphasis(text), { text: inBrackets(author), isPersonal: true }],
        since: createdAt,
        step: { path: '/operator/health' },
      },
    ];
  },
};

export const configProblems = [refusedProblem, rolledBackProblem];
