import { recordEvent } from '#core/business/accounts/account-events.ts';
import { readOldestUnconfirmed } from '#core/business/payments/payment-figures.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { localTime } from '#core/platform/timing/time-zone.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { alertsSection } from './section.ts';

/** Ms after which a reported payment that is not confirmed is an alert: the provider's retries take less. */
const longestUnconfirmed = 600_000;

/** Records what no single change reports: payments that stay unconfirmed, and the report of the day before. */
export const watchJob: JobDefinition = {
  name: 'watch-for-alerts',
  description: 'Records alerts about unconfirmed payments, and the daily report to the operator.',
  schedule: { every: 60 },
  attempts: 1,
  run: (_data, host) => watchForAlerts(host),
};

export async function watchForAlerts(host: Host): Promise<void> {
  const { mail = '', webhook, digest_hour: hour } = host.section(alertsSection);
  if (mail === '' && webhook === undefined) return;
  const { time_zone: timeZone } = host.section(service);
  const now = localTime(new Date(host.now()), timeZone);
  const oldest = await readOldestUnconfirmed(host.database);
  await host.database.fork().transactional(async (transaction) => {
    if (oldest !== undefined && host.now() - oldest > longestUnconfirmed) {
      const since = new Date(oldest).toISOString();
      await recordEvent(transaction, 'payments.delayed', { day: now.day, since }, `payments.delayed:${now.day}`);
    }
    if (Number(now.clock.slice(0, 2)) >= hour) {
      const day = dayBefore(now.day);
      await recordEvent(transaction, 'day.reported', { day }, `day.reported:${day}`);
    }
  });
}

function dayBefore(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
}
