import type { Host } from '#core/gateway/host/host.ts';
import type { Finding } from './finding.ts';

/** A single check. Checks run concurrently, each with its own deadline. */
export interface DiagnosticCheck {
  /** Name that distinguishes several checks, such as the name of an upstream or a provider. */
  readonly subject?: string;
  /** Timeout in seconds, for a check that may take longer than others. */
  readonly timeout?: number;
  /** True for a check that has its own option, so that it runs even if `--only` does not name it. */
  readonly isAsked?: true;
  /**
   * Runs the check. An error fails it, with the error's message as text.
   *
   * @param signal aborts at the deadline
   */
  run(signal: AbortSignal): Promise<Finding>;
}

/** The address that `doctor --url` calls. */
export interface PublicAddress {
  readonly url: string; // without /v1
  readonly seconds: number; // duration of the slow calls
}

/** A host with the configuration but without open services, because `doctor` must also work if the database is down. */
export type DiagnosisHost = Pick<
  Host,
  'section' | 'catalog' | 'service' | 'isProduction' | 'dataFolder' | 'log' | 'now' | 'monotonic' | 'keep'
> & {
  /** Set with `doctor --url`. */
  readonly publicAddress?: PublicAddress | undefined;
  /** Recipient of the test email of `doctor --mail`. */
  readonly mailAddress?: string | undefined;
  /** Timeout of each check from `--timeout`; undefined without the option. */
  readonly seconds?: number | undefined;
};

/** A group of checks of core or a plugin, which `daypass doctor` runs. */
export interface Diagnosis {
  /** Short name in snake_case, shown in the first column: `upstreams`. */
  readonly name: string;
  /** Returns the checks that this configuration needs. Opens nothing. */
  checks(host: DiagnosisHost): Iterable<DiagnosticCheck>;
}
