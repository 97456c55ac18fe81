import type { Host } from '#core/gateway/host/host.ts';
import { checkOverdue } from './checks.ts';
import { expireForgotten } from './expiry.ts';
import { processOverdue } from './process-notification.ts';
import { settleOverdueRefunds } from './refund-status.ts';

const maxSweepMs = 10_000;
const batchSize = 10;

/**
 * Does overdue work from the database, independently of the job queue: notifications first, then checks and refunds. Any number of
 * processes may sweep at once.
 */
export async function sweepPayments(host: Host): Promise<void> {
  const end = performance.now() + maxSweepMs;
  const drain = async (work: (host: Host, limit: number) => Promise<number>) => {
    while (performance.now() < end && (await work(host, batchSize)) === batchSize);
  };
  await drain(processOverdue);
  await Promise.all([drain(checkOverdue), drain(settleOverdueRefunds)]);
  await expireForgotten(host.database);
}
