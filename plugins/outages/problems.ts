import { type ProblemKind, readEmphasis } from '#core/web/problems/problem.ts';
import { listOutages, waiting } from './credit.ts';
import { outagesSection } from './section.ts';

/** Maximum outages listed. */
const listed = 5;

/** Outages that wait for an operator: all until the first approval, later only unconfirmed ones. */
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
