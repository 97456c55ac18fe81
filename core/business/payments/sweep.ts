import type { Host } from '#core/gateway/host/host.ts';
import { checkOverdue } from './checks.ts';
import { expireForgotten } from './expiry.ts';
import { processOverdue } from './process-notification.ts';
import { settleOverdueRefunds } from './refund-status.ts';

/** Ms after which a sweep leaves the remainder to the next one. */
const longestSweep = 10_000;
/** What is done at once. */
const batch = 10;

/**
 * Does what is overdue in the database, whatever has become of the queue: notifications first, then checks and refunds.
 * Any number of processes may sweep at once.
 */
export async function sweepPayments(host: Host): Promise<void> {
  const end = performance.now() + longestSweep;
  const drain = async (work: (host: Host, limit: number) => Promise<number>) => {
    while (performance.now() < end && (await work(host, batch)) === batch);
  };
  await drain(processOverdue);
  await Promise.all([drain(checkOverdue), drain(settleOverdueRefunds)]);
  await expireForgotten(host.database);
}
