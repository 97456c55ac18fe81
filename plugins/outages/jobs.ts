import { gauge } from '#core/gateway/health/gauge.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { creditOutage, listOutages } from './credit.ts';
import { findOutages } from './find-outages.ts';
import { outagesSection } from './section.ts';

const intervalSeconds = 60; // outages wait ten minutes for their records anyway
const maxOutages = 100;

/** Outages found before the first approval, and unconfirmed ones, wait for an operator. */
export const creditJob: JobDefinition = {
  name: 'credit-outages',
  description: 'Credits customers once for the time that models were down.',
  schedule: { every: intervalSeconds },
  attempts: 1,
  run: (_data, host) => creditDueOutages(host),
};

export async function creditDueOutages(host: Pick<Host, 'database' | 'section' | 'log'>): Promise<void> {
  if (!host.section(outagesSection).credit) return;
  await findOutages(host);
  for (const outage of (await listOutages(host.database, maxOutages, 'automatic')).toReversed()) {
    const { accounts, seconds } = await creditOutage(host, outage);
    host.log.info(`outage of ${outage.model}: credited ${seconds} s to ${accounts} accounts`);
  }
}

/** All instances report the same values, and none while credits are off. */
export const outageGauges = [
  gauge(
    'outages_waiting',
    'Outages that are neither credited nor declined. Outages found before the first approval, and unconfirmed outages, wait for an operator.',
    (host) =>
      readFigure(
        host,
        `select count(*)::float8 as value from outage where credited_at is null and declined_at is null`,
      ),
  ),
  gauge('outage_credit_seconds_total', 'Time credited to customers for outages.', (host) =>
    readFigure(host, `select coalesce(sum(seconds), 0)::float8 as value from outage_credit`),
  ),
];

async function readFigure({ database, section }: Host, sql: string): Promise<number | undefined> {
  return section(outagesSection).credit ? (await database.query<{ value: number }>(sql))[0]?.value : undefined;
}
