import { inBrackets, type ProblemKind, readEmphasis, shorten } from '#core/web/problems/problem.ts';
import { canaryTakenBack, configLoadState } from './load-state.ts';

/** gateway.yaml has mistakes, and the version before it serves. */
const refused: ProblemKind = {
  name: 'config_refused',
  order: 40,
  runbook: 'config-refused',
  find({ host, t }) {
    const { refusal } = configLoadState(host);
    if (refusal === undefined) return [];
    const reason = { text: shorten(refusal.reason), isEnglish: true };
    return [
      {
        severity: 'bad',
        title: t('operator.configuration_refused'),
        pieces: [...readEmphasis(t('problem.config_refused')), { text: ' ' }, reason],
        since: new Date(refusal.at),
        step: { path: '/operator/health', label: t('operator.refusal') },
      },
    ];
  },
};

/** An operator has taken a change back, or a canary serves everybody, and gateway.yaml is behind. */
const rolledBack: ProblemKind = {
  name: 'config_rolled_back',
  order: 42,
  find({ host, t }) {
    const { rollback } = configLoadState(host);
    if (rollback === undefined) return [];
    const { createdAt, operator, configurationId: number, note = '', canary } = rollback;
    const [title, text] =
      canary === undefined
        ? [t('operator.configuration_taken_back'), t('problem.rolled_back', { number })]
        : [t('operator.configuration_behind'), t('problem.canary_full', { number, canary })];
    const who = note === '' ? operator : `${operator}: ${note}`;
    return [
      {
        severity: 'warn',
        title,
        pieces: [...readEmphasis(text), { text: inBrackets(who), isPersonal: true }],
        since: createdAt,
        step: { path: '/operator/health' },
      },
    ];
  },
};

/** A canary was taken back by itself, within a day. */
const canaryWorse: ProblemKind = {
  name: 'canary_taken_back',
  order: 44,
  runbook: 'canary-taken-back',
  find({ host, t }) {
    const { id, end } = canaryTakenBack(configLoadState(host), host.now()) ?? {};
    if (id === undefined || end === undefined) return [];
    const text = readEmphasis(t('operator.canary_state.worse', { number: id }));
    return [
      {
        severity: 'bad',
        title: t('operator.canary'),
        pieces: [...text, { text: inBrackets(t(end.reason)) }],
        since: end.at,
        step: { path: '/operator/configuration' },
      },
    ];
  },
};

export const configProblems = [refused, rolledBack, canaryWorse];
