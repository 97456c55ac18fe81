import type { Job } from 'bullmq';
import type { FailedJob, QueueState } from './jobs.ts';
import type { KitQueue } from './queue-kit.ts';

/** Failed jobs that are listed at most, and ms for which they are. */
const failures = { most: 100, age: 24 * 3_600_000 };

export async function readQueueState(queue: KitQueue): Promise<QueueState> {
  const [counts, waiting, failed] = await Promise.all([
    queue.getJobCounts('wait', 'active', 'prioritized'),
    queue.getWaiting(0, 0),
    queue.getFailed(0, failures.most - 1),
  ]);
  const now = Date.now();
  const recent = failed.map(describe).filter(({ failedAt }) => now - failedAt < failures.age);
  return {
    waiting: (counts['wait'] ?? 0) + (counts['prioritized'] ?? 0),
    running: counts['active'] ?? 0,
    longestWait: Math.max(0, ...waiting.map((job) => now - dueAt(job))),
    failed: recent.sort((one, other) => other.failedAt - one.failedAt),
  };
}

function describe({ name, failedReason, finishedOn, timestamp }: Job): FailedJob {
  return { name, reason: failedReason, failedAt: finishedOn ?? timestamp };
}

/** A delayed job waits from the end of its delay on. */
function dueAt({ timestamp, delay }: Job): number {
  return timestamp + delay;
}
