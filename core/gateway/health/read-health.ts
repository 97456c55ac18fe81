import type { Host } from '../host/host.ts';
import { type DependencyState, describeUnavailable, pingDependencies } from './dependencies.ts';
import type { HealthCheck, HealthChecks, HealthVerdict } from './health-check.ts';

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
  const dependencies = await pingDependencies(host);
  const own = healthChecks.values().map((check) => ({ name: check.name, ...verdictOf(check, host) }));
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
    const reason = `the check failed: ${error instanceof Error ? error.message : String(error)}`;
    return { ok: false, reason, since: firstFailure(host, name, true) };
  }
}
