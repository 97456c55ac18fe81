import type { JobDefinition } from '#core/gateway/host/host.ts';
import { numberJob } from './numbers.ts';
import { sellerSection } from './section.ts';

const retention: JobDefinition = {
  name: 'remove-old-receipts',
  description: 'Deletes receipts seller.keep_years after the end of their year.',
  schedule: { pattern: '23 3 * * *' },
  async run(_data, { database, section, log }) {
    const { name, keep_years: years } = section(sellerSection);
    // Without a seller nothing says how long its receipts are kept.
    if (name === undefined) return;
    const removed = await database.query(
      `delete from receipt where (number is not null or is_test)
         and date_trunc('year', made_at) + interval '1 year' + make_interval(years => ?) < clock_timestamp() returning 1`,
      [years],
    );
    if (removed.length > 0) log.info(`removed ${removed.length} receipts that are older than ${years} years`);
  },
};

export const receiptJobs = [numberJob, retention] as const;
