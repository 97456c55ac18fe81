import type { JobDefinition } from '#core/gateway/host/host.ts';
import { numberJob } from './numbers.ts';
import { sellerSection } from './section.ts';

export const retention: JobDefinition = {
  name: 'remove-old-receipts',
  description: 'Deletes the receipts of an order seller.keep_years after the year of the newest one.',
  schedule: { pattern: '23 3 * * *' },
  async run(_data, { database, section, log }) {
    const { name, keep_years: years } = section(sellerSection);
    // Without a seller, it is unknown how long receipts must be kept.
    if (name === undefined) return;
    // A refund refers to its payment, whose receipt is at least as old.
    const removed = await database.query(
      `delete from receipt r where (number is not null or is_test) and not exists (
         select 1 from receipt of_order where of_order.order_id = r.order_id
           and date_trunc('year', of_order.made_at) + interval '1 year' + make_interval(years => ?) >= clock_timestamp()
       ) returning 1`,
      [years],
    );
    if (removed.length > 0) log.info(`removed ${removed.length} receipts older than ${years} years`);
  },
};

export const receiptJobs = [numberJob, retention] as const;
