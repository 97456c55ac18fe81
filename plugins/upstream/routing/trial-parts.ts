import type { Upstream } from '#core/config/catalog/catalog.ts';
import { RetryBudget } from './allowance.ts';
import { FailureLog } from './failure-log.ts';
import type { KeyPool } from './key-pool.ts';
import type { HealthReports, RelayParts } from './relay-parts.ts';

/** Trials must not change the routing of customers' requests. */
const unaffectedHealth: HealthReports = {
  admit: () => ({ isProbe: false }),
  isHealthy: () => true,
  isAvailable: () => true,
  noteContent: () => undefined,
  served: () => undefined,
  failed: () => undefined,
  setBack: () => undefined,
  lacksModel: () => undefined,
  released: () => undefined,
  waitFor: () => 0,
};

/**
 * Creates the relay parts for a trial: it uses the real connections and credentials, but does not affect breakers, key cooldowns, the retry
 * budget or the failure log. Keys closed by their vendor are not used. Only its own result is reported.
 */
export function trialParts(parts: RelayParts): RelayParts {
  const pools = new Map<Upstream, KeyPool>();
  return {
    ...parts,
    health: unaffectedHealth,
    demoted: new Set(),
    sessions: undefined,
    limits: undefined,
    traceSample: 0,
    budget: new RetryBudget(0),
    keys: (route) => {
      const { upstream } = route;
      const pool = pools.get(upstream) ?? parts.keys(route).forTrial(upstream);
      pools.set(upstream, pool);
      return pool;
    },
    log: { info: () => undefined, warn: () => undefined, error: (...entry) => parts.log.error(...entry) },
    failures: new FailureLog(parts.monotonic),
  };
}
