import { currencySection } from '#core/business/accounts/plans.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { dayRangeToTimes } from '#core/platform/database/day-range.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';

/** Late reports appear in the provider's books a day later, so the second day back is compared again. */
const comparedDaysAgo = [2, 1];

export const reconcileJob: JobDefinition = {
  name: 'reconcile-payments',
  description:
    'Compares the payments and refunds of the last two days with the books of their providers, and flags differences.',
  schedule: { pattern: '40 5 * * *' },
  async run(_, host) {
    const { time_zone: timeZone } = host.section(service);
    const today = host.now();
    for (const age of comparedDaysAgo) {
      const { day } = formatLocalTime(new Date(today - age * 86_400_000), timeZone);
      await compareDay(host, day, timeZone);
    }
  },
};

async function compareDay(host: Host, day: string, timeZone: string): Promise<void> {
  const { listProviders, reconcile } = await import('./reconcile.ts');
  const { since, until } = await dayRangeToTimes(host.database, timeZone, day, day);
  if (since === undefined || until === undefined) return;
  for (const provider of await listProviders(host, { since, until })) {
    try {
      const span = { since, until };
      const { differences, unread, here } = await reconcile(host, provider, span, host.section(currencySection));
      const result = `${here.payments.count} payments, ${here.refunds.count} refunds, ${differences.length} differences, ${unread} unread`;
      host.log[differences.length > 0 ? 'warn' : 'info'](`books of ${day} compared with ${provider}: ${result}`);
    } catch (error) {
      // The error is not rethrown: the day is compared again tomorrow, and can be with `daypass orders reconcile`.
      host.log.warn(`books of ${day} could not be compared with ${provider}: ${(error as Error).message}`);
    }
  }
}
