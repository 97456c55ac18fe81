import type { WorkerStatus } from '#core/gateway/health/worker-status.ts';
import type { Backoff } from '#core/platform/timing/backoff.ts';
import { renderMetric } from './merge-metrics.ts';
import type { WorkerProcess } from './worker-process.ts';

/** One place among the workers, filled by a worker and then by its successors. */
export interface WorkerSlot {
  readonly number: number;
  readonly backoff: Backoff;
  worker: WorkerProcess | undefined;
  restartTimer: NodeJS.Timeout | undefined;
  crashes: number;
  isReplacing: boolean;
}

export function describeSlots(slots: readonly WorkerSlot[]): WorkerStatus[] {
  return slots.map(({ number, worker, crashes }) => ({
    worker: number,
    state: describeState(worker),
    process: worker?.pid,
    since: worker === undefined ? undefined : new Date(worker.startedAt).toISOString(),
    crashes,
  }));
}

function describeState(worker: WorkerProcess | undefined): WorkerStatus['state'] {
  if (worker === undefined) return 'ended';
  return worker.isReady ? 'ready' : 'starting';
}

export function renderSlotMetrics(slots: readonly WorkerSlot[], respondingWorkers: readonly number[]): string {
  const readSlots = (read: (slot: WorkerSlot) => number) =>
    slots.map((slot) => ({ worker: slot.number, value: read(slot) }));
  return [
    renderMetric({
      name: 'worker_up',
      type: 'gauge',
      help: '1 while a worker is serving, 0 while it is restarting or not responding.',
      values: readSlots(({ number }) => (respondingWorkers.includes(number) ? 1 : 0)),
    }),
    renderMetric({
      name: 'worker_crashes_total',
      type: 'counter',
      help: 'Number of times that a worker ended by itself or was killed, and was restarted.',
      values: readSlots(({ crashes }) => crashes),
    }),
  ].join('');
}
