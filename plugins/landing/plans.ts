import { currencySection, labelIn, plansSection } from '#core/business/accounts/plans.ts';
import { type FullLimits, soldOut } from '#core/business/sales/availability.ts';
import { planTicks } from '#core/web/pages/geometry.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

/**
 * The plans of gateway.yaml as cards.
 *
 * @param isForSale whether they can be bought here
 * @param held places of the reader, as `placesOf` returns them
 */
export function describePlans(
  { host, t, format, language }: PageRequest,
  isForSale: boolean,
  full: FullLimits,
  held: readonly (number | null)[],
) {
  const currency = host.section(currencySection);
  const describeSoldOut = (days: number) => {
    const reason = isForSale ? soldOut(full, days, held) : undefined;
    if (reason === undefined) return {};
    const { freeAt } = reason;
    const isKnown = freeAt !== undefined;
    return {
      soldOut: t('landing.sold_out'),
      freeAt: isKnown ? t('landing.free_at', { time: format.shortDay(new Date(freeAt)).text }) : '',
      buy: t('landing.wait'),
    };
  };
  return host.section(plansSection).map(({ days, price, label, recommended = false }) => ({
    days: format.number(days),
    unit: t('landing.days', { count: days }),
    label: labelIn(language, label) ?? '',
    path: `/buy?days=${days}`,
    buy: isForSale ? t('landing.buy', { count: days }) : '',
    price: format.money(price, currency),
    perDay: t('landing.per_day', { price: format.money(Math.round(price / days), currency) }),
    ticks: planTicks(days),
    isRecommended: recommended,
    ...describeSoldOut(days),
  }));
}

/** Facts under the buttons, each true for this configuration. */
export function describeFacts({ host, t, format }: PageRequest): string[] {
  const prices = host.section(plansSection).map(({ price }) => price);
  const price = format.money(Math.min(...prices), host.section(currencySection));
  return [t('landing.from', { price }), t('landing.active_soon'), t('landing.no_card')];
}

/** `1, 3, 7 or 30`. */
export function listDays({ host, language }: PageRequest): string {
  const days = host.section(plansSection).map((plan) => String(plan.days));
  return new Intl.ListFormat(language === 'en' ? 'en-GB' : language, { type: 'disjunction' }).format(days);
}

/** False where a plan has limits: then plans differ in more than their time. */
export function haveEqualLimits({ host }: PageRequest): boolean {
  return host.section(plansSection).every(({ limits }) => limits === undefined);
}
