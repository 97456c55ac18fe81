import { findDuplicateAddresses, indexMissingCondition } from '#core/business/accounts/duplicate-addresses.ts';
import type { ProblemKind } from '#core/web/problems/problem.ts';

export const duplicateAddresses: ProblemKind = {
  name: 'doubled_address',
  order: 100,
  precondition: indexMissingCondition,
  async find({ host, t }) {
    const duplicates = await findDuplicateAddresses(host.database);
    return duplicates.map(({ ids }) => ({
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
