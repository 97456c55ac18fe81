import type { Host } from '#core/gateway/host/host.ts';
import { checkOverdue } from './checks.ts';
import { expireUncheckedOrders } from './expiry.ts';
import { processOverdue } from './process-notification.ts';
import { settleOverdueRefunds } from './refund-status.ts';

const maxSweepMs = 10_000;
const batchSize = 10;

/**
 * Processes overdue work from the database, independently of the job queue: notifications first, then checks and refunds. Any number of
 * processes may sweep at the same time.
 */
export async function sweepPayments(host: Host): Promise<void> {
  const deadline = performance.now() + maxSweepMs;
  const drain = async (processBatch: (host: Host, limit: number) => Promise<number>) => {
    let processed = batchSize;
    while (processed === batchSize && performance.now() < deadline) processed = await processBatch(host, batchSize);
  };
  await drain(processOverdue);
  await Promise.all([drain(checkOverdue), drain(settleOverdueRefunds)]);
  await expireUncheckedOrders(host.database);
}
