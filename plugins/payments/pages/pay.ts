import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { cancelOrder, checkOrderAsBuyer, renewCharge } from '#core/business/payments/checkout.ts';
import { isOpenView, readOrderView } from '#core/business/payments/order-view.ts';
import type { Order } from '#core/business/payments/order.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { defineForm, type Page, type PageForm, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { describePay, describeState } from './describe-pay.ts';
import { describeRetry, readOwnOrder, getOrderPath } from './order-view.ts';

const refreshIntervalSeconds = 10; // without JavaScript, while an order is waiting

export const payPage: Page = {
  path: '/orders/{code}',
  role: 'account',
  layout: 'plain',
  title: 'payments.pay.title',
  note: 'payments.order_number',
  template: 'payments/pay.eta',
  styles: ['payments/payments.css'],
  scripts: ['payments/payments.js'],
  live: {
    topics: ['orders'],
    // Needed because neither a notification under review nor the passing of the deadline changes the order.
    everySeconds: 3,
    parts: { state: 'payments/state.eta' },
    async values(request) {
      const order = await readOwnOrder(request);
      const view = await readOrderView(order, request.host.database);
      return view === 'paid' || view === 'refunded'
        ? new Redirect(getOrderPath(order))
        : { view, state: describeState(order, view, request) };
    },
  },
  async show(request) {
    const order = await readOwnOrder(request);
    const view = await readOrderView(order, request.host.database);
    if (view === 'paid' || view === 'refunded') return new Redirect(getOrderPath(order));
    const refresh = isOpenView(view) ? { refreshSeconds: refreshIntervalSeconds } : {};
    return { ...(await describePay(order, view, request)), ...refresh };
  },
  forms: [
    defineAction('check', ({ id }, { host }) => checkOrderAsBuyer(host, id), '?checked=1'),
    defineAction('charge', ({ id }, { host, address }) => renewCharge(host, id, address)),
  ],
};

/** Asks first, because the buyer may be paying at this moment. */
export const cancelPage: Page = {
  path: '/orders/{code}/cancel',
  role: 'account',
  layout: 'plain',
  title: 'payments.cancel.title',
  note: 'payments.order_number',
  template: 'payments/cancel.eta',
  async show(request) {
    const order = await readOwnOrder(request);
    const view = await readOrderView(order, request.host.database);
    if (view !== 'waiting' && view !== 'preparing') return new Redirect(getOrderPath(order));
    return { code: order.code };
  },
  forms: [defineAction('cancel', ({ id }, { host }) => cancelOrder(host, id))],
};

/** @param query appended to the next page's path, unless the order has been paid by then */
function defineAction(
  name: string,
  change: (order: Order, request: PageRequest) => Promise<Order>,
  query = '',
): PageForm {
  return defineForm({
    path: `/orders/{code}/${name}`,
    fields: { type: 'object' },
    async submit(_input, request) {
      const order = await readOwnOrder(request);
      try {
        const path = getOrderPath(await change(order, request));
        return new Redirect(path.endsWith('/done') ? path : path + query);
      } catch (error) {
        throw error instanceof CheckoutError ? toPageError(error, order, request) : error;
      }
    },
  });
}

function toPageError(error: CheckoutError, { code, days, isGift }: Order, request: PageRequest): PageError {
  const orderLink = { path: `/orders/${code}`, label: 'payments.pay.open_again' };
  const ordersLink = { path: '/orders', label: 'payments.pay.your_orders' };
  switch (error.kind) {
    case 'not_open':
      return new PageError(409, 'payments.pay.not_open', { action: orderLink });
    case 'too_many_charges':
      return new PageError(429, 'payments.pay.too_many_charges', {
        action: orderLink,
        values: describeRetry(error, request),
      });
    case 'too_many_orders':
      return new PageError(409, 'payments.pay.too_many_orders', {
        action: ordersLink,
        values: describeRetry(error, request),
      });
    case 'too_many_days':
      return new PageError(409, 'payments.pay.too_many_days', { action: ordersLink });
    case 'sold_out':
      return new PageError(409, isGift ? 'payments.pay.sold_out_gift' : 'payments.pay.sold_out', {
        action: { path: `/buy?days=${days}${isGift ? '&gift=1' : ''}`, label: 'payments.pay.choose_plan' },
      });
    default:
      return new PageError(409, 'payments.pay.changed', {
        action: { path: '/buy', label: 'payments.pay.choose_plan' },
      });
  }
}
