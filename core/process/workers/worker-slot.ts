import type { WorkerStatus } from '#core/gateway/health/worker-status.ts';
import type { Backoff } from '#core/platform/timing/backoff.ts';
import { writeMetric } from './merge-metrics.ts';
import type { WorkerProcess } from './worker-process.ts';

/** The place of a worker, which successive processes fill. */
export interface WorkerSlot {
  readonly number: number;
  readonly backoff: Backoff;
  worker: WorkerProcess | undefined;
  /** Timer of the next restart. */
  timer: NodeJS.Timeout | undefined;
  crashes: number;
  isReplacing: boolean;
}

export function describeSlots(slots: readonly WorkerSlot[]): WorkerStatus[] {
  return slots.map(({ number, worker, crashes }) => ({
    worker: number,
    state: worker === undefined ? 'ended' : worker.isReady ? 'ready' : 'starting',
    process: worker?.pid,
    since: worker === undefined ? undefined : new Date(worker.startedAt).toISOString(),
    crashes,
  }));
}

/** @param answered numbers of the workers that answered */
export function writeSlotMetrics(slots: readonly WorkerSlot[], answered: readonly number[]): string {
  const of = (read: (slot: WorkerSlot) => number) => slots.map((slot) => ({ worker: slot.number, value: read(slot) }));
  return [
    writeMetric({
      name: 'worker_up',
      type: 'gauge',
      help: '1 while a worker serves, 0 while it is started again or does not answer.',
      values: of(({ number }) => (answered.includes(number) ? 1 : 0)),
    }),
    writeMetric({
      name: 'worker_crashes_total',
      type: 'counter',
      help: 'Times that a worker has ended by itself or was killed, and was started again.',
      values: of(({ crashes }) => crashes),
    }),
  ].join('');
}
