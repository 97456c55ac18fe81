import { gauge, gaugeBy } from '#core/gateway/health/gauge.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Queries } from '#core/platform/database/database.ts';
import type { PaymentError } from './payment-provider.ts';

/** Time after which a reported but unconfirmed payment is a problem. The provider's retries take less time. */
export const maxUnconfirmedMs = 600_000;

export interface CheckCounts {
  readonly attempts: number; // attempts whose status will still be read
  readonly refunds: number; // refunds that the provider has not confirmed
  readonly notifications: number; // not processed yet
}

export async function countChecks(database: Queries): Promise<CheckCounts> {
  const [counts] = await database.query<CheckCounts>(
    `select (select count(*) from payment_attempt where next_check_at is not null)::float8 as attempts,
       (select count(*) from refund where state in ('asked', 'sent'))::float8 as refunds,
       (select count(*) from payment_notification where next_try_at is not null)::float8 as notifications`,
  );
  return counts ?? { attempts: 0, refunds: 0, notifications: 0 };
}

/**
 * Returns when the oldest unconfirmed payment was reported, in epoch ms. A payment is unconfirmed until its notification is processed.
 * Notifications about charges that are not ours are ignored, because no buyer waits for them.
 */
export async function readOldestUnconfirmed(database: Queries): Promise<number | undefined> {
  const [row] = await database.query<{ at: number | null }>(
    `select (extract(epoch from min(received_at)) * 1000)::float8 as at
     from payment_notification n where next_try_at is not null and exists (
       select 1 from payment_attempt a
       where a.provider = n.provider and (a.reference = n.reference or a.provider_reference = n.provider_reference))`,
  );
  return row?.at ?? undefined;
}

export function countOpenFlags(database: Queries): Promise<{ kind: string; count: number }[]> {
  return database.query(
    `select kind, count(*)::float8 as count from order_flag where resolved_at is null group by kind order by kind`,
  );
}

const getCallCounts = (host: Pick<Host, 'keep'>) =>
  host.keep('payments/call-counts', () => new Map<string, [provider: string, result: string, calls: number]>());

export function countCall(host: Pick<Host, 'keep'>, provider: string, result: 'ok' | PaymentError['kind']): void {
  const counts = getCallCounts(host);
  const key = `${provider} ${result}`;
  counts.set(key, [provider, result, (counts.get(key)?.[2] ?? 0) + 1]);
}

/** Payment metrics. All except the calls are the same on every instance. */
export const paymentGauges = [
  gaugeBy(['state'], 'orders', 'Orders by state.', async ({ database }) => {
    const rows = await database.query<{ state: string; orders: number }>(
      'select state, count(*)::float8 as orders from plan_order group by state',
    );
    return rows.map(({ state, orders }) => [state, orders]);
  }),
  gaugeBy(['kind'], 'order_flags_open', 'Unresolved flags of orders by kind.', async ({ database }) =>
    (await countOpenFlags(database)).map(({ kind, count }) => [kind, count]),
  ),
  gauge(
    'payment_unconfirmed_oldest_seconds',
    'Age of the oldest reported payment that is not confirmed yet, or 0.',
    async (host) => {
      const oldest = await readOldestUnconfirmed(host.database);
      return oldest === undefined ? 0 : Math.max(0, (host.now() - oldest) / 1000);
    },
  ),
  gauge(
    'refunds_pending',
    'Refunds that the provider has not confirmed.',
    async ({ database }) => (await countChecks(database)).refunds,
  ),
  gaugeBy(
    ['provider', 'result'],
    'payment_provider_calls_total',
    'Calls to payment providers by result: ok, rejected, temporary, unknown.',
    (host) => getCallCounts(host).values(),
  ),
];
