import { getFailureCounts } from '#core/platform/background.ts';
import { type MemoryLevel, refusalReportMs } from '#core/platform/memory/budget.ts';
import { listNameFailures } from '#core/platform/names/install.ts';
import { countLostWrites } from '#core/platform/output.ts';
import { gauge, gaugeBy } from './gauge.ts';
import type { HealthCheck } from './health-check.ts';
import { healthReason } from './health-reason.ts';

/** Checks that the host names in use can be resolved. Cached addresses keep working for an hour after the first failure. */
export const namesCheck: HealthCheck = {
  name: 'names',
  check(host) {
    const failing = listNameFailures();
    if (failing.length === 0) return { ok: true };
    const reason = healthReason('health.reason.names', { count: failing.length });
    return { ok: false, reason, since: Math.round(host.now() - performance.now() + Math.min(...failing)) };
  },
};

export const backgroundGauge = gaugeBy(
  ['work'],
  'background_failures_total',
  'Failures of work that no request waits for, such as listeners and timers.',
  ({ log }) => getFailureCounts(log),
);

export const lostOutputGauge = gauge(
  'log_writes_lost_total',
  'Lines of the process log that could not be written, because the reader stopped or exited, or the disk is full.',
  countLostWrites,
);

const queueToleranceMs = 300_000;

/** Fails if the queue has been down for minutes, or if repeated jobs do not run although they were rescheduled. */
export const jobsCheck: HealthCheck = {
  name: 'jobs',
  runbook: 'jobs-late',
  check({ jobs: { schedules, failure }, now, monotonic }) {
    const failingMs = failure === undefined ? 0 : monotonic() - failure.since;
    if (failure !== undefined && failingMs >= queueToleranceMs) {
      const reason = healthReason('health.reason.jobs_stopped', { error: failure.reason });
      return { ok: false, reason, since: Math.round(now() - failingMs) };
    }
    const names = [...schedules.lateSince.keys()];
    if (names.length === 0) return { ok: true };
    const reason = healthReason('health.reason.jobs', { names: names.join(', ') });
    return { ok: false, reason, since: Math.min(...schedules.lateSince.values()) };
  },
};

/** Fails while no messages from other instances arrive although the shared store responds. */
export const eventsCheck: HealthCheck = {
  name: 'events',
  appliesTo: ({ shared }) => shared.kind === 'redis',
  check({ shared: { events } }) {
    if (events.refusal === undefined) return { ok: true };
    const { reason: error, since } = events.refusal;
    return { ok: false, reason: healthReason('health.reason.events', { error }), since };
  },
};

export const rescheduledGauge = gauge(
  'jobs_rescheduled_total',
  'Repeated jobs that missed two periods, for example after a clock was set back, and were rescheduled.',
  ({ jobs }) => jobs.schedules.rescheduleCount,
);

const levels: readonly MemoryLevel[] = ['normal', 'large', 'all'];

/** Fails while memory is low, and for a minute after a refusal. */
export const memoryCheck: HealthCheck = {
  name: 'memory',
  runbook: 'memory-scarce',
  check({ memory, now, monotonic }) {
    const { level, refusals, refusedAt, refusedSince } = memory;
    const hasRefused = monotonic() - refusedAt <= refusalReportMs;
    if (level === 'normal' && !hasRefused) return { ok: true };
    const counts = healthReason('health.reason.memory.counts', { ...refusals });
    const reason = healthReason(`health.reason.memory.${level}`, { counts });
    return { ok: false, reason, since: hasRefused ? refusedSince : now() };
  },
};

export const memoryGauges = [
  gauge('memory_capacity_bytes', 'Memory that bodies and caches may use in total.', ({ memory }) => memory.capacity),
  gaugeBy(['for'], 'memory_reserved_bytes', 'Memory reserved for bodies, and memory used by caches.', ({ memory }) =>
    Object.entries({ bodies: memory.reserved, caches: memory.cachedBytes }),
  ),
  gauge(
    'memory_level',
    'Memory pressure: 0 normal, 1 large bodies are refused, 2 new requests are refused.',
    ({ memory }) => levels.indexOf(memory.level),
  ),
  gaugeBy(['what'], 'memory_refusals_total', 'Refusals for lack of memory, by what was refused.', ({ memory }) =>
    Object.entries(memory.refusals),
  ),
];
