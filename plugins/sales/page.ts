import { tablesPage } from '#core/web/actions/tables-page.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { type PlaceCount, placeKinds, readSales } from './sales-figures.ts';
import { describePlan, salesDays, waits } from './views.ts';

export const salesPage = tablesPage({
  path: '/operator/orders/places',
  title: 'operator.sales',
  back: { path: '/operator/orders', label: 'operator.orders' },
  none: ['operator.sales_none', 'operator.sales_none_text'],
  async read(request) {
    const { places, waiting, days } = await readSales(request.host);
    return {
      tiles: places.map((count) => describePlaces(count, request)),
      sections: [
        { title: 'operator.waiting_list', entries: waiting, view: waits },
        { title: 'operator.sales_days', entries: days, view: salesDays, note: 'operator.sales_days_note' },
      ],
    };
  },
});

function describePlaces(count: PlaceCount, request: PageRequest) {
  const { max, held, byKind, waiting } = count;
  const { t, format } = request;
  const kinds = placeKinds.flatMap((kind) =>
    byKind[kind] === 0 ? [] : [t(`operator.sales_kind.${kind}`, { count: byKind[kind] })],
  );
  const over = held > max ? [t('operator.sales_over', { count: held - max })] : [];
  return {
    label: describePlan(count, request),
    value: t('operator.sales_value', { held: format.number(held), max: format.number(max) }),
    note: [...over, ...kinds, ...(waiting === 0 ? [] : [t('operator.sales_waiting', { count: waiting })])].join(' · '),
    meter: { max, value: Math.min(held, max) },
  };
}
