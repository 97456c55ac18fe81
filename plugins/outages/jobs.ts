import { gauge } from '#core/gateway/health/gauge.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { creditOutage, listOutages } from './credit.ts';
import { findOutages } from './find-outages.ts';
import { outagesSection } from './section.ts';

/** Seconds between two runs; short compared to the ten minutes that an outage waits for its records. */
const interval = 60;
/** Maximum outages per run. */
const looked = 100;

/**
 * Credits ended outages. Outages found before an operator approved one wait for the operator, and so do unconfirmed ones.
 */
export const creditJob: JobDefinition = {
  name: 'credit-outages',
  description: 'Gives customers back the time in which models were down, once.',
  schedule: { every: interval },
  attempts: 1,
  run: (_data, host) => creditOutages(host),
};

export async function creditOutages(host: Pick<Host, 'database' | 'section' | 'log'>): Promise<void> {
  if (!host.section(outagesSection).credit) return;
  await findOutages(host);
  for (const outage of (await listOutages(host.database, looked, 'automatic')).toReversed()) {
    const { accounts, seconds } = await creditOutage(host, outage);
    host.log.info(`outage of ${outage.model}: ${accounts} accounts got ${seconds} s back`);
  }
}

/** Identical on all instances; without readings while credits are off. */
export const outageGauges = [
  gauge(
    'outages_waiting',
    'Outages for which customers have not had their time back: those found before an operator has approved the first wait for him, and those that nothing confirms.',
    (host) =>
      count(host, `select count(*)::float8 as value from outage where credited_at is null and declined_at is null`),
  ),
  gauge('outage_credit_seconds_total', 'Time that customers have had back for outages.', (host) =>
    count(host, `select coalesce(sum(seconds), 0)::float8 as value from outage_credit`),
  ),
];

async function count({ database, section }: Host, sql: string): Promise<number | undefined> {
  return section(outagesSection).credit ? (await database.query<{ value: number }>(sql))[0]?.value : undefined;
}
