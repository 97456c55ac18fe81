import type { JobDefinition } from '#core/gateway/host/host.ts';
import { dataRequestsSection } from './section.ts';

/** Runs even if requests are turned off, so that stored ones are deleted on time. */
export const retention: JobDefinition = {
  name: 'remove-old-data-requests',
  description: 'Deletes answered data requests data_requests.keep_years years after the year of the answer.',
  schedule: { pattern: '41 3 * * *' },
  async run(_data, { database, section, log }) {
    const { keep_years: years } = section(dataRequestsSection);
    const removed = await database.query(
      `delete from data_request
       where date_trunc('year', answered_at) + interval '1 year' + make_interval(years => ?) < clock_timestamp() returning 1`,
      [years],
    );
    if (removed.length > 0) log.info(`removed ${removed.length} data requests answered over ${years} years ago`);
  },
};
