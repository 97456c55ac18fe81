import { findAccountByHandle } from '#core/business/accounts/account-list.ts';
import { listLedger } from '#core/business/accounts/ledger-entries.ts';
import { listIdentities } from '#core/business/accounts/identity-links.ts';
import { currencySection, plansSection } from '#core/business/accounts/plans.ts';
import { orderSubject } from '#core/business/operator-actions/subjects.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { readOrder } from '#core/business/payments/order.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { writeMembers } from '#core/platform/snake-case.ts';
import { readUnauthenticated } from '#core/gateway/records/unauthenticated.ts';
import { readUsage, startOfHours } from '#core/gateway/records/usage.ts';
import { accounts } from '#core/web/resources/accounts.ts';
import { mails } from '#core/web/resources/mails.ts';
import { openFlags, orders } from '#core/web/resources/orders.ts';
import { readingOf } from '#core/web/resources/resource.ts';

const pageSize = 100;
const usageHours = 30 * 24;
const unauthenticatedSpanMs = 86_400_000;

/** What the API reads of accounts, orders, and what core knows of the shop. */
export const readings: readonly OperatorReading[] = [
  ...[accounts, orders, openFlags, mails].map((resource) => readingOf(resource)),
  { path: '/accounts/{handle}', summary: 'read an account', query: {}, read: readAccount },
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
    path: '/unauthenticated',
    summary: 'list who sends requests without an account, by block of addresses, in the last 24 hours',
    query: {},
    async read(host) {
      const since = host.now() - unauthenticatedSpanMs;
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
    usage: usage.map((one) => writeMembers(one, 'model', 'requests', 'errors', 'inputTokens', 'outputTokens')),
    actions,
  };
}
