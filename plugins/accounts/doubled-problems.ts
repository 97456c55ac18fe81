import { findDoubledAddresses, mayBeDoubled } from '#core/business/accounts/doubled-addresses.ts';
import type { ProblemKind } from '#core/web/problems/problem.ts';

/** Accounts that share an address, which only an operator can resolve. */
export const doubledAddresses: ProblemKind = {
  name: 'doubled_address',
  order: 100,
  precondition: mayBeDoubled,
  async find({ host, t }) {
    const doubled = await findDoubledAddresses(host.database);
    return doubled.map(({ ids }) => ({
      severity: 'warn',
      title: t('accounts.doubled'),
      pieces: [
        { text: t('accounts.doubled.text') },
        ...ids.flatMap((id, index) => [
          { text: index === 0 ? ' ' : ', ' },
          { text: id, path: `/operator/accounts/${id}` },
        ]),
      ],
      step: {
        path: `/operator/accounts/${ids.at(-1)}`,
        text: t('accounts.doubled.step'),
        label: t('accounts.doubled.label'),
      },
    }));
  },
};
