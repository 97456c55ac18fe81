import { currencySection, selectLabel, plansSection } from '#core/business/accounts/plans.ts';
import type { SoldOutPlans } from '#core/business/payments/places.ts';
import { planTicks } from '#core/web/pages/geometry.ts';
import type { PageRequest, Localizer } from '#core/web/pages/page.ts';

export function describePlans(
  { host, t, format, language }: PageRequest,
  isForSale: boolean,
  soldOut: SoldOutPlans,
  hasSoldOutNotice = false,
) {
  const currency = host.section(currencySection);
  const describeOffer = (days: number) => {
    const reason = isForSale ? soldOut.get(days) : undefined;
    if (reason === undefined) return {};
    const buy = t('landing.wait');
    return hasSoldOutNotice
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

/** Returns undefined if a plan is available. */
export function describeSoldOutNotice(request: PageRequest, soldOut: SoldOutPlans) {
  const reasons = request.host.section(plansSection).map(({ days }) => soldOut.get(days));
  if (reasons.length === 0 || reasons.includes(undefined)) return undefined;
  const freeTimes = reasons.flatMap((reason) => reason?.freeAt ?? []);
  const freeAt = freeTimes.length === 0 ? undefined : Math.min(...freeTimes);
  return { kind: 'warn', title: request.t('landing.sold_out'), text: formatFreeAt(freeAt, request) } as const;
}

export function describeFacts({ host, t, format }: PageRequest, isSoldOut: boolean): string[] {
  const prices = host.section(plansSection).map(({ price }) => price);
  const price = format.money(Math.min(...prices), host.section(currencySection));
  const soon = isSoldOut ? [] : [t('landing.active_soon')];
  return [t('landing.from', { price }), ...soon, t('landing.no_card')];
}

/** `count` is the last length, which determines its plural form. */
export function describeDays({ host, language }: PageRequest): { readonly days: string; readonly count: number } {
  const planDays = host.section(plansSection).map((plan) => plan.days);
  const days = new Intl.ListFormat(language === 'en' ? 'en-GB' : language, { type: 'disjunction' }).format(
    planDays.map(String),
  );
  return { days, count: planDays.at(-1) ?? 0 };
}

/** A weight is not a limit; it matters only when an upstream is full. */
export function describeDifferences({ host, t }: PageRequest): string {
  const planLimits = host.section(plansSection).map(({ limits = {} }) => limits);
  const entries = planLimits.map((limits) => Object.entries({ ...limits, weight: 1 }).toSorted());
  if (!areEqual(entries)) return t('landing.plans_lead_limits');
  return t(areEqual(planLimits.map(({ weight = 1 }) => weight)) ? 'landing.plans_lead' : 'landing.plans_lead_weight');
}

function areEqual(values: readonly unknown[]): boolean {
  return new Set(values.map((value) => JSON.stringify(value))).size <= 1;
}
