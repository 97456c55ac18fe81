import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Host } from '../host/host.ts';
import { stalledTime } from '#core/platform/timing/loop-lag.ts';
import type { Gauge } from './gauge.ts';

/** Ms between two measurements of the event loop's lag. */
const resolution = 20;

/** Measures from the first scrape on: a process that nobody watches has no timer for it. */
class LagMonitor implements Disposable {
  readonly #delay = monitorEventLoopDelay({ resolution });

  constructor() {
    this.#delay.enable();
  }

  /** Seconds by quantile since the last call. */
  take(): { readonly quantile: string; readonly seconds: number }[] {
    const taken = [50, 99, 100].map((percent) => ({
      quantile: String(percent / 100),
      seconds: Math.max(0, this.#delay.percentile(percent) / 1e9 - resolution / 1e3),
    }));
    this.#delay.reset();
    return taken;
  }

  [Symbol.dispose](): void {
    this.#delay.disable();
  }
}

const lagMonitor = (host: Pick<Host, 'keep'>) => host.keep('health/lag-monitor', () => new LagMonitor());

/** What every process has: its age, CPU, memory and event loop. */
export const processGauges: readonly Gauge[] = [
  {
    name: 'process_start_time_seconds',
    description: 'Unix time at which this process started.',
    read: () => [{ value: Math.round(performance.timeOrigin) / 1000 }],
  },
  {
    name: 'process_cpu_seconds_total',
    description: 'CPU time of this process, without that of PostgreSQL.',
    isCounter: true,
    read: () => {
      const { user, system } = process.cpuUsage();
      return [{ value: (user + system) / 1e6 }];
    },
  },
  {
    name: 'process_resident_memory_bytes',
    description: 'Memory that this process holds, without that of PostgreSQL.',
    read: () => [{ value: process.memoryUsage.rss() }],
  },
  {
    name: 'event_loop_lag_seconds',
    description: 'How late timers were since the last scrape: half of them, 99 %, and the latest.',
    labels: ['quantile'],
    read: (host) =>
      lagMonitor(host)
        .take()
        .map(({ quantile, seconds }) => ({ value: seconds, labels: { quantile } })),
  },
  {
    name: 'event_loop_active_seconds_total',
    description: 'Time in which the event loop worked; its rate is the utilization of one core, from 0 to 1.',
    isCounter: true,
    read: () => [{ value: performance.eventLoopUtilization().active / 1e3 }],
  },
  {
    name: 'event_loop_stalled_seconds_total',
    description: 'Time in which the event loop was blocked for more than 0.1 s, or the machine suspended.',
    isCounter: true,
    read: () => [{ value: stalledTime() / 1e3 }],
  },
];
