import { currencySection } from '#core/business/accounts/plans.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { rangeOfDays } from '#core/platform/database/day-range.ts';
import { localTime } from '#core/platform/timing/time-zone.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { providersOf, reconcile } from '#core/business/payments/reconcile.ts';
import { checkJob } from '#core/business/payments/check-schedule.ts';
import { checkPayment } from '#core/business/payments/checks.ts';
import { notificationJob, processNotification } from '#core/business/payments/process-notification.ts';
import { removeOldNotifications } from '#core/business/payments/inbox.ts';
import { paymentsSection } from '#core/business/payments/section.ts';
import { sweepPayments } from '#core/business/payments/sweep.ts';
import { object, string } from '#core/platform/schema.ts';

/** Seconds between sweeps. */
const sweepInterval = 15;

const check: JobDefinition<{ reference: string }> = {
  name: checkJob,
  description: 'Reads the status of one payment at its provider, when the database has a check due.',
  data: object(['reference'], { reference: string() }),
  attempts: 1,
  run: ({ reference }, host) => checkPayment(host, reference),
};

const notification: JobDefinition<{ id: string }> = {
  name: notificationJob,
  description: 'Processes a notification of a payment provider again.',
  data: object(['id'], { id: string() }),
  attempts: 1,
  run: ({ id }, host) => processNotification(host, id),
};

const sweep: JobDefinition = {
  name: 'sweep-payments',
  description: 'Finds notifications, checks and refunds that are overdue, whatever the queue has lost.',
  schedule: { every: sweepInterval },
  attempts: 1,
  run: (_, host) => sweepPayments(host),
};

const retention: JobDefinition = {
  name: 'remove-old-payment-notifications',
  description: 'Deletes processed notifications of providers after payments.keep_notifications_days.',
  schedule: { pattern: '17 3 * * *' },
  async run(_, { database, section, log }) {
    const removed = await removeOldNotifications(database, section(paymentsSection).keep_notifications_days);
    if (removed > 0) log.info(`removed ${removed} old notifications of payment providers`);
  },
};

/** Days before today that are compared: what a provider reports late is in its books a day later. */
const comparedDays = [2, 1];

const books: JobDefinition = {
  name: 'reconcile-payments',
  description:
    'Compares the payments and refunds of the last two days with the books of their providers, and flags differences.',
  schedule: { pattern: '40 5 * * *' },
  async run(_, host) {
    const { time_zone: timeZone } = host.section(service);
    const today = host.now();
    for (const ago of comparedDays) {
      const { day } = localTime(new Date(today - ago * 86_400_000), timeZone);
      await reconcileDay(host, day, timeZone);
    }
  },
};

async function reconcileDay(host: Host, day: string, timeZone: string): Promise<void> {
  const { since, until } = await rangeOfDays(host.database, timeZone, day, day);
  if (since === undefined || until === undefined) return;
  for (const provider of await providersOf(host, { since, until })) {
    try {
      const found = await reconcile(host, provider, { since, until }, host.section(currencySection));
      const { differences, unread, here } = found;
      const result = `${here.payments.count} payments, ${here.refunds.count} refunds, ${differences.length} differences, ${unread} unread`;
      host.log[differences.length > 0 ? 'warn' : 'info'](`books of ${day} compared with ${provider}: ${result}`);
    } catch (error) {
      // The day is compared once more tomorrow, and by `daypass orders reconcile`.
      host.log.warn(`books of ${day} could not be compared with ${provider}: ${(error as Error).message}`);
    }
  }
}

/** What the payments need to be done in the background. */
export const paymentJobs = [check, notification, sweep, retention, books] as const;
