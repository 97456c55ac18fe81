import { countFailures } from '#core/platform/background.ts';
import { failingNames } from '#core/platform/names/install.ts';
import { lostWrites } from '#core/platform/output.ts';
import type { Gauge } from './gauge.ts';
import type { HealthCheck } from './health-check.ts';

/** Whether names in use can be resolved. Their last answers hide it for an hour. */
export const namesCheck: HealthCheck = {
  name: 'names',
  check(host) {
    const failing = failingNames();
    if (failing.length === 0) return { ok: true };
    const count = failing.length === 1 ? 'A host name in use' : `${failing.length} host names in use`;
    const reason = `${count} cannot be resolved: the last addresses are used for an hour. Check the name servers of this machine; the log has the name.`;
    return { ok: false, reason, since: Math.round(host.now() - performance.now() + Math.min(...failing)) };
  },
};

/** Failures of work that nobody awaits. */
export const backgroundGauge: Gauge = {
  name: 'background_failures_total',
  description: 'Failures of work that no request waits for, such as listeners and timers.',
  labels: ['work'],
  isCounter: true,
  read: ({ log }) => [...countFailures(log)].map(([work, value]) => ({ value, labels: { work } })),
};

/** Lines of the process log that nobody can read. */
export const lostOutputGauge: Gauge = {
  name: 'log_writes_lost_total',
  description:
    'Lines of the process log that could not be written, because their reader has stopped or gone, or the disk is full.',
  isCounter: true,
  read: () => [{ value: lostWrites() }],
};
