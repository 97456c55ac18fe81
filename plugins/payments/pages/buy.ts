import { readAccounts } from '#core/business/accounts/account-record.ts';
import { currencySection, selectLabel, type PlanLabel, plansSection } from '#core/business/accounts/plans.ts';
import { sendsMail } from '#core/business/mail/section.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { quotePlan, startOrder } from '#core/business/payments/checkout.ts';
import { getConfiguredProvider } from '#core/business/payments/connections.ts';
import { giftSteps, sellsGifts } from '#core/business/payments/gifts.ts';
import { determineOrderView } from '#core/business/payments/order-view.ts';
import { listOrders } from '#core/business/payments/order.ts';
import { type PlaceSteps, placeSteps, readSoldOut, type SoldOutPlans } from '#core/business/payments/places.ts';
import { integer, object } from '#core/platform/schema.ts';
import { planTicks } from '#core/web/pages/geometry.ts';
import { accountOf, defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { createFieldsSchema, describeSteps, type CheckoutSteps, submitSteps } from './checkout-steps.ts';
import { formatPlan } from './gift.ts';
import { formatDays, describeRetry } from './order-view.ts';

const maxRecentOrders = 10;

const pageFields = object(['days'], { days: integer({ minimum: 1 }), wait: { const: '1' }, gift: { const: '1' } });

const createBuyForm = (steps: CheckoutSteps) =>
  defineForm({
    // Evaluated on submit, because plugins register their steps later.
    get fields() {
      return createFieldsSchema(pageFields, steps);
    },
    async submit({ days, wait, gift, ...stepFields }, request) {
      try {
        if (wait !== undefined) return await joinWaitingList(days, request);
        // The price comes from gateway.yaml, never from the form.
        const { code } = await startOrder(request.host, accountOf(request).id, days, {
          address: request.address,
          isGift: gift !== undefined,
          record: await submitSteps(steps, stepFields, request),
        });
        return new Redirect(`/orders/${code}`);
      } catch (error) {
        if (!(error instanceof CheckoutError)) throw error;
        const isSoldOut = gift !== undefined && error.kind === 'sold_out';
        throw new FieldErrors(
          { days: isSoldOut ? 'payments.buy.sold_out_gift' : selectErrorText(error) },
          describeRetry(error, request),
        );
      }
    },
  });

async function joinWaitingList(days: number, request: PageRequest): Promise<Redirect> {
  const { host } = request;
  if (!host.section(plansSection).some((plan) => plan.days === days))
    throw new FieldErrors({ days: 'payments.buy.plan_gone' });
  await (await loadPlaceSteps(host))?.joinWaitingList(host, accountOf(request).id, days);
  return new Redirect(`/buy?days=${days}`);
}

const loadPlaceSteps = async ({ database }: PageRequest['host']) => placeSteps.findLoader(database.fork())?.();

const leaveForm = defineForm({
  path: '/buy/leave',
  fields: { type: 'object' },
  async submit(_input, request) {
    await (await loadPlaceSteps(request.host))?.leaveWaitingList(request.host, accountOf(request).id);
    return new Redirect('/buy');
  },
});

function selectErrorText(error: CheckoutError): string {
  const texts: Partial<Record<CheckoutError['kind'], string>> = {
    unknown_plan: 'payments.buy.plan_gone',
    no_gifts: 'payments.buy.no_gifts',
    plan_changed: 'payments.buy.plan_gone',
    too_many_days: 'payments.buy.too_many_days',
    too_many_orders: 'payments.buy.too_many_orders',
    too_many_charges: 'payments.buy.too_many_charges',
    sold_out: 'payments.buy.sold_out_now',
    blocked: 'payments.buy.blocked',
    no_provider: 'payments.buy.no_provider',
  };
  const text = texts[error.kind];
  // Failures that the buyer cannot resolve become error pages.
  if (text === undefined) throw error;
  return text;
}

export const createBuyPage = ({ checkoutSteps: steps }: { readonly checkoutSteps: CheckoutSteps }): Page => ({
  path: '/buy',
  role: 'account',
  title: 'payments.buy.title',
  layout: 'plain',
  navigation: { label: 'payments.buy.navigation', icon: 'ticket', order: 10, place: 'menu' },
  template: 'payments/buy.eta',
  styles: ['payments/payments.css'],
  async show(request) {
    const plans = request.host.section(plansSection);
    const chosenDays = chooseDays(
      plans.map(({ days }) => days),
      request,
    );
    const isGift = isGiftRequested(request);
    const isActive = await hasRemainingTime(request);
    const places = await readPlaces(request, isGift);
    const { t, host } = request;
    const { database } = host;
    const isSandbox = getConfiguredProvider(host)?.isSandbox === true;
    const note = t(isSandbox ? 'payments.buy.note_sandbox' : 'payments.buy.note');
    const codes = await giftSteps.findLoader(database.fork())?.();
    return {
      plans: await Promise.all(
        plans.map((plan) => describePlan(plan, plan.days === chosenDays, { isActive, isGift }, places, request)),
      ),
      wait: describeWait(places.wait, request),
      ways: describeWays(isGift, chosenDays, request),
      way: isGift ? 'gift' : '',
      keepsKey: isActive && !isGift,
      openOrder: await findOpenOrder(request),
      note: isGift ? `${t('payments.buy.gift_note')} ${note}` : note,
      canRedeem: (await codes?.hasOpenCodes(database)) === true,
      steps: await describeSteps(steps, request),
    };
  },
  forms: [createBuyForm(steps), leaveForm],
});

function isGiftRequested({ host, query, form }: PageRequest): boolean {
  // A link chooses a gift, so that the page needs no script.
  return sellsGifts(host) && (form.values['gift'] ?? query['gift']) === '1';
}

function describeWays(isGift: boolean, days: number | undefined, { host, t }: PageRequest) {
  if (!sellsGifts(host)) return [];
  return [
    { path: `/buy?days=${days}`, label: t('payments.buy.for_me'), isCurrent: !isGift },
    { path: `/buy?days=${days}&gift=1`, label: t('payments.buy.as_gift'), isCurrent: isGift },
  ];
}

interface Places {
  readonly soldOut: SoldOutPlans;
  readonly wait: Awaited<ReturnType<PlaceSteps['findWait']>>;
}

async function readPlaces(request: PageRequest, isGift: boolean): Promise<Places> {
  const { host } = request;
  const { id } = accountOf(request);
  // A gift never renews a pass, so it is treated like a visitor's order.
  if (isGift) return { soldOut: await readSoldOut(host, undefined), wait: undefined };
  const [soldOut, wait] = await Promise.all([
    readSoldOut(host, id),
    loadPlaceSteps(host).then((places) => places?.findWait(host, id)),
  ]);
  return { soldOut, wait };
}

function describeWait(wait: Places['wait'], request: PageRequest) {
  const { t, format, host } = request;
  if (wait === undefined || wait.isOrdered) return undefined;
  const name = formatDays(wait.days, request);
  const { reservedUntil, position, reserveMinutes } = wait;
  if (reservedUntil !== undefined) {
    const title = t('payments.buy.reserved', { time: format.time(reservedUntil).text });
    return { kind: 'ok', title, text: t('payments.buy.reserved_more'), leave: t('payments.buy.give_up') };
  }
  return {
    kind: 'info',
    title: t('payments.buy.wait_position', { position: format.number(position), days: name }),
    text: t(sendsMail(host.section) ? 'payments.buy.wait_more' : 'payments.buy.wait_no_mail', {
      time: formatHours(reserveMinutes, request),
    }),
    leave: t('payments.buy.leave'),
  };
}

function formatHours(minutes: number, { t }: Pick<PageRequest, 't'>): string {
  return minutes % 60 === 0
    ? t('payments.buy.hours', { count: minutes / 60 })
    : t('payments.buy.minutes', { count: minutes });
}

function chooseDays(offered: readonly number[], { query, form }: PageRequest): number | undefined {
  const requestedDays = Number(form.values['days'] ?? query['days']);
  return offered.includes(requestedDays) ? requestedDays : offered[Math.floor(offered.length / 2)];
}

async function describePlan(
  { days, price, label }: { readonly days: number; readonly price: number; readonly label?: PlanLabel | undefined },
  isChosen: boolean,
  buyer: { readonly isActive: boolean; readonly isGift: boolean },
  places: Places,
  request: PageRequest,
) {
  const { t, format, host } = request;
  const currency = host.section(currencySection);
  const total = format.money(price, currency);
  return {
    days,
    isChosen,
    label: selectLabel(request.language, label) ?? '',
    total,
    number: format.number(days),
    unit: t('payments.buy.days', { count: days }),
    name: formatDays(days, request),
    perDay: t('payments.buy.per_day', { price: format.money(Math.round(price / days), currency) }),
    pay: t('payments.buy.pay', { price: total }),
    ticks: planTicks(days),
    soldOut: describeSoldOut(days, places, buyer.isGift, request),
    ...(await describeAccessPeriod(days, buyer, request)),
  };
}

function describeSoldOut(days: number, { soldOut, wait }: Places, isGift: boolean, { t, format }: PageRequest) {
  const reason = soldOut.get(days);
  if (reason === undefined) return undefined;
  const { freeAt } = reason;
  return {
    title: t('payments.buy.sold_out'),
    text: freeAt === undefined ? '' : t('payments.buy.free_at', { time: format.time(new Date(freeAt)).text }),
    join: wait === undefined && !isGift ? t('payments.buy.join') : '',
  };
}

async function describeAccessPeriod(
  days: number,
  { isActive, isGift }: { readonly isActive: boolean; readonly isGift: boolean },
  request: PageRequest,
) {
  const { t, format, host } = request;
  try {
    const { startsAt, endsAt } = await quotePlan(host, accountOf(request).id, days);
    if (isGift)
      return { starts: t('payments.buy.starts_gift'), ends: t('payments.buy.ends_gift', { count: days }), problem: '' };
    if (!isActive) {
      return { starts: t('payments.buy.starts_now'), ends: t('payments.buy.ends_later', { count: days }), problem: '' };
    }
    const starts = t('payments.buy.starts_later', { time: format.dayTime(startsAt, host.now()).text });
    return { starts, ends: format.dayTime(endsAt, host.now()).text, problem: '' };
  } catch (error) {
    if (!(error instanceof CheckoutError)) throw error;
    return { starts: '', ends: '', problem: t(selectErrorText(error)) };
  }
}

async function hasRemainingTime(request: PageRequest): Promise<boolean> {
  const [account] = await readAccounts(request.host.database, 'id', [accountOf(request).id]);
  return account?.periods.some(({ endsAt }) => endsAt.getTime() > account.readAt) === true;
}

async function findOpenOrder(request: PageRequest) {
  const { host, t, format } = request;
  const { orders } = await listOrders(host.database, { accountId: accountOf(request).id }, undefined, maxRecentOrders);
  const openOrder = orders.find((order) => ['waiting', 'preparing'].includes(determineOrderView(order)));
  if (openOrder === undefined) return undefined;
  const { code, price, currency } = openOrder;
  return {
    path: `/orders/${code}`,
    text: t('payments.buy.open_order_more', {
      days: formatPlan(openOrder, request),
      price: format.money(price, currency),
    }),
    action: t('payments.buy.continue', { code }),
  };
}
