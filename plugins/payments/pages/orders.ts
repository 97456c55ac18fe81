import { type OrderView, determineOrderView } from '#core/business/payments/order-view.ts';
import { listOrders, type Order } from '#core/business/payments/order.ts';
import type { IconName } from '#core/web/pages/icons.ts';
import { accountOf, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { formatPlan } from './gift.ts';
import { getOrderPath } from './order-view.ts';

const pageSize = 25;

export const ordersPage: Page = {
  path: '/orders',
  role: 'account',
  title: 'payments.orders.title',
  navigation: { label: 'payments.orders.title', icon: 'receipt', order: 50 },
  template: 'payments/orders.eta',
  styles: ['payments/payments.css'],
  async show(request) {
    const { host, query } = request;
    const filter = { accountId: accountOf(request).id };
    const { orders, next } = await listOrders(host.database, filter, query['after'], pageSize);
    return {
      orders: orders.map((order) => describeOrder(order, request)),
      next: next ?? '',
      isFirst: !('after' in query),
    };
  },
};

const stateIcons: Readonly<Record<OrderView, IconName>> = {
  preparing: 'waiting',
  waiting: 'clock',
  seen: 'clock',
  expired: 'close',
  cancelled: 'close',
  failed: 'bad',
  wrong: 'bad',
  decided: 'info',
  paid: 'ok',
  refunded: 'back',
};

function describeOrder(order: Order, request: PageRequest) {
  const { code, createdAt, price, currency } = order;
  const view = determineOrderView(order);
  return {
    code,
    path: getOrderPath(order),
    canPay: view === 'waiting' || view === 'preparing',
    hasReceipt: view === 'paid' || view === 'refunded',
    date: request.format.dayTime(createdAt, order.readAt),
    plan: formatPlan(order, request),
    price: request.format.money(price, currency),
    state: { kind: stateIcons[view], text: request.t(`payments.state.${view}`) },
  };
}
