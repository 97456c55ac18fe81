import { orderStates } from '#core/business/payments/order-types.ts';
import type { Registry } from '#core/extension/registry.ts';
import { linksWithin } from '#core/web/pages/list-navigation.ts';
import type { Page } from '#core/web/pages/page.ts';
import { listPage } from '#core/web/resources/list-page.ts';
import { orders } from '#core/web/resources/orders.ts';

const path = '/operator/orders';

/** `/operator/orders`: search by order, buyer, money and state, newest first; for a single day, orders with problems come first. */
export const ordersPage = (gateway: Pick<Registry, 'pages'>): Page =>
  listPage(orders, {
    path,
    title: 'operator.orders',
    navigation: { icon: 'receipt', order: 20 },
    choices: ['flagged', ...orderStates],
    texts: 'operator.order_state',
    choose: (choice) => (choice === 'flagged' ? { flagged: true } : { state: choice }),
    search: 'operator.orders_search',
    none: ['operator.orders_none', 'operator.orders_none_text'],
    day: 'operator.orders_day',
    links: (t, host) => [
      ...linksWithin(gateway, path, t, host),
      { path: '/operator/flags', label: t('operator.flags_open') },
    ],
  });
