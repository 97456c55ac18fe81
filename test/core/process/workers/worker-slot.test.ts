import { expect, it } from 'vitest';
import { Backoff } from '#core/platform/timing/backoff.ts';
import type { WorkerProcess } from '#core/process/workers/worker-process.ts';
import { describeSlots, type WorkerSlot, renderSlotMetrics } from '#core/process/workers/worker-slot.ts';

const slot = (number: number, worker?: Partial<WorkerProcess>, crashes = 0): WorkerSlot => ({
  number,
  backoff: new Backoff({ min: 1, max: 1 }),
  worker: worker as WorkerProcess | undefined,
  restartTimer: undefined,
  crashes,
  isReplacing: false,
});
const slots = [
  slot(1, { pid: 11, isReady: true, startedAt: Date.UTC(2026, 10, 1) }),
  slot(2, { pid: 12, isReady: false, startedAt: Date.UTC(2026, 10, 2) }, 1),
  slot(3, undefined, 4),
];

it('a worker is ready, starting, or ended until it is started again', () => {
  expect(describeSlots(slots)).toEqual([
    { worker: 1, state: 'ready', process: 11, since: '2026-11-01T00:00:00.000Z', crashes: 0 },
    { worker: 2, state: 'starting', process: 12, since: '2026-11-02T00:00:00.000Z', crashes: 1 },
    { worker: 3, state: 'ended', process: undefined, since: undefined, crashes: 4 },
  ]);
});

it('metrics of workers have each of them, whether or not it has answered', () => {
  const lines = renderSlotMetrics(slots, [1]).split('\n');
  expect(lines.filter((line) => !line.startsWith('# HELP'))).toEqual([
    '# TYPE daypass_worker_up gauge',
    'daypass_worker_up{worker="1"} 1',
    'daypass_worker_up{worker="2"} 0',
    'daypass_worker_up{worker="3"} 0',
    '# TYPE daypass_worker_crashes_total counter',
    'daypass_worker_crashes_total{worker="1"} 0',
    'daypass_worker_crashes_total{worker="2"} 1',
    'daypass_worker_crashes_total{worker="3"} 4',
    '',
  ]);
});
