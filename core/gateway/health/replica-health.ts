import { gauge } from './gauge.ts';
import type { HealthCheck } from './health-check.ts';
import type { StatusReport } from './status-report.ts';

/** Whether the replica of DATABASE_READ_URL is read. */
export const replicaCheck: HealthCheck = {
  name: 'replica',
  appliesTo: ({ database }) => database.records.replica !== undefined,
  check({ database }) {
    const { fault, since = 0 } = database.records.replica ?? {};
    if (fault === undefined) return { ok: true };
    const reason = `The replica of PostgreSQL is not read: ${fault}. Requests are listed, exported and counted on the primary until it keeps up; repair it, or correct DATABASE_READ_URL.`;
    return { ok: false, reason, since };
  },
};

export const replicaGauge = gauge(
  'database_replica_lag_seconds',
  'How far the replica of DATABASE_READ_URL is behind the primary. Missing without one, and while that is unknown.',
  ({ database }) => {
    const { lag } = database.records.replica ?? {};
    return lag && lag / 1000;
  },
);

export const replicaReport: StatusReport = {
  name: 'replica',
  report({ database }) {
    const { replica } = database.records;
    return (
      replica && {
        is_read: replica.fault === undefined,
        lag_ms: replica.lag === undefined ? null : Math.round(replica.lag),
      }
    );
  },
};
