import { plansSection } from '#core/business/accounts/plans.ts';
import { readTypedAmount } from '#core/business/payments/amount.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { type Earning, computeEarnedAtPrice, computeEarned } from './earnings.ts';
import { fromSmallestUnit, toSmallestUnit } from './exact-money.ts';
import type { Margins } from './margins.ts';
import { formatExactMoney } from './usage-costs.ts';

const maxPrice = 999_999_999_999;

/** Prices are in the unit of gateway.yaml. */
export function describeOtherPrices({ earnings, span, currency }: Margins, by: string, request: PageRequest) {
  const { host, t, format } = request;
  const planPrices = new Map(host.section(plansSection).map(({ days, price }) => [String(days), price]));
  const money = (value: bigint) => formatExactMoney(value, request);
  const plans = [...Map.groupBy(earnings, ({ plan }) => plan)].toSorted(
    ([first], [second]) => Number(first) - Number(second),
  );
  const rows = plans.map(([plan, group]) => {
    const price = readRequestedPrice(request, plan) ?? planPrices.get(plan) ?? findLastPrice(group, currency);
    const earned = group.reduce((sum, earning) => sum + computeEarned(earning, span), 0n);
    const exactPrice = fromSmallestUnit(price, currency);
    const otherEarned = group.reduce((sum, earning) => sum + computeEarnedAtPrice(earning, exactPrice, span), 0n);
    return {
      name: formatPlanName(plan, t),
      field: `price_${plan}`,
      price,
      passes: t('margins.passes', { count: group.length }),
      earned: money(earned),
      other: money(otherEarned),
      earnedValue: earned,
      otherValue: otherEarned,
    };
  });
  const total = (name: 'earnedValue' | 'otherValue') => money(rows.reduce((sum, row) => sum + row[name], 0n));
  return {
    by,
    rows,
    total: t('margins.other_total', { earned: total('earnedValue'), other: total('otherValue') }),
    hint: t('margins.other_hint', { example: format.money(1, currency) }),
  };
}

function readRequestedPrice({ query }: PageRequest, plan: string): number | undefined {
  const price = readTypedAmount(query[`price_${plan}`] ?? '') ?? 0;
  return price > 0 && price <= maxPrice ? price : undefined;
}

function findLastPrice(earnings: readonly Earning[], currency: string): number {
  return toSmallestUnit(earnings.at(-1)?.price ?? 0n, currency);
}

export function formatPlanName(plan: string, t: PageRequest['t']): string {
  return plan === 'given' ? t('margins.given') : t('margins.plan', { count: Number(plan) });
}
