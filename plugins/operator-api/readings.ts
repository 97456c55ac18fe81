import { listAccounts, findAccountByHandle, accountStates } from '#core/business/accounts/account-list.ts';
import { listLedger } from '#core/business/accounts/ledger-entries.ts';
import { listIdentities } from '#core/business/accounts/identity-links.ts';
import { currencySection, plansSection } from '#core/business/accounts/plans.ts';
import { findSubject } from '#core/business/operator-actions/actions.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { listOrders, readOrder } from '#core/business/payments/order.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readUsage, startOfHours } from '#core/gateway/records/usage.ts';

/** Entries of one page of a list. */
const pageSize = 100;
/** Hours of usage. */
const usageHours = 30 * 24;

/** Something that the API reads. */
export interface ApiReading {
  /** Below the root, with `{handle}` for the one that is read. */
  readonly path: string;
  readonly summary: string;
  /** Parameters of its query, with what they mean. */
  readonly query: Readonly<Record<string, string>>;
  /** @throws AccountError, CheckoutError */
  read(host: Host, handle: string, query: URLSearchParams): Promise<object>;
}

export const readings: readonly ApiReading[] = [
  {
    path: '/accounts',
    summary: 'list or search accounts, the newest first',
    query: {
      words: 'A part of name or e-mail address, an id, or a key hint.',
      state: `One of ${accountStates.join(', ')}.`,
      after: 'Id of the last account of the page before.',
    },
    async read({ database }, _handle, query) {
      const state = accountStates.find((one) => one === query.get('state'));
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
      flagged: 'true: only those with an open flag.',
      after: 'Id of the last order of the page before.',
    },
    async read({ database, section }, _handle, query) {
      const isFlagged = query.get('flagged') === 'true' ? true : undefined;
      const timeZone = section(service).time_zone;
      const filter = { words: query.get('words') ?? undefined, isFlagged, timeZone };
      const { orders, next } = await listOrders(database, filter, query.get('after') ?? undefined, pageSize);
      return { orders, next: next ?? null };
    },
  },
  {
    path: '/orders/{handle}',
    summary: 'read an order with its payments, refunds and flags',
    query: {},
    async read(host, handle) {
      const id = await findSubject(host, 'order', handle);
      const order = await readOrder(host.database, { id });
      if (order === undefined) throw new CheckoutError('not_found', `Order ${handle} not found.`);
      return { order, actions: await listActions(host.database, { subject: id, limit: pageSize }) };
    },
  },
  {
    path: '/plans',
    summary: 'list the plans that are sold',
    query: {},
    read: async ({ section }) => ({ currency: section(currencySection), plans: section(plansSection) }),
  },
];

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
