import type { Host } from '../host/host.ts';

/** Result of a check. */
export type HealthVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /**
       * The problem, then the remedy, in one sentence for an operator on call, without secrets and addresses. Pages translate the English
       * sentence if `defineSentences` has defined it.
       */
      readonly reason: string;
      /** When the failure started, in epoch ms. */
      readonly since: number;
    };

/**
 * A check for faults while requests are still served. A failing check makes `/readyz?verbose` `degraded` and the metric
 * `health_check` 0. It is logged once when it starts to fail and once when it passes again, and is one of the problems reported to
 * operators. The text `check.NAME` is its display name. The public `/readyz` ignores it, because a shared dependency would otherwise
 * take all instances out of service at once.
 */
export interface HealthCheck {
  /** Short name in snake_case: `records`. */
  readonly name: string;
  /** Page where operators can resolve the failure; default: the page of all checks. */
  readonly page?: string;
  /** Name of the page in docs/runbooks, such as `disk-full`, with meaning, effect on customers and remedy. */
  readonly runbook?: string;
  /** False if there is nothing to check; default: always true. */
  readonly appliesTo?: (host: Host) => boolean;
  /** Rereads the check's data. Must be fast, and must not reject. */
  refresh?(host: Host): Promise<unknown>;
  /** Must use only data in memory, because it runs every few seconds and on each operator request. If it throws, the check fails. */
  check(host: Host): HealthVerdict;
}

/** The part of the registry with the health checks. */
export interface HealthChecks {
  readonly healthChecks: ReadonlyMap<string, HealthCheck>;
}
