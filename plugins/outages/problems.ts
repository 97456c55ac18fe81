import { type ProblemKind, readEmphasis } from '#core/web/problems/problem.ts';
import { listOutages, waitingCondition } from './credit.ts';
import { outagesSection } from './section.ts';

const maxOutages = 5;

/** Until the first approval all outages wait for an operator, then only unconfirmed ones. */
export const waitingOutages: ProblemKind = {
  name: 'outage',
  order: 80,
  precondition: `EXISTS (SELECT FROM outage o WHERE ${waitingCondition})`,
  async find({ host, t }) {
    if (!host.section(outagesSection).credit) return [];
    const outages = await listOutages(host.database, maxOutages, 'unapproved');
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
