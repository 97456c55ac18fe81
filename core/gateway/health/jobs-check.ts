import type { Gauge } from './gauge.ts';
import type { HealthCheck } from './health-check.ts';

/** Fails while repeated jobs do not run, although they were scheduled anew. */
export const jobsCheck: HealthCheck = {
  name: 'jobs',
  check({ jobs: { schedules } }) {
    const names = [...schedules.late.keys()];
    if (names.length === 0) return { ok: true };
    const reason = `Repeated jobs do not run although they are scheduled anew every minute (${names.join(', ')}): read the log for their failures and for the job queue's, and restart the gateway if there are none.`;
    return { ok: false, reason, since: Math.min(...schedules.late.values()) };
  },
};

export const rescheduledGauge: Gauge = {
  name: 'jobs_rescheduled_total',
  description:
    'Repeated jobs that had missed two of their periods, as after a clock was set back, and were scheduled anew.',
  isCounter: true,
  read: ({ jobs }) => [{ value: jobs.schedules.rescheduled }],
};
