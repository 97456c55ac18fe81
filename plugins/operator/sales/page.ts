import { readAccounts } from '#core/business/accounts/account-record.ts';
import {
  type PlaceCount,
  placeKinds,
  readSales,
  type ReportedWait,
  type SalesDayRow,
} from '#core/business/sales/sales-figures.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { viewPath } from '#core/web/pages/views.ts';
import { type TableSection, withRows } from '../table-section.ts';

/** `/operator/orders/places`: the places under each limit beside the waiting list, and what the limits were. */
export const salesPage: Page = {
  path: '/operator/orders/places',
  role: 'operator',
  title: 'operator.sales',
  template: viewPath('operator/sales.eta'),
  styles: ['operator.css', 'tables.css'],
  async show(request) {
    const { places, waiting, days } = await readSales(request.host);
    return {
      isEmpty: places.length === 0 && waiting.length === 0 && days.length === 0,
      tiles: places.map((count) => describePlaces(count, request)),
      sections: withRows([await waitingTable(waiting, request), daysTable(days, request)]),
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
    label: planName(days, request),
    value: t('operator.sales_value', { held: format.number(held), max: format.number(max) }),
    note: [...over, ...kinds, ...(waiting === 0 ? [] : [t('operator.sales_waiting', { count: waiting })])].join(' · '),
    meter: { max, value: Math.min(held, max) },
  };
}

function planName(days: number | undefined, { t }: Pick<PageRequest, 't'>): string {
  return days === undefined ? t('operator.sales_all') : t('operator.days', { count: days });
}

async function waitingTable(waiting: readonly ReportedWait[], request: PageRequest): Promise<TableSection> {
  const { t, format, host } = request;
  const ids = waiting.map(({ accountId }) => accountId);
  const accounts = await readAccounts(host.database, 'id', ids);
  const names = new Map(accounts.map(({ id, email, name }) => [id, email ?? (name === '' ? id : name)]));
  return {
    id: 'waiting',
    title: t('operator.waiting_list'),
    columns: [
      { label: t('operator.account'), fit: 'id', at: 'title' },
      { label: t('operator.waiting_position'), isNumber: true, at: 'end' },
      { label: t('operator.fact.plan'), at: 'note' },
      { label: t('operator.waiting_since'), at: 'hide' },
      { label: t('operator.waiting_state'), at: 'note-end' },
    ],
    rows: waiting.map(({ accountId, days, joinedAt, position, ...place }) => [
      { text: names.get(accountId) ?? accountId, path: `/operator/accounts/${accountId}` },
      { text: position === 0 ? '' : format.number(position) },
      { text: planName(days, request) },
      { ...format.dayTime(joinedAt) },
      waitingState(place, request),
    ]),
  };
}

function waitingState(
  { reservedUntil, isOrdered }: Pick<ReportedWait, 'reservedUntil' | 'isOrdered'>,
  request: PageRequest,
) {
  const { t, format } = request;
  if (reservedUntil === undefined) return { text: t('operator.waiting_waits'), kind: 'waiting' } as const;
  const text = isOrdered
    ? t('operator.waiting_ordered')
    : t('operator.waiting_reserved', { time: format.dayTime(reservedUntil).text });
  return { text, kind: 'ok' } as const;
}

function daysTable(days: readonly SalesDayRow[], request: PageRequest): TableSection {
  const { t, format } = request;
  const number = (value: number) => ({ text: format.number(value) });
  return {
    id: 'limits',
    title: t('operator.sales_days'),
    columns: [
      { label: t('operator.sales_day'), at: 'title' },
      { label: t('operator.fact.plan'), at: 'note' },
      { label: t('operator.sales_limit'), isNumber: true, at: 'end' },
      { label: t('operator.sales_held'), isNumber: true, isNamed: true, at: 'note-end' },
      { label: t('operator.sales_late'), isNumber: true, at: 'hide' },
      { label: t('operator.sales_waited'), isNumber: true, at: 'hide' },
    ],
    rows: days.map((row) => [
      { text: row.day },
      { text: planName(row.days, request) },
      number(row.max),
      number(row.held),
      number(row.late),
      number(row.waiting),
    ]),
  };
}
