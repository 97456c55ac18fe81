import type { Host } from '#core/gateway/host/host.ts';
import { checkOverduePayments } from './checks.ts';
import { expireUncheckedOrders } from './expiry.ts';
import { processOverdueNotifications } from './process-notification.ts';
import { settleOverdueRefunds } from './refund-status.ts';

const maxSweepMs = 10_000;
const batchSize = 10;

/**
 * Processes overdue work listed in the database, independently of the job queue: notifications first, then checks and refunds. Any number
 * of processes may sweep at the same time.
 */
export async function sweepPayments(host: Host): Promise<void> {
  const deadline = performance.now() + maxSweepMs;
  const drain = async (processBatch: (host: Host, limit: number) => Promise<number>) => {
    let processedCount = batchSize;
    while (processedCount === batchSize && performance.now() < deadline)
      processedCount = await processBatch(host, batchSize);
  };
  await drain(processOverdueNotifications);
  await Promise.all([drain(checkOverduePayments), drain(settleOverdueRefunds)]);
  await expireUncheckedOrders(host.database);
}
