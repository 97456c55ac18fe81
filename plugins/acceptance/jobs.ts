import { loadReceiptSteps } from '#core/business/payments/receipts.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';

const defaultRetentionYears = 10; // the default of `seller.keep_years`
const unpaidRetentionDays = 90;

/**
 * Deletes acceptances when the receipts of their order are deleted, or after 90 days if the order can no longer be paid. An expired or
 * failed order can be charged again at any time, under the terms accepted with it, so its acceptances stay.
 */
export const retention: JobDefinition = {
  name: 'remove-old-acceptances',
  description:
    'Deletes acceptances of terms together with the receipts of their order, and after 90 days if the order cannot be paid.',
  schedule: { pattern: '33 3 * * *' },
  async run(_data, host) {
    const { database, log } = host;
    const years = (await loadReceiptSteps(database))?.readRetentionYears(host) ?? defaultRetentionYears;
    const removed = await database.query(
      `delete from acceptance a where accepted_at < clock_timestamp() - make_interval(days => ?) and not exists (
         select from payment p where p.order_id = a.order_id and date_trunc('year', greatest(p.paid_at,
             (select max(r.finished_at) from refund r where r.order_id = a.order_id)))
           + interval '1 year' + make_interval(years => ?) >= clock_timestamp()
       ) and not exists (
         select from plan_order o join account c on c.id = o.account_id
         where o.id = a.order_id and o.state in ('created', 'pending', 'expired', 'failed') and c.deleted_at is null
       ) returning 1`,
      [unpaidRetentionDays, years],
    );
    if (removed.length > 0) log.info(`removed ${removed.length} acceptances of old or unpaid orders`);
  },
};
