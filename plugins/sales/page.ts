import { readAccountNames } from '#core/web/pages/account-name.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { describeTable, type TableSection, omitEmptySections } from '#core/web/pages/table.ts';
import { type PlaceCount, placeKinds, readSales, type SalesDayRow } from './sales-figures.ts';
import type { ListedWait } from './waiting-list.ts';

/** `/operator/orders/places`: the places under each limit, the waiting list, and past limits. */
export const salesPage: Page = {
  path: '/operator/orders/places',
  role: 'operator',
  title: 'operator.sales',
  within: '/operator/orders',
  template: 'sales/page.eta',
  async show(request) {
    const { places, waiting, days } = await readSales(request.host);
    return {
      isEmpty: places.length === 0 && waiting.length === 0 && days.length === 0,
      tiles: places.map((count) => describePlaces(count, request)),
      sections: omitEmptySections([await describeWaitingTable(waiting, request), describeDaysTable(days, request)]),
    };
  },
};

function describePlaces({ days, max, held, byKind, waiting }: PlaceCount, request: PageRequest) {
  const { t, format } = request;
  const kinds = placeKinds.flatMap((kind) =>
    byKind[kind] === 0 ? [] : [t(`operator.sales_kind.${kind}`, { count: byKind[kind] })],
  );
  const over = held > max ? [t('operator.sales_over', { count: held - max })] : [];
  return {
    label: formatPlanName(days, request),
    value: t('operator.sales_value', { held: format.number(held), max: format.number(max) }),
    note: [...over, ...kinds, ...(waiting === 0 ? [] : [t('operator.sales_waiting', { count: waiting })])].join(' · '),
    meter: { max, value: Math.min(held, max) },
  };
}

function formatPlanName(days: number | undefined, { t }: Pick<PageRequest, 't'>): string {
  return days === undefined ? t('operator.sales_all') : t('operator.days', { count: days });
}

async function describeWaitingTable(waiting: readonly ListedWait[], request: PageRequest): Promise<TableSection> {
  const names = await readAccountNames(
    request.host.database,
    waiting.map(({ accountId }) => accountId),
    request.t,
  );
  const account = ({ accountId }: ListedWait) => ({
    text: names.get(accountId) ?? accountId,
    path: `/operator/accounts/${accountId}`,
  });
  return describeTable(request, 'waiting', 'operator.waiting_list', waiting, [
    { label: 'operator.account', fit: 'id', at: 'title', cell: account },
    { label: 'operator.waiting_position', isNumber: true, at: 'end', cell: ({ position }) => position || undefined },
    { label: 'operator.fact.plan', at: 'note', cell: ({ days }) => formatPlanName(days, request) },
    { label: 'operator.waiting_since', at: 'hide', cell: ({ joinedAt }) => joinedAt },
    { label: 'operator.waiting_state', at: 'note-end', cell: (wait) => describeWaitingState(wait, request) },
  ]);
}

function describeWaitingState({ reservedUntil, isOrdered }: ListedWait, request: PageRequest) {
  const { t, format } = request;
  if (reservedUntil === undefined) return { text: t('operator.waiting_waits'), kind: 'waiting' } as const;
  const text = isOrdered
    ? t('operator.waiting_ordered')
    : t('operator.waiting_reserved', { time: format.dayTime(reservedUntil).text });
  return { text, kind: 'ok' } as const;
}

function describeDaysTable(days: readonly SalesDayRow[], request: PageRequest): TableSection {
  return describeTable(request, 'limits', 'operator.sales_days', days, [
    {
      label: 'operator.sales_on',
      at: 'title',
      cell: ({ day }) => ({ text: request.format.shortDay(new Date(`${day}T12:00:00Z`)).text, iso: day }),
    },
    { label: 'operator.fact.plan', at: 'note', cell: (row) => formatPlanName(row.days, request) },
    { label: 'operator.sales_limit', isNumber: true, at: 'end', cell: ({ max }) => max },
    { label: 'operator.sales_held', isNumber: true, isNamed: true, at: 'note-end', cell: ({ held }) => held },
    { label: 'operator.sales_late', isNumber: true, at: 'hide', cell: ({ late }) => late },
    { label: 'operator.sales_waited', isNumber: true, at: 'hide', cell: ({ waiting }) => waiting },
  ]);
}
