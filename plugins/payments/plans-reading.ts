import { currencySection, plansSection } from '#core/business/accounts/plans.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';

export const plansReading: OperatorReading = {
  path: '/plans',
  summary: 'list the plans for sale',
  async read({ section }) {
    const currency = section(currencySection);
    return { currency, plans: section(plansSection).map((plan) => ({ ...plan, currency })) };
  },
};
