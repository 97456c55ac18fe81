import { currencySection, selectLabel, plansSection } from '#core/business/accounts/plans.ts';
import type { SoldOutPlans } from '#core/business/payments/places.ts';
import { planTicks } from '#core/web/pages/geometry.ts';
import type { PageRequest, Localizer } from '#core/web/pages/page.ts';

/**
 * Describes the plans in gateway.yaml as cards.
 *
 * @param isForSale true if the plans can be bought here
 * @param soldOut plans that this reader cannot buy because they are sold out
 * @param hasNotice true if a notice above the cards says that all plans are sold out
 */
export function describePlans(
  { host, t, format, language }: PageRequest,
  isForSale: boolean,
  soldOut: SoldOutPlans,
  hasNotice = false,
) {
  const currency = host.section(currencySection);
  const describeOffer = (days: number) => {
    const reason = isForSale ? soldOut.get(days) : undefined;
    if (reason === undefined) return {};
    const buy = t('landing.wait');
    return hasNotice
      ? { buy }
      : { soldOut: t('landing.sold_out'), freeAt: formatFreeAt(reason.freeAt, { t, format }), buy };
  };
  return host.section(plansSection).map(({ days, price, label, recommended = false }) => ({
    days: format.number(days),
    unit: t('landing.days', { count: days }),
    label: selectLabel(language, label) ?? '',
    path: `/buy?days=${days}`,
    buy: isForSale ? t('landing.buy', { count: days }) : '',
    price: format.money(price, currency),
    perDay: t('landing.per_day', { price: format.money(Math.round(price / days), currency) }),
    ticks: planTicks(days),
    isRecommended: recommended,
    ...describeOffer(days),
  }));
}

function formatFreeAt(freeAt: number | undefined, { t, format }: Localizer): string {
  return freeAt === undefined ? '' : t('landing.free_at', { time: format.time(new Date(freeAt)).text });
}

/**
 * Describes the notice that all plans are sold out, with the earliest time at which a place becomes free. Undefined if a plan is available.
 */
export function describeSoldOut(request: PageRequest, soldOut: SoldOutPlans) {
  const reasons = request.host.section(plansSection).map(({ days }) => soldOut.get(days));
  if (reasons.length === 0 || reasons.includes(undefined)) return undefined;
  const freeTimes = reasons.flatMap((reason) => reason?.freeAt ?? []);
  const freeAt = freeTimes.length === 0 ? undefined : Math.min(...freeTimes);
  return { kind: 'warn', title: request.t('landing.sold_out'), text: formatFreeAt(freeAt, request) } as const;
}

/** Describes the facts below the buttons. */
export function describeFacts({ host, t, format }: PageRequest, isSoldOut: boolean): string[] {
  const prices = host.section(plansSection).map(({ price }) => price);
  const price = format.money(Math.min(...prices), host.section(currencySection));
  const soon = isSoldOut ? [] : [t('landing.active_soon')];
  return [t('landing.from', { price }), ...soon, t('landing.no_card')];
}

/** Describes the lengths of the plans, such as `1, 3, 7 or 30`. The count determines the plural after the last one. */
export function describeDays({ host, language }: PageRequest): { readonly days: string; readonly count: number } {
  const planDays = host.section(plansSection).map((plan) => plan.days);
  const days = new Intl.ListFormat(language === 'en' ? 'en-GB' : language, { type: 'disjunction' }).format(
    planDays.map(String),
  );
  return { days, count: planDays.at(-1) ?? 0 };
}

/** Describes how plans differ apart from their length. A weight is not a limit; it matters only when an upstream is full. */
export function describeDifferences({ host, t }: PageRequest): string {
  const planLimits = host.section(plansSection).map(({ limits = {} }) => limits);
  const entries = planLimits.map((limits) => Object.entries({ ...limits, weight: 1 }).toSorted());
  if (!areEqual(entries)) return t('landing.plans_lead_limits');
  return t(areEqual(planLimits.map(({ weight = 1 }) => weight)) ? 'landing.plans_lead' : 'landing.plans_lead_weight');
}

function areEqual(values: readonly unknown[]): boolean {
  return new Set(values.map((value) => JSON.stringify(value))).size <= 1;
}
