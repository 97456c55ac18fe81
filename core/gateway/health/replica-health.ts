import { gauge } from './gauge.ts';
import type { HealthCheck } from './health-check.ts';
import { healthReason } from './health-reason.ts';
import type { StatusReport } from './status-report.ts';

/** Checks that reads go to the replica at DATABASE_READ_URL. */
export const replicaCheck: HealthCheck = {
  name: 'replica',
  appliesTo: ({ database }) => database.records.replica !== undefined,
  check({ database }) {
    const { fault, since = 0 } = database.records.replica ?? {};
    if (fault === undefined) return { ok: true };
    return { ok: false, reason: healthReason('health.reason.replica', { fault }), since };
  },
};

export const replicaGauge = gauge(
  'database_replica_lag_seconds',
  'Lag of the replica at DATABASE_READ_URL behind the primary. Missing without a replica, and while the lag is unknown.',
  ({ database }) => {
    const { lag } = database.records.replica ?? {};
    return lag === undefined ? undefined : lag / 1000;
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
