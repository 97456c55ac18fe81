import type { Host } from '#core/gateway/host/host.ts';
import type { Finding } from './finding.ts';

/** A single check. Checks run concurrently, each with its own deadline. */
export interface DiagnosticCheck {
  /** Distinguishes the checks of a group, such as by the name of an upstream or a provider. */
  readonly subject?: string;
  /** Timeout in seconds, for a check that may take longer than others. */
  readonly timeout?: number;
  /** True for a check with its own option, which runs even if `--only` does not name it. */
  readonly isAsked?: true;
  /**
   * Runs the check. If it throws, the check fails with the error's message as text.
   *
   * @param signal aborts at the deadline
   */
  run(signal: AbortSignal): Promise<Finding>;
}

/** The address that `doctor --url` calls. */
export interface PublicAddress {
  readonly url: string; // without /v1
  readonly seconds: number; // how long the slow test calls last
}

/** A host with the configuration but without open services, because `doctor` must also work if the database is down. */
export type DiagnosisHost = Pick<
  Host,
  'section' | 'catalog' | 'service' | 'isProduction' | 'dataFolder' | 'log' | 'now' | 'monotonic' | 'keep'
> & {
  /** Set with `doctor --url`. */
  readonly publicAddress?: PublicAddress | undefined;
  /** Recipient of the test email that `doctor --mail` sends. */
  readonly mailAddress?: string | undefined;
  /** Timeout of each check, set with `--timeout`. */
  readonly seconds?: number | undefined;
};

/** A group of checks that `daypass doctor` runs, defined by core or a plugin. */
export interface Diagnosis {
  /** Short name in snake_case, shown in the first column: `upstreams`. */
  readonly name: string;
  /** Returns the checks that this configuration needs, without connecting to anything. */
  checks(host: DiagnosisHost): Iterable<DiagnosticCheck>;
}
