import { formatMoney } from '#core/business/accounts/money.ts';
import { translateRecordedLabel } from '#core/business/accounts/plans.ts';
import { text } from '#core/business/operator-actions/action-kind.ts';
import { accountSubject } from '#core/business/operator-actions/subjects.ts';
import { type FlaggedMoney, type OpenFlag, severityOfFlag } from '#core/business/payments/flags.ts';
import {
  codeHeading,
  describeCode,
  describePlan,
  formatCode,
  formatDays,
  redeemerOf,
  periodOf,
} from '#core/business/payments/order-codes.ts';
import { type Order, type OrderState, orderStates } from '#core/business/payments/order-types.ts';
import type { OrderFilter } from '#core/business/payments/order.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { boolean, type Infer, object } from '#core/platform/schema.ts';
import type { PageRequest } from '../pages/page.ts';
import type { TableCell } from '../pages/table.ts';
import { defineView } from './field.ts';
import { defineResource } from './resource.ts';

const stateKinds: Readonly<Record<OrderState, TableCell['kind']>> = {
  created: 'waiting',
  pending: 'waiting',
  paid: 'ok',
  refunded: 'info',
  expired: undefined,
  failed: 'bad',
  cancelled: undefined,
};

/** An open flag is shown instead of the state, because it needs attention first. */
export function describeState({ state, flags }: Order, t: PageRequest['t']): TableCell {
  const unresolvedFlags = flags.filter(({ resolvedAt }) => resolvedAt === undefined);
  const flag = unresolvedFlags.find(({ kind }) => severityOfFlag(kind) === 'bad') ?? unresolvedFlags[0];
  if (flag !== undefined) return { text: t(`operator.flag.${flag.kind}`), kind: severityOfFlag(flag.kind) };
  return { text: t(`operator.order_state.${state}`), kind: stateKinds[state] };
}

/** A wrong amount is shown instead of the state until an operator has resolved it. */
function formatState({ state, isLate, flags }: Order): string {
  const wrongFlag = flags.find(({ kind, resolvedAt }) => kind.startsWith('wrong_') && resolvedAt === undefined);
  if (wrongFlag !== undefined && state !== 'paid' && state !== 'refunded') return wrongFlag.kind.replace('_', ' ');
  return isLate ? `${state}, late` : state;
}

export const orderView = defineView<Order>()(
  {
    order: {
      type: 'link',
      at: 'title',
      value: ({ code }) => ({ text: code, path: `/operator/orders/${code}`, isCode: true }),
    },
    id: { type: 'id', of: 'id' },
    account: { type: 'person', label: 'operator.fact.buyer', fit: 'id', at: 'note', of: 'accountId' },
    created: { type: 'time', at: 'hide', of: 'createdAt' },
    days: {
      type: 'text',
      label: 'operator.fact.plan',
      at: 'hide',
      value: formatDays,
      cell: describePlan,
    },
    plan: {
      type: 'text',
      label: 'operator.fact.plan',
      value: ({ days, label }) => [days === 1 ? '1 day' : `${days} days`, label].filter(Boolean).join(', '),
      cell: (order, { t, language, host }) =>
        [describePlan(order, { t }), order.label && translateRecordedLabel(language, order.label, host)]
          .filter(Boolean)
          .join(', '),
    },
    price: {
      type: 'money',
      label: 'operator.fact.price',
      at: 'note-end',
      value: ({ price: amount, currency }) => ({ amount, currency }),
    },
    provider: { type: 'text', label: 'operator.fact.provider', of: 'provider' },
    state: { type: 'state', at: 'end', value: formatState, cell: (order, { t }) => describeState(order, t) },
    pay_until: { type: 'time', label: 'operator.fact.pay_until', of: 'expiresAt' },
    paid: { type: 'time', label: 'operator.fact.paid', of: 'paidAt' },
    code: { type: 'text', label: 'operator.fact.code', heading: codeHeading, print: formatCode, cell: describeCode },
    redeemed_by: { type: 'person', label: 'operator.fact.redeemed_by', value: redeemerOf },
    period: {
      type: 'text',
      label: 'operator.fact.period',
      print: ({ period }, { time }) => period && `${time(period.startsAt)} to ${time(period.endsAt)}`,
      cell(order, { format }) {
        const period = periodOf(order);
        return period && `${format.time(period.startsAt).text} – ${format.time(period.endsAt).text}`;
      },
    },
    flags: {
      type: 'text',
      value: ({ flags }) =>
        flags.flatMap(({ kind, resolvedAt }) => (resolvedAt === undefined ? [kind] : [])).join(', '),
    },
  },
  ['order', 'created', 'state', 'days', 'price', 'provider', 'account', 'flags'],
);

export const orderFactNames = ['plan', 'price', 'provider', 'created', 'pay_until', 'paid'] as const;

export const accountOrderFields = orderView.page
  .filter(({ name }) => name !== 'account')
  .map((field) => (field.name === 'created' ? { ...field, at: 'note' as const } : field));

/** Schema for filters on orders, or on the money for them. */
export const orderQuery = object({
  state: { enum: orderStates, description: 'Only orders in this state.' },
  flagged: boolean('Only orders with an open flag.'),
  day: { type: 'string', format: 'date', description: 'A day, such as 2026-11-22.' },
  since: { type: 'string', format: 'date', description: 'The first day.' },
  until: { type: 'string', format: 'date', description: 'The last day.' },
  account: text('Only orders of this account: id, e-mail address, name, key hint or key.'),
});

/** Converts a query, with days in this time zone, to a filter. Throws AccountError. */
export async function readOrderFilter(
  host: Host,
  { state, flagged, day, since = day, until = day, account }: Infer<typeof orderQuery>,
  timeZone: string,
): Promise<OrderFilter> {
  const { dayRangeToTimes } = await import('#core/platform/database/day-range.ts');
  return {
    state,
    isFlagged: flagged === true ? true : undefined,
    accountId: account === undefined ? undefined : (await accountSubject.find(host, account)).id,
    timeZone,
    ...((since ?? until) !== undefined && (await dayRangeToTimes(host.database, timeZone, since, until))),
  };
}

export const orders = defineResource({
  name: 'order',
  summary: 'list or search orders, newest first; days are days of creation',
  query: object({
    words: text(
      'A part of the code, or of the name or e-mail address of the buyer; a reference or payment id of the provider; an amount, also with the minute in the zone, five minutes either way: 95000 20:14.',
      320,
    ),
    ...orderQuery.properties,
    wrong_first: boolean('Open flags, failed charges and refunds under way come first. Use it with a day.'),
    after: text('The id of the last order on the previous page.'),
  }),
  view: orderView,
  async list(host, { words, wrong_first: isWorstFirst, after, ...query }, { limit, timeZone }) {
    const { listOrders } = await import('#core/business/payments/order.ts');
    const filter = { ...(await readOrderFilter(host, query, timeZone)), words, isWorstFirst };
    const { orders: entries, next = null } = await listOrders(host.database, filter, after, limit);
    return { entries, next };
  },
  hasFormerNames: true,
});

function describeMoney({ kind, amount, currency, statedAmount }: FlaggedMoney): string {
  const statedText = statedAmount === undefined ? '' : `, ${formatMoney(statedAmount, currency)} at the provider`;
  return `${kind === 'refund' ? 'refund of ' : ''}${formatMoney(amount, currency)}${statedText}`;
}

export const openFlags = defineResource({
  name: 'flag',
  summary: 'list open flags, including those on money without an order, worst first',
  perPage: 1_000,
  view: defineView<OpenFlag>()({
    flag: { type: 'id', of: 'id' },
    since: { type: 'time', of: 'createdAt' },
    kind: { type: 'state', of: 'kind' },
    order: { type: 'id', value: ({ order }) => order?.code },
    buyer: { type: 'text', value: ({ order }) => order?.buyer },
    money: { type: 'text', value: ({ money }) => money && describeMoney(money) },
    about: { type: 'id', of: 'subject' },
  }),
  none: 'No flag is open.',
  async list({ database }, _query, { limit }) {
    const { listOpenFlags } = await import('#core/business/payments/flags.ts');
    const { flags: entries, total } = await listOpenFlags(database, limit);
    return { entries, total };
  },
  hasFormerNames: true,
});
