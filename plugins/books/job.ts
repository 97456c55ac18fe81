import { currencySection } from '#core/business/accounts/plans.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { dayRangeToTimes } from '#core/platform/database/day-range.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';

/** Number of past days to compare: a late report appears in the provider's books a day later. */
const comparedDays = [2, 1];

export const reconcileJob: JobDefinition = {
  name: 'reconcile-payments',
  description:
    'Compares the payments and refunds of the last two days with the books of their providers, and flags differences.',
  schedule: { pattern: '40 5 * * *' },
  async run(_, host) {
    const { time_zone: timeZone } = host.section(service);
    const today = host.now();
    for (const ago of comparedDays) {
      const { day } = formatLocalTime(new Date(today - ago * 86_400_000), timeZone);
      await compareDay(host, day, timeZone);
    }
  },
};

async function compareDay(host: Host, day: string, timeZone: string): Promise<void> {
  const { providersOf, reconcile } = await import('./reconcile.ts');
  const { since, until } = await dayRangeToTimes(host.database, timeZone, day, day);
  if (since === undefined || until === undefined) return;
  for (const provider of await providersOf(host, { since, until })) {
    try {
      const found = await reconcile(host, provider, { since, until }, host.section(currencySection));
      const { differences, unread, here } = found;
      const result = `${here.payments.count} payments, ${here.refunds.count} refunds, ${differences.length} differences, ${unread} unread`;
      host.log[differences.length > 0 ? 'warn' : 'info'](`books of ${day} compared with ${provider}: ${result}`);
    } catch (error) {
      // Not rethrown: the day is compared again tomorrow, and by `daypass orders reconcile`.
      host.log.warn(`books of ${day} could not be compared with ${provider}: ${(error as Error).message}`);
    }
  }
}
