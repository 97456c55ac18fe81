import { currencySection } from '#core/business/accounts/plans.ts';
import { type ExactMoney, toSmallest } from '#core/business/margins/exact-money.ts';
import type { Margin } from '#core/business/margins/margins.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'host'>;

/** What use cost and left, for notes beside it: `cost Rp 40.000`; '' while it is not known. */
export function describeMoney(
  margin: Margin | undefined,
  reader: Reader,
): { readonly cost: string; readonly margin: string } {
  if (margin === undefined) return { cost: '', margin: '' };
  const { t } = reader;
  return {
    cost: t('operator.beside_cost', { amount: formatExact(margin.cost, reader) }),
    margin: t('operator.beside_margin', { amount: formatExact(margin.earned - margin.cost, reader) }),
  };
}

export function formatExact(money: ExactMoney, { format, host }: Pick<Reader, 'format' | 'host'>): string {
  const currency = host.section(currencySection);
  return format.money(toSmallest(money, currency), currency);
}
