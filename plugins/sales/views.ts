import { defineView, type FieldReader } from '#core/web/resources/field.ts';
import type { SalesDayRow } from './sales-figures.ts';
import type { ListedWait } from './waiting-list.ts';

interface OfPlan {
  readonly days: number | undefined; // undefined for all plans together
}

export function formatPlan({ days }: OfPlan): string {
  return days === undefined ? 'all' : `${days} d`;
}

export function describePlan({ days }: OfPlan, { t }: Pick<FieldReader, 't'>): string {
  return days === undefined ? t('operator.sales_all') : t('operator.days', { count: days });
}

const plan = { type: 'text', label: 'operator.fact.plan', at: 'note', value: formatPlan, cell: describePlan } as const;

export const waits = defineView<ListedWait>()(
  {
    account: { type: 'person', fit: 'id', at: 'title', of: 'accountId' },
    position: {
      type: 'count',
      label: 'operator.waiting_position',
      heading: '',
      at: 'end',
      value: ({ position }) => position || undefined,
    },
    plan,
    since: { type: 'time', label: 'operator.waiting_since', at: 'hide', isExact: true, of: 'joinedAt' },
    state: {
      type: 'text',
      label: 'operator.waiting_state',
      at: 'note-end',
      cell({ reservedUntil, isOrdered }, { t, format }) {
        if (reservedUntil === undefined) return { text: t('operator.waiting_waits'), kind: 'waiting' };
        const time = format.dayTime(reservedUntil).text;
        return { text: t(isOrdered ? 'operator.waiting_ordered' : 'operator.waiting_reserved', { time }), kind: 'ok' };
      },
      print({ reservedUntil, isOrdered }, { time }) {
        if (reservedUntil === undefined) return 'waits';
        return isOrdered ? 'ordered' : `reserved until ${time(reservedUntil, true)}`;
      },
    },
  },
  ['position', 'account', 'plan', 'since', 'state'],
);

export const salesDays = defineView<SalesDayRow>()({
  day: {
    type: 'text',
    label: 'operator.sales_on',
    at: 'title',
    of: 'day',
    cell: ({ day }, { format }) => ({ text: format.shortDay(new Date(`${day}T12:00:00Z`)).text, iso: day }),
  },
  plan,
  limit: { type: 'count', label: 'operator.sales_limit', at: 'end', of: 'max' },
  held: { type: 'count', label: 'operator.sales_held', isNamed: true, at: 'note-end', of: 'held' },
  late: { type: 'count', label: 'operator.sales_late', heading: 'paid late', at: 'hide', of: 'late' },
  waiting: { type: 'count', label: 'operator.sales_waited', at: 'hide', of: 'waiting' },
});
