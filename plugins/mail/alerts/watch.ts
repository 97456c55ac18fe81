import { recordEvent } from '#core/business/accounts/account-events.ts';
import { alertsSection } from '#core/business/mail/alerts-section.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { noteFailure } from '#core/platform/background.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';
import { createProblemReader } from '#core/web/problems/find-problems.ts';
import type { AlertSource } from './alert.ts';

export const createWatchJob = (gateway: Required<AlertSource>): JobDefinition => ({
  name: 'watch-for-alerts',
  description: 'Records alerts about unconfirmed payments, and the daily report to the operator.',
  schedule: { every: 60 },
  attempts: 1,
  run: (_data, host) => watchForAlerts(host, gateway),
});

export async function watchForAlerts(host: Host, { problems, pageTexts }: Required<AlertSource>): Promise<void> {
  const { mail = '', webhook, digest_hour: hour } = host.section(alertsSection);
  if (mail === '' && webhook === undefined) return;
  const { time_zone: timeZone } = host.section(service);
  const now = formatLocalTime(new Date(host.now()), timeZone);
  const reader = createProblemReader(pageTexts, host, 'en');
  const kinds = problems.values().flatMap(({ alert, find }) => (alert?.isWatched === true ? [{ alert, find }] : []));
  const results = await Promise.all(
    kinds.map(async ({ alert: { event }, find }) => {
      try {
        return { event, problem: (await find(reader))[0] };
      } catch (error) {
        // A check that fails or is slow must not hold up the others.
        noteFailure(host.log, `checking the condition of ${event}`, error);
        return { event, problem: undefined };
      }
    }),
  );
  await host.database.fork().transactional(async (transaction) => {
    for (const { event, problem } of results) {
      if (problem === undefined) continue;
      const since = (problem.since ?? new Date(host.now())).toISOString();
      await recordEvent(transaction, event, { day: now.day, since }, `${event}:${now.day}`);
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
