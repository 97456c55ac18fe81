import type { Registry } from '#core/extension/registry.ts';
import { isDay } from '#core/platform/timing/time-zone.ts';
import { rangeOfDays } from '#core/platform/database/day-range.ts';
import { readAccountNames } from '#core/web/pages/account-name.ts';
import { linksWithin } from '#core/web/pages/list-navigation.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { listOrders, type Order, type OrderFilter, type OrderState } from '#core/business/payments/order.ts';
import { orderStates } from '#core/business/payments/order-types.ts';
import { severityOf } from '#core/business/payments/flags.ts';
import { describePlan } from '#core/business/payments/order-codes.ts';
import { type ColumnOf, describeTable, type TableCell, type TableSection } from '#core/web/pages/table.ts';

/** Filters of the list. */
const choices = ['flagged', ...orderStates] as const;

const pageSize = 50;
/** Characters of a search. */
const longestWords = 200;

/** `/operator/orders`: search by order, buyer, money and state, the newest first; of one day, what is wrong first. */
export const ordersPage = (gateway: Pick<Registry, 'pages'>): Page => ({
  path: '/operator/orders',
  role: 'operator',
  title: 'operator.orders',
  navigation: { label: 'operator.orders', icon: 'receipt', order: 20 },
  template: 'parts/list.eta',
  styles: ['operator.css', 'tables.css'],
  async show(request) {
    const { host, query, t, format } = request;
    const words = (query['q'] ?? '').trim().slice(0, longestWords);
    const state = choices.find((choice) => choice === query['state']) ?? '';
    const day = isDay(query['day'] ?? '') ? (query['day'] ?? '') : '';
    const days = day === '' ? {} : await rangeOfDays(host.database, format.timeZone, day, day);
    const { orders, next } = await listOrders(
      host.database,
      { ...filterOf(words, state), timeZone: format.timeZone, ...days, isWorstFirst: day !== '' },
      query['after'] || undefined,
      pageSize,
    );
    const buyers = await readAccountNames(
      host.database,
      orders.map(({ accountId }) => accountId),
      t,
    );
    return {
      path: '/operator/orders',
      heading: t('operator.orders'),
      links: [
        ...linksWithin(gateway, '/operator/orders', t),
        { path: '/operator/flags', label: t('operator.flags_open') },
      ],
      none: { title: t('operator.orders_none'), text: t('operator.orders_none_text') },
      searchLabel: t('operator.orders_search'),
      words,
      state,
      day: { label: t('operator.orders_day'), value: day },
      choices: choices.map((choice) => ({ value: choice, label: t(`operator.order_state.${choice}`) })),
      table: orderTable(orders, buyers, request),
      next: next === undefined ? '' : nextPath('/operator/orders', { q: words, state, day, after: next }),
      isFirst: query['after'] === undefined,
    };
  },
});

function filterOf(words: string, state: string): OrderFilter {
  return {
    words: words === '' ? undefined : words,
    isFlagged: state === 'flagged' ? true : undefined,
    state: orderStates.find((one) => one === state),
  };
}

/** Orders as a table. @param buyers left out where all are of one account */
export function orderTable(
  orders: readonly Order[],
  buyers: ReadonlyMap<string, string> | undefined,
  reader: Pick<PageRequest, 't' | 'format' | 'host'>,
): TableSection {
  const { t, format } = reader;
  const buyer: ColumnOf<Order> = {
    label: 'operator.fact.buyer',
    fit: 'id',
    at: 'note',
    cell: ({ accountId }) => ({ text: buyers?.get(accountId) ?? accountId, path: `/operator/accounts/${accountId}` }),
  };
  const priceOf = ({ price, currency }: Order) => format.money(price, currency);
  return describeTable(reader, 'orders', 'operator.orders', orders, [
    {
      label: 'operator.order',
      at: 'title',
      cell: ({ code }) => ({ text: code, path: `/operator/orders/${code}`, isCode: true }),
    },
    ...(buyers === undefined ? [] : [buyer]),
    { label: 'operator.created', at: buyers === undefined ? 'note' : 'hide', cell: ({ createdAt }) => createdAt },
    {
      label: 'operator.fact.plan',
      at: 'hide',
      cell: (order) => describePlan(order, reader),
    },
    { label: 'operator.fact.price', at: 'note-end', isNumber: true, cell: priceOf },
    { label: 'operator.state', at: 'end', cell: (order) => stateCell(order, t) },
  ]);
}

const kindOfState: Readonly<Record<OrderState, TableCell['kind']>> = {
  created: 'waiting',
  pending: 'waiting',
  paid: 'ok',
  refunded: 'info',
  expired: undefined,
  failed: 'bad',
  cancelled: undefined,
};

/** The state of an order. An open flag takes its place, because it needs attention first. */
export function stateCell({ state, flags }: Order, t: PageRequest['t']): TableCell {
  const open = flags.filter(({ resolvedAt }) => resolvedAt === undefined);
  const flag = open.find(({ kind }) => severityOf(kind) === 'bad') ?? open[0];
  if (flag !== undefined) return { text: t(`operator.flag.${flag.kind}`), kind: severityOf(flag.kind) };
  return { text: t(`operator.order_state.${state}`), kind: kindOfState[state] };
}

/** The address of the next page, with what was searched for. */
export function nextPath(path: string, query: Readonly<Record<string, string>>): string {
  const filled = Object.entries(query).filter(([, value]) => value !== '');
  return `${path}?${new URLSearchParams(filled).toString()}`;
}
