import { findAccountByHandle } from '#core/business/accounts/account-list.ts';
import { currencySection, plansSection } from '#core/business/accounts/plans.ts';
import { findOrder } from '#core/business/operator-actions/subjects.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readUnauthenticated, writeUnauthenticated } from '#core/gateway/records/unauthenticated.ts';
import { actions } from '#core/web/actions/action-table.ts';
import { readAccountDetails, writeAccount } from '#core/web/resources/account-details.ts';
import { accounts } from '#core/web/resources/accounts.ts';
import { configurations } from '#core/web/resources/configurations.ts';
import { mails } from '#core/web/resources/mails.ts';
import { readOrderDetails } from '#core/web/resources/order-parts.ts';
import { openFlags, orders } from '#core/web/resources/orders.ts';
import { readingOf } from '#core/web/resources/resource.ts';

const pageSize = 100;
const unauthenticatedSpanMs = 86_400_000;

/** API readings of accounts, orders, and core's data about the shop. */
export const readings: readonly OperatorReading[] = [
  ...[accounts, orders, openFlags, mails, actions, configurations].map((resource) => readingOf(resource)),
  { path: '/accounts/{handle}', summary: 'read an account', query: {}, read: readAccount },
  {
    path: '/orders/{handle}',
    summary: 'read an order with its payments, refunds and flags',
    query: {},
    read: async (host, handle) => readOrderDetails(host.database, await findOrder(host, handle)),
  },
  {
    path: '/unauthenticated',
    summary: 'list who sends requests without an account, by block of addresses, in the last 24 hours',
    query: {},
    async read(host) {
      const since = host.now() - unauthenticatedSpanMs;
      const { requests, blocks } = writeUnauthenticated(await readUnauthenticated(host.database, since, pageSize));
      // `block` is the former name of `address_block`, until 0.7.
      return { requests, blocks: blocks.map((one) => ({ block: one.addressBlock, ...one })) };
    },
  },
  {
    path: '/plans',
    summary: 'list the plans that are sold',
    query: {},
    async read({ section }) {
      const currency = section(currencySection);
      return { currency, plans: section(plansSection).map((plan) => ({ ...plan, currency })) };
    },
  },
];

async function readAccount(host: Host, handle: string): Promise<object> {
  const one = writeAccount(await readAccountDetails(host, await findAccountByHandle(host, handle)));
  // `account` and `sign_ins` are former names, until 0.7.
  const {
    identities: signIns,
    sessions: _sessions,
    ledger: _ledger,
    usage: _usage,
    actions: _actions,
    ...account
  } = one;
  return { account, signIns, ...one };
}
