import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { Host } from '../host/host.ts';
import type { HealthCheck, HealthChecks, HealthVerdict } from './health-check.ts';
import { healthReason } from './health-reason.ts';

export type CheckedHealth = HealthVerdict & {
  readonly name: string;
  readonly kind?: string; // implementation of a dependency, such as `redis`
};

/**
 * Runs the checks of the dependencies, then all others. It is the single source for `/readyz?verbose`, the metric, the log and the
 * operator pages. Never rejects, and takes at most two seconds.
 */
export async function readHealth({ healthChecks }: HealthChecks, host: Host): Promise<CheckedHealth[]> {
  const checks = healthChecks
    .values()
    .filter(({ appliesTo }) => appliesTo?.(host) ?? true)
    .toArray();
  const [dependencies] = await Promise.all([pingDependencies(host), ...checks.map((check) => check.refresh?.(host))]);
  const verdicts = checks.map((check) => ({ name: check.name, ...runCheck(check, host) }));
  return [...dependencies.map((state) => checkDependency(state, host)), ...verdicts];
}

function trackFailure(host: Pick<Host, 'keep' | 'now'>, name: string, isFailing: boolean): number {
  const failingSince = host.keep('health/failing-since', () => new Map<string, number>());
  if (!isFailing) failingSince.delete(name);
  else if (!failingSince.has(name)) failingSince.set(name, host.now());
  return failingSince.get(name) ?? host.now();
}

function checkDependency(state: DependencyState, host: Host): CheckedHealth {
  const { name, kind, ok } = state;
  const since = trackFailure(host, name, !ok);
  return ok ? { name, kind, ok } : { name, kind, ok, reason: describeUnavailable(state), since };
}

function runCheck({ name, check }: HealthCheck, host: Host): HealthVerdict {
  try {
    const verdict = check(host);
    trackFailure(host, name, false);
    return verdict;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const since = trackFailure(host, name, true);
    return { ok: false, reason: healthReason('health.reason.check_failed', { error: message }), since };
  }
}

interface DependencyState {
  readonly name: 'database' | 'shared state';
  readonly kind: string; // `embedded`, `memory`, `redis`, …
  readonly ok: boolean;
  readonly error?: string; // without addresses or names
}

const pingTimeoutMs = 2_000;

/** Never rejects. */
export async function pingDependencies({
  database,
  shared,
}: Pick<Host, 'database' | 'shared'>): Promise<DependencyState[]> {
  return Promise.all([
    ping('database', database.kind, database.ping()),
    ping('shared state', shared.kind, shared.ping()),
  ]);
}

async function ping(name: DependencyState['name'], kind: string, response: Promise<void>): Promise<DependencyState> {
  try {
    await withDeadline(response, pingTimeoutMs, 'no response in time');
    return { name, kind, ok: true };
  } catch (error) {
    return { name, kind, ok: false, error: describeConnectionError(error) };
  }
}

function describeUnavailable({ name, kind, error = '' }: DependencyState): string {
  if (name === 'shared state') return healthReason('health.reason.redis', { error });
  return healthReason(kind === 'embedded' ? 'health.reason.postgres_embedded' : 'health.reason.postgres', { error });
}
