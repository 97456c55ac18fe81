import { checkJob } from '#core/business/payments/check-schedule.ts';
import { checkPayment } from '#core/business/payments/checks.ts';
import { removeOldNotifications } from '#core/business/payments/inbox.ts';
import { notificationJob, processNotification } from '#core/business/payments/process-notification.ts';
import { paymentsSection } from '#core/business/payments/section.ts';
import { sweepPayments } from '#core/business/payments/sweep.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { object, string } from '#core/platform/schema.ts';

const sweepIntervalSeconds = 15;
/** The queue does not retry: the sweep schedules failed work again, and soon runs again itself. */
const attempts = 1;

const statusCheck: JobDefinition<{ reference: string }> = {
  name: checkJob,
  description: 'Checks the status of a payment with its provider when a check is due.',
  data: object(['reference'], { reference: string() }),
  attempts,
  run: ({ reference }, host) => checkPayment(host, reference),
};

const notificationRetry: JobDefinition<{ id: string }> = {
  name: notificationJob,
  description: 'Retries processing a notification from a payment provider.',
  data: object(['id'], { id: string() }),
  attempts,
  run: ({ id }, host) => processNotification(host, id),
};

const sweep: JobDefinition = {
  name: 'sweep-payments',
  description: 'Finds overdue notifications, checks and refunds, including those lost by the queue.',
  schedule: { every: sweepIntervalSeconds },
  attempts,
  run: (_, host) => sweepPayments(host),
};

const retention: JobDefinition = {
  name: 'remove-old-payment-notifications',
  description: 'Deletes processed provider notifications older than payments.keep_notifications_days.',
  schedule: { pattern: '17 3 * * *' },
  async run(_, { database, section, log }) {
    const removed = await removeOldNotifications(database, section(paymentsSection).keep_notifications_days);
    if (removed > 0) log.info(`removed ${removed} old payment provider notifications`);
  },
};

export const paymentJobs = [statusCheck, notificationRetry, sweep, retention] as const;
