import type { Host } from '../host/host.ts';
import type { HealthCheck, HealthChecks, HealthVerdict } from './health-check.ts';
import { healthReason } from './health-reason.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';

/** A check with its verdict. */
export type CheckedHealth = HealthVerdict & {
  readonly name: string;
  /** How a dependency is run. */
  readonly kind?: string;
};

/**
 * Runs all checks: the dependencies, then what plugins registered. The one source of `/readyz?verbose`, the metric, the log and the
 * operator pages. Never rejects, and takes at most two seconds.
 */
export async function readHealth({ healthChecks }: HealthChecks, host: Host): Promise<CheckedHealth[]> {
  const checks = healthChecks
    .values()
    .filter(({ appliesTo }) => appliesTo?.(host) ?? true)
    .toArray();
  const [dependencies] = await Promise.all([pingDependencies(host), ...checks.map((check) => check.refresh?.(host))]);
  const own = checks.map((check) => ({ name: check.name, ...verdictOf(check, host) }));
  return [...dependencies.map((state) => judgeDependency(state, host)), ...own];
}

/** What a failing check is remembered by between two readings. */
function firstFailure(host: Pick<Host, 'keep' | 'now'>, name: string, isFailing: boolean): number {
  const failing = host.keep('health/failing-since', () => new Map<string, number>());
  if (!isFailing) failing.delete(name);
  else if (!failing.has(name)) failing.set(name, host.now());
  return failing.get(name) ?? host.now();
}

function judgeDependency(state: DependencyState, host: Host): CheckedHealth {
  const { name, kind, ok } = state;
  const since = firstFailure(host, name, !ok);
  return ok ? { name, kind, ok } : { name, kind, ok, reason: describeUnavailable(state), since };
}

function verdictOf({ name, check }: HealthCheck, host: Host): HealthVerdict {
  try {
    const verdict = check(host);
    firstFailure(host, name, false);
    return verdict;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      reason: healthReason('health.reason.check_failed', { error: reason }),
      since: firstFailure(host, name, true),
    };
  }
}

/** Result of a ping of one dependency. */
interface DependencyState {
  readonly name: 'database' | 'shared state';
  /** How it is run: `embedded`, `memory`, `redis`, … */
  readonly kind: string;
  readonly ok: boolean;
  /** The reason, without addresses or names. */
  readonly error?: string;
}

/** Ms after which a dependency that does not answer counts as unavailable. */
const pingTimeout = 2_000;

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
    await withDeadline(answer, pingTimeout, 'no response in time');
    return { name, kind, ok: true };
  } catch (error) {
    return { name, kind, ok: false, error: describeConnectionError(error) };
  }
}

/** What is wrong with a dependency that does not respond, and what to do. */
function describeUnavailable({ name, kind, error = '' }: DependencyState): string {
  if (name === 'shared state') return healthReason('health.reason.redis', { error });
  return healthReason(kind === 'embedded' ? 'health.reason.postgres_embedded' : 'health.reason.postgres', { error });
}
