import type { Upstream } from '#core/config/catalog/catalog.ts';
import { RetryBudget } from './allowance.ts';
import { FailureLog } from './failure-log.ts';
import type { KeyPool } from './key-pool.ts';
import type { HealthReports, RelayParts } from './relay-parts.ts';

/** No result of a trial changes the routing of customers' requests. */
const unconcerned: HealthReports = {
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
 * The parts of a relay for a trial: it uses the connections and the credentials of all requests, and leaves breakers, the cooldowns
 * of keys, the budget of retries and the log of failures as they are. A key that its vendor has closed is left alone. Its own result is all that it reports.
 */
export function trialParts(parts: RelayParts): RelayParts {
  const pools = new Map<Upstream, KeyPool>();
  return {
    ...parts,
    health: unconcerned,
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
    log: { info: () => undefined, warn: () => undefined, error: (...said) => parts.log.error(...said) },
    failures: new FailureLog(parts.monotonic),
  };
}
