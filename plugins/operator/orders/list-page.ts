import { orderStates } from '#core/business/payments/order-types.ts';
import type { Registry } from '#core/extension/registry.ts';
import { listPage } from '#core/web/resources/list-page.ts';
import { orders } from '#core/web/resources/orders.ts';

/** On the list of a single day, orders with problems come first. */
export const createOrdersPage = (gateway: Pick<Registry, 'pages'>) =>
  listPage(gateway, orders, {
    path: '/operator/orders',
    title: 'operator.orders',
    navigation: { icon: 'receipt', order: 20 },
    choices: ['flagged', ...orderStates],
    texts: 'operator.order_state',
    choose: (choice) => (choice === 'flagged' ? { flagged: true } : { state: choice }),
    search: 'operator.orders_search',
    none: ['operator.orders_none', 'operator.orders_none_text'],
    day: 'operator.orders_day',
  });
