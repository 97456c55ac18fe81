import type { Upstream } from '#core/config/catalog/catalog.ts';
import { RetryBudget } from './allowance.ts';
import { FailureLog } from './failure-log.ts';
import type { KeyPool } from './key-pool.ts';
import type { HealthReports, RelayParts } from './relay-parts.ts';

/** Ignores all results, because trials must not change how customers' requests are routed. */
const unaffectedHealth: HealthReports = {
  admit: () => ({ isProbe: false }),
  isHealthy: () => true,
  isAvailable: () => true,
  noteContent: () => undefined,
  recordSuccess: () => undefined,
  recordFailure: () => undefined,
  recordSetback: () => undefined,
  recordMissingModel: () => undefined,
  release: () => undefined,
  msUntilAdmission: () => 0,
};

/**
 * Creates the relay parts for a trial. A trial uses the real connections and credentials, but does not affect breakers, key cooldowns, the
 * retry budget or the failure log. It does not use keys that their vendor has closed. Only the trial's own result is reported.
 */
export function createTrialParts(parts: RelayParts): RelayParts {
  const pools = new Map<Upstream, KeyPool>();
  return {
    ...parts,
    health: unaffectedHealth,
    demoted: new Set(),
    sessions: undefined,
    limitSamples: undefined,
    traceSample: 0,
    retryBudget: new RetryBudget(0),
    getKeyPool: (route) => {
      const { upstream } = route;
      const pool = pools.get(upstream) ?? parts.getKeyPool(route).copyForTrial(upstream);
      pools.set(upstream, pool);
      return pool;
    },
    log: { info: () => undefined, warn: () => undefined, error: (...entry) => parts.log.error(...entry) },
    failureLog: new FailureLog(parts.monotonic),
  };
}
