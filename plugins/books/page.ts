import { listActions, maxActionMs } from '#core/business/operator-actions/operator-actions.ts';
import { type FlaggedDifference, listDifferences } from '#core/business/payments/flags.ts';
import { type ProviderSums, readLastMovement, sumMovements } from '#core/business/payments/movements.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { runInBackground } from '#core/platform/background.ts';
import { dayRangeToTimes } from '#core/platform/database/day-range.ts';
import { object, string } from '#core/platform/schema.ts';
import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import { isDay, formatLocalTime } from '#core/platform/timing/time-zone.ts';
import { runFormAction } from '#core/web/actions/action-page.ts';
import { defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { describeTable, type TableSection, omitEmptySections } from '#core/web/pages/table.ts';
import { describeActionTable } from '#core/web/resources/action-table.ts';
import { reconcileAction } from './actions.ts';
import type { Reconciliation } from './reconcile.ts';

export const booksPath = '/operator/orders/books';

const noBooks = 'nothing'; // in the query in place of the action's name, if no provider had books for the day
const maxBrowserWaitMs = 20_000; // the comparison then continues in the background
const limits = { differences: 200, actions: 10 };

const form = defineForm({
  fields: object(['day'], { day: string({ maxLength: 10 }) }),
  once: true,
  async submit({ day }, request) {
    if (!isDay(day)) throw new FieldErrors({ day: 'form.invalid' });
    const work = runFormAction(request, reconcileAction, '', { day });
    const result = await waitForFirst([work], maxBrowserWaitMs);
    // The action's record will show the outcome.
    if (result === notSettled) {
      runInBackground(request.host.log, 'a comparison of the books', () => work);
      return new Redirect(`${booksPath}?day=${day}`);
    }
    const compared = result['compared'] as readonly Reconciliation[];
    requireComplete(compared);
    return new Redirect(`${booksPath}?day=${day}&done=${compared.length === 0 ? noBooks : reconcileAction.name}`);
  },
});

function requireComplete(compared: readonly Reconciliation[]): void {
  const count = compared.reduce((sum, { unread }) => sum + unread, 0);
  if (count > 0) throw new FieldErrors({ '': 'operator.books_unread' }, { count });
}

export const booksPage: Page = {
  path: booksPath,
  role: 'operator',
  title: 'operator.books',
  within: '/operator/orders',
  template: 'books/books.eta',
  async show(request) {
    const { host, t } = request;
    const { database } = host;
    const { time_zone: zone } = host.section(service);
    const today = formatLocalTime(new Date(host.now()), zone).day;
    const requestedDay = request.form.values['day'] ?? request.query['day'] ?? '';
    const day = isDay(requestedDay) ? requestedDay : await findNewestDay(request, zone, today);
    const { since = new Date(0), until = new Date(0) } = await dayRangeToTimes(database, zone, day, day);
    const [sums, { differences, total }, actions] = await Promise.all([
      sumMovements(database, { since, until }),
      listDifferences(database, { since, until }, limits.differences),
      listActions(database, { subject: 'books', limit: limits.actions }),
    ]);
    const isRunning = actions.some(
      ({ outcome, createdAt }) => outcome === 'unknown' && host.now() - createdAt.getTime() < maxActionMs,
    );
    return {
      path: booksPath,
      zone: t('operator.books_zone', { zone }),
      day,
      today,
      month: day.slice(0, 7),
      ...(request.query['done'] === noBooks && { done: t('operator.books_nothing') }),
      running: isRunning ? describeRunning(day, t) : undefined,
      sums: describeSums(sums, request),
      differences: describeDifferences(differences, request),
      more: total > differences.length ? t('operator.books_more', { count: total - differences.length }) : '',
      sections: omitEmptySections([describeActionTable(actions, request, limits.actions)]),
    };
  },
  forms: [form],
};

async function findNewestDay({ host }: PageRequest, zone: string, today: string): Promise<string> {
  const last = await readLastMovement(host.database);
  const day = last === undefined ? today : formatLocalTime(last, zone).day;
  return day < today ? day : today;
}

function describeRunning(day: string, t: PageRequest['t']) {
  const action = { path: `${booksPath}?day=${day}`, label: t('operator.books_reload') };
  return { kind: 'info', title: t('operator.books_running'), text: t('operator.books_running_text'), action };
}

function describeSums(sums: readonly ProviderSums[], reader: PageRequest): TableSection {
  const { t, format } = reader;
  const money = (select: (sum: ProviderSums) => number) => (sum: ProviderSums) =>
    format.money(select(sum), sum.currency);
  const number = { isNumber: true, isNamed: true } as const;
  return describeTable(reader, 'sums', 'operator.books_here', sums, [
    { label: 'operator.books_provider', at: 'title', cell: ({ provider }) => provider },
    { label: 'operator.books_payments', ...number, at: 'hide', cell: ({ payments }) => payments },
    { label: 'operator.books_gross', ...number, at: 'note', cell: money(({ gross }) => gross) },
    { label: 'operator.books_refunds', ...number, at: 'hide', cell: ({ refunds }) => refunds },
    { label: 'operator.books_refunded', ...number, at: 'note-end', cell: money(({ refunded }) => refunded) },
    { label: 'operator.books_fees', ...number, at: 'hide', cell: money(({ fees }) => fees) },
    {
      label: 'operator.books_net',
      isNumber: true,
      at: 'end',
      cell: money(({ gross, refunded, fees }) => gross - refunded - fees),
    },
    {
      label: 'operator.books_found',
      ...number,
      at: 'below',
      cell: ({ found, payments, refunds }) =>
        t('operator.books_found_of', { found: format.number(found), all: format.number(payments + refunds) }),
    },
  ]);
}

function describeDifferences(differences: readonly FlaggedDifference[], reader: PageRequest): TableSection {
  const { t, format } = reader;
  const amount = (value: number | undefined, { money }: FlaggedDifference) =>
    value === undefined || money === undefined ? '' : format.money(value, money.currency);
  const number = { isNumber: true, isNamed: true } as const;
  return describeTable(reader, 'differences', 'operator.books_differences', differences, [
    {
      label: 'operator.books_difference',
      at: 'title',
      cell: ({ side, money }) => t(`operator.books_side.${money?.kind ?? 'payment'}_${side}`),
    },
    { label: 'operator.time', at: 'note', cell: ({ at }) => at },
    {
      label: 'operator.order',
      fit: 'id',
      at: 'note-end',
      cell: ({ order, subject }) =>
        order === undefined
          ? { text: subject, isCode: true }
          : { text: order.code, path: `/operator/orders/${order.code}`, isCode: true },
    },
    {
      label: 'operator.books_ours',
      ...number,
      at: 'hide',
      cell: (difference) => (difference.side === 'provider' ? '' : amount(difference.money?.amount, difference)),
    },
    {
      label: 'operator.books_theirs',
      ...number,
      at: 'hide',
      cell: (difference) => {
        const { side, money } = difference;
        return amount(side === 'provider' ? money?.amount : money?.statedAmount, difference);
      },
    },
    {
      label: 'operator.books_flag',
      at: 'end',
      cell: ({ id, isOpen }) =>
        isOpen
          ? { text: t('operator.act.flag.resolve'), path: `/operator/flags/${id}` }
          : { text: t('operator.books_resolved'), kind: 'ok' },
    },
  ]);
}
