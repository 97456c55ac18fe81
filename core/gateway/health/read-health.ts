import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { Host } from '../host/host.ts';
import type { HealthCheck, HealthChecks, HealthVerdict } from './health-check.ts';
import { healthReason } from './health-reason.ts';

/** Verdict of a check, with its name. */
export type CheckedHealth = HealthVerdict & {
  readonly name: string;
  /** Implementation of a dependency. */
  readonly kind?: string;
};

/**
 * Runs all checks, first of the dependencies, then of plugins. It is the single source for `/readyz?verbose`, the metric, the log and
 * the operator pages. Never rejects, and takes at most two seconds.
 */
export async function readHealth({ healthChecks }: HealthChecks, host: Host): Promise<CheckedHealth[]> {
  const checks = healthChecks
    .values()
    .filter(({ appliesTo }) => appliesTo?.(host) ?? true)
    .toArray();
  const [dependencies] = await Promise.all([pingDependencies(host), ...checks.map((check) => check.refresh?.(host))]);
  const verdicts = checks.map((check) => ({ name: check.name, ...verdictOf(check, host) }));
  return [...dependencies.map((state) => checkDependency(state, host)), ...verdicts];
}

/** Epoch ms of the first failure since the check last passed. */
function firstFailureAt(host: Pick<Host, 'keep' | 'now'>, name: string, isFailing: boolean): number {
  const failing = host.keep('health/failing-since', () => new Map<string, number>());
  if (!isFailing) failing.delete(name);
  else if (!failing.has(name)) failing.set(name, host.now());
  return failing.get(name) ?? host.now();
}

function checkDependency(state: DependencyState, host: Host): CheckedHealth {
  const { name, kind, ok } = state;
  const since = firstFailureAt(host, name, !ok);
  return ok ? { name, kind, ok } : { name, kind, ok, reason: describeUnavailable(state), since };
}

function verdictOf({ name, check }: HealthCheck, host: Host): HealthVerdict {
  try {
    const verdict = check(host);
    firstFailureAt(host, name, false);
    return verdict;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      reason: healthReason('health.reason.check_failed', { error: reason }),
      since: firstFailureAt(host, name, true),
    };
  }
}

interface DependencyState {
  readonly name: 'database' | 'shared state';
  readonly kind: string; // `embedded`, `memory`, `redis`, …
  readonly ok: boolean;
  readonly error?: string; // without addresses or names
}

const pingTimeoutMs = 2_000;

/** Pings every dependency of the gateway. Never rejects. */
export async function pingDependencies({
  database,
  shared,
}: Pick<Host, 'database' | 'shared'>): Promise<DependencyState[]> {
  return Promise.all([
    ping('database', database.kind, database.ping()),
    ping('shared state', shared.kind, shared.ping()),
  ]);
}

async function ping(name: DependencyState['name'], kind: string, answer: Promise<void>): Promise<DependencyState> {
  try {
    await withDeadline(answer, pingTimeoutMs, 'no response in time');
    return { name, kind, ok: true };
  } catch (error) {
    return { name, kind, ok: false, error: describeConnectionError(error) };
  }
}

function describeUnavailable({ name, kind, error = '' }: DependencyState): string {
  if (name === 'shared state') return healthReason('health.reason.redis', { error });
  return healthReason(kind === 'embedded' ? 'health.reason.postgres_embedded' : 'health.reason.postgres', { error });
}
