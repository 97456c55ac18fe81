import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { readStalledMs } from '#core/platform/timing/loop-lag.ts';
import { version } from '#core/platform/version.ts';
import type { Host } from '../host/host.ts';
import { gauge, gaugeBy } from './gauge.ts';

const resolutionMs = 20;

const windowMs = 60_000; // minimum that a reading covers, so that no lag is missed between two scrapes

/**
 * Starts on the first scrape, so that an unscraped process runs no timer. Reads the older of two measurements. When the younger one covers
 * the window, the older one restarts as the younger, so that concurrent scrapers do not affect each other.
 */
class LagMonitor implements Disposable {
  #older = monitorEventLoopDelay({ resolution: resolutionMs });
  #younger = monitorEventLoopDelay({ resolution: resolutionMs });
  #youngerSince: number; // monotonic ms

  constructor(now: number) {
    this.#youngerSince = now;
    this.#older.enable();
    this.#younger.enable();
  }

  read(now: number): [quantile: string, seconds: number][] {
    if (now - this.#youngerSince >= windowMs) {
      [this.#older, this.#younger] = [this.#younger, this.#older];
      this.#younger.reset();
      this.#youngerSince = now;
    }
    return [50, 99, 100].map((percent) => [
      String(percent / 100),
      Math.max(0, this.#older.percentile(percent) / 1e9 - resolutionMs / 1e3),
    ]);
  }

  [Symbol.dispose](): void {
    this.#older.disable();
    this.#younger.disable();
  }
}

const getLagMonitor = (host: Pick<Host, 'keep' | 'monotonic'>) =>
  host.keep('health/lag-monitor', () => new LagMonitor(host.monotonic()));

export const processGauges = [
  // Versions are labels by Prometheus convention.
  gaugeBy(
    ['version', 'node'],
    'build_info',
    'Always 1; the labels contain the versions of the gateway and of Node.js.',
    () => [[version, process.versions.node, 1]],
  ),
  gauge(
    'process_start_time_seconds',
    'Unix time at which this process started.',
    () => Math.round(performance.timeOrigin) / 1000,
  ),
  gauge('process_cpu_seconds_total', 'CPU time of this process, excluding PostgreSQL.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }),
  gauge('process_resident_memory_bytes', 'Resident memory of this process, excluding PostgreSQL.', () =>
    process.memoryUsage.rss(),
  ),
  gaugeBy(
    ['quantile'],
    'event_loop_lag_seconds',
    'Delay of timers in the last one to two minutes: median, 99th percentile and maximum.',
    (host) => getLagMonitor(host).read(host.monotonic()),
  ),
  gauge(
    'event_loop_active_seconds_total',
    'Time for which the event loop was active; its rate is the utilization of one core, from 0 to 1.',
    () => performance.eventLoopUtilization().active / 1e3,
  ),
  gauge(
    'event_loop_stalled_seconds_total',
    'Time for which the event loop was blocked for more than 0.1 s, or the machine was suspended.',
    () => readStalledMs() / 1e3,
  ),
];
