import { listAccounts, findAccountByHandle, accountStates } from '#core/business/accounts/account-list.ts';
import { listLedger } from '#core/business/accounts/ledger-entries.ts';
import { listIdentities } from '#core/business/accounts/identity-links.ts';
import { currencySection, plansSection } from '#core/business/accounts/plans.ts';
import { accountSubject, orderSubject } from '#core/business/operator-actions/subjects.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { choiceOf, InvalidQuery } from '#core/business/operator-actions/query.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { listOpenFlags } from '#core/business/payments/flags.ts';
import { listOrders, type OrderFilter, readOrder } from '#core/business/payments/order.ts';
import { orderStates } from '#core/business/payments/order-types.ts';
import { isDay } from '#core/platform/timing/time-zone.ts';
import { rangeOfDays } from '#core/platform/database/day-range.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readUnauthenticated } from '#core/gateway/records/unauthenticated.ts';
import { readUsage, startOfHours } from '#core/gateway/records/usage.ts';
import { listMails } from '#core/business/mail/mails.ts';

/** Entries of one page of a list. */
const pageSize = 100;
/** Entries of a list without pages. */
const largestList = 1_000;
const usageHours = 30 * 24;
/** Ms. */
const unauthenticatedSpan = 86_400_000;

/** What the API reads of accounts, orders, and what core knows of the shop. */
export const readings: readonly OperatorReading[] = [
  {
    path: '/mails',
    summary: 'list mails to customers with their outcome, the newest first',
    query: {
      account: 'Only of this account, by any of its handles.',
      order: 'Only about this order, by its code or id.',
      undelivered: 'true: only those of the last week that did not arrive, or perhaps did not.',
    },
    async read(host, _handle, query) {
      const [account, order] = [query.get('account'), query.get('order')];
      const isUndelivered = choiceOf(query, 'undelivered', ['true', 'false']) === 'true';
      const filter = {
        ...(account !== null && { accountId: (await accountSubject.find(host, account)).id }),
        ...(order !== null && { orderId: (await orderSubject.find(host, order)).id }),
        isUndelivered,
      };
      return { mails: await listMails(host.database, filter, pageSize) };
    },
  },
  {
    path: '/accounts',
    summary: 'list or search accounts, the newest first',
    query: {
      words: 'A part of name or e-mail address, an id, or a key hint.',
      state: `One of ${accountStates.join(', ')}.`,
      after: 'Id of the last account of the page before.',
    },
    async read({ database }, _handle, query) {
      const state = choiceOf(query, 'state', accountStates);
      const words = query.get('words') ?? undefined;
      const after = query.get('after') ?? undefined;
      const accounts = await listAccounts(database, { words, state, after, limit: pageSize });
      return { accounts, next: accounts.length === pageSize ? accounts.at(-1)?.id : null };
    },
  },
  { path: '/accounts/{handle}', summary: 'read an account', query: {}, read: readAccount },
  {
    path: '/orders',
    summary: 'list or search orders, the newest first',
    query: {
      words:
        'A part of the code of the order, or of the name or e-mail address of its buyer; a reference of the provider; an amount, or an amount and a minute: 95000 20:14.',
      state: `One of ${orderStates.join(', ')}.`,
      account: 'Of this account: id, e-mail address, name, key hint or key.',
      day: 'Of this day in service.time_zone, such as 2026-11-22.',
      flagged: 'true: only those with an open flag.',
      wrong_first: 'true: open flags, failed charges and refunds under way come first. Use it with a day.',
      after: 'Id of the last order of the page before.',
    },
    async read(host, _handle, query) {
      const { orders, next } = await listOrders(
        host.database,
        await orderFilter(host, query),
        query.get('after') ?? undefined,
        pageSize,
      );
      return { orders, next: next ?? null };
    },
  },
  {
    path: '/orders/{handle}',
    summary: 'read an order with its payments, refunds and flags',
    query: {},
    async read(host, handle) {
      const { id } = await orderSubject.find(host, handle);
      const order = await readOrder(host.database, { id });
      if (order === undefined) throw new CheckoutError('not_found', `Order ${handle} not found.`);
      return { order, actions: await listActions(host.database, { subject: id, limit: pageSize }) };
    },
  },
  {
    path: '/flags',
    summary: 'list open flags, also those of money without an order, the worst first',
    query: {},
    read: ({ database }) => listOpenFlags(database, largestList),
  },
  {
    path: '/unauthenticated',
    summary: 'list who sends requests without an account, by block of addresses, in the last 24 hours',
    query: {},
    async read(host) {
      const since = host.now() - unauthenticatedSpan;
      const { requests, blocks } = await readUnauthenticated(host.database, since, pageSize);
      return {
        requests,
        blocks: blocks.map(({ lastMinute, ...block }) => ({ ...block, lastMinute: new Date(lastMinute) })),
      };
    },
  },
  {
    path: '/plans',
    summary: 'list the plans that are sold',
    query: {},
    read: async ({ section }) => ({ currency: section(currencySection), plans: section(plansSection) }),
  },
];

async function orderFilter(host: Host, query: URLSearchParams): Promise<OrderFilter> {
  const { time_zone: timeZone } = host.section(service);
  const [day, account] = [query.get('day'), query.get('account')];
  const state = choiceOf(query, 'state', orderStates);
  if (day !== null && !isDay(day))
    throw new InvalidQuery(`"day" is ${JSON.stringify(day.slice(0, 60))}; must be a day such as 2026-11-22.`);
  return {
    words: query.get('words') ?? undefined,
    state,
    accountId: account === null ? undefined : (await findAccountByHandle(host, account)).id,
    isFlagged: query.get('flagged') === 'true' ? true : undefined,
    isWorstFirst: query.get('wrong_first') === 'true',
    timeZone,
    ...(day !== null && (await rangeOfDays(host.database, timeZone, day, day))),
  };
}

async function readAccount(host: Host, handle: string): Promise<object> {
  const { database } = host;
  const { id, name, email, createdAt, blockedAt, deletedAt, requestCount, key, periods } = await findAccountByHandle(
    host,
    handle,
  );
  const [ledger, identities, actions, usage] = await Promise.all([
    listLedger(database, id),
    listIdentities(database, id),
    listActions(database, { subject: id, limit: pageSize }),
    readUsage(database, { accountId: id, since: startOfHours(host.now(), usageHours) }, ['model']),
  ]);
  return {
    account: { id, name, email, createdAt, blockedAt, deletedAt, requestCount, hint: key?.hint, limits: key?.limits },
    endsAt: periods.at(-1)?.endsAt ?? null,
    ledger,
    signIns: identities.map(({ provider, email: address, lastUsedAt }) => ({ provider, email: address, lastUsedAt })),
    usage: usage.map(({ model, requests, errors, inputTokens, outputTokens }) => ({
      model,
      requests,
      errors,
      inputTokens,
      outputTokens,
    })),
    actions,
  };
}
