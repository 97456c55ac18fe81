import type { Host } from '../host/host.ts';

/** Result of a check. */
export type HealthVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /**
       * One sentence for an operator on call: the problem, then the remedy, without secrets and addresses. It is in English; pages
       * translate sentences of `defineSentences`.
       */
      readonly reason: string;
      /** Start of the failure, epoch ms. */
      readonly since: number;
    };

/**
 * A check for faults while requests are still served. A failing check makes `/readyz?verbose` `degraded` and the metric
 * `health_check` 0. It is logged once when it begins to fail and once when it passes again, and is among the problems reported to
 * operators. The text `check.NAME` is its name in words. The public `/readyz` ignores it: a shared dependency would otherwise take
 * all instances out at once.
 */
export interface HealthCheck {
  /** Snake_case and short: `records`. */
  readonly name: string;
  /** Page on which operators resolve the failure; default: the page of all checks. */
  readonly page?: string;
  /** Name of the page in docs/runbooks with meaning, effect on customers and remedy: `disk-full`. */
  readonly runbook?: string;
  /** False if there is nothing to check; default: always true. */
  readonly appliesTo?: (host: Host) => boolean;
  /** Rereads the check's data. Must be fast, and never rejects. */
  refresh?(host: Host): Promise<unknown>;
  /** Evaluates data in memory, because it runs every few seconds and on each operator request. An error fails the check. */
  check(host: Host): HealthVerdict;
}

/** The part of the registry with the health checks. */
export interface HealthChecks {
  readonly healthChecks: ReadonlyMap<string, HealthCheck>;
}
