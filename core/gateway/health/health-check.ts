import type { Host } from '../host/host.ts';

/** Result of a check. */
export type HealthVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /**
       * One sentence for a person at night: what is wrong, then what to do. Without secrets and addresses. English; one of
       * `defineSentences` is shown on pages in the language of the reader.
       */
      readonly reason: string;
      /** Since when, epoch ms. */
      readonly since: number;
    };

/**
 * Something that can be wrong while requests are still served. A failing check makes `/readyz?verbose` `degraded` and the metric
 * `health_check` 0; it is logged once when it begins to fail and once when it passes again, and is one of the problems that operators
 * are told of. The text `check.NAME` is its name in words. The
 * public `/readyz` ignores it: what all instances share would otherwise take all of them out at once.
 */
export interface HealthCheck {
  /** Snake_case and short: `records`. */
  readonly name: string;
  /** Where operators mend it, if not on their page of all checks. */
  readonly page?: string;
  /** A page in docs/runbooks: what it means, what customers feel, what to do. `disk-full`. */
  readonly runbook?: string;
  /** False where there is nothing to check; default: always true. */
  readonly appliesTo?: (host: Host) => boolean;
  /** Reads anew what the check looks at. Takes a moment at most, and never rejects. */
  refresh?(host: Host): Promise<unknown>;
  /** Reads what is already known: it runs every few seconds and at each request of the operator. What it throws makes it fail. */
  check(host: Host): HealthVerdict;
}

/** The part of the registry with the health checks. */
export interface HealthChecks {
  readonly healthChecks: ReadonlyMap<string, HealthCheck>;
}
