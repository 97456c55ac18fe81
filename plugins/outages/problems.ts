import { type ProblemKind, readEmphasis } from '#core/web/problems/problem.ts';
import { listOutages, waiting } from './credit.ts';
import { outagesSection } from './section.ts';

/** Outages that are looked at. */
const listed = 5;

/** Outages whose time waits for an operator: all found until some was given back, and later those that nothing confirms. */
export const waitingOutages: ProblemKind = {
  name: 'outage',
  order: 80,
  precondition: `EXISTS (SELECT FROM outage o WHERE ${waiting})`,
  async find({ host, t }) {
    if (!host.section(outagesSection).credit) return [];
    const outages = await listOutages(host.database, listed, 'asked');
    return outages.map(({ model, from, until }) => {
      const minutes = t('operator.credit_minutes', { count: Math.round((+until - +from) / 60_000) });
      return {
        severity: 'warn',
        title: t('outage.problem'),
        subject: model,
        pieces: readEmphasis(t('outage.problem.text', { model, minutes })),
        since: until,
        step: {
          path: '/operator/accounts/outage',
          text: t('outage.problem.step'),
          label: t('outage.problem.label', { model }),
        },
      };
    });
  },
};
