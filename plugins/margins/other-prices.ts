import { plansSection } from '#core/business/accounts/plans.ts';
import { type Earning, earnedAt, earnedIn } from './earnings.ts';
import { fromSmallest, toSmallest } from './exact-money.ts';
import type { Margins } from './margins.ts';
import { readTypedAmount } from '#core/business/payments/amount.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { formatExact } from './beside-use.ts';

const maxPrice = 999_999_999_999;

/** Earnings of a span's plans at other prices for the same sales; prices are in the unit of gateway.yaml. */
export function describeOtherPrices({ earnings, span, currency }: Margins, by: string, request: PageRequest) {
  const { host, t, format } = request;
  const sold = new Map(host.section(plansSection).map(({ days, price }) => [String(days), price]));
  const money = (value: bigint) => formatExact(value, request);
  const plans = [...Map.groupBy(earnings, ({ plan }) => plan)].toSorted(
    ([one], [other]) => Number(one) - Number(other),
  );
  const rows = plans.map(([plan, some]) => {
    const price = askedPrice(request, plan) ?? sold.get(plan) ?? lastPrice(some, currency);
    const earned = some.reduce((sum, one) => sum + earnedIn(one, span), 0n);
    const other = some.reduce((sum, one) => sum + earnedAt(one, fromSmallest(price, currency), span), 0n);
    return {
      name: planName(plan, t),
      field: `price_${plan}`,
      price,
      passes: t('margins.passes', { count: some.length }),
      earned: money(earned),
      other: money(other),
      earnedValue: earned,
      otherValue: other,
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

/** Undefined for an invalid price. */
function askedPrice({ query }: PageRequest, plan: string): number | undefined {
  const price = readTypedAmount(query[`price_${plan}`] ?? '') ?? 0;
  return price > 0 && price <= maxPrice ? price : undefined;
}

function lastPrice(earnings: readonly Earning[], currency: string): number {
  return toSmallest(earnings.at(-1)?.price ?? 0n, currency);
}

export function planName(plan: string, t: PageRequest['t']): string {
  return plan === 'given' ? t('margins.given') : t('margins.plan', { count: Number(plan) });
}
