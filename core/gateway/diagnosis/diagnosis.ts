import type { Host } from '#core/gateway/host/host.ts';
import type { Finding } from './finding.ts';

/** One thing that is checked. Checks run side by side, each with a deadline of its own. */
export interface DiagnosticCheck {
  /** Distinguishes several: an upstream, a provider. */
  readonly subject?: string;
  /** Timeout in seconds, if it may take longer than others. */
  readonly timeout?: number;
  /** Requested by a separate option, so it runs in addition to those of `--only`. */
  readonly isAsked?: true;
  /**
   * An error fails the check with its message.
   *
   * @param signal aborts at the deadline
   */
  run(signal: AbortSignal): Promise<Finding>;
}

/** The address that `doctor --url` calls. */
export interface PublicAddress {
  readonly url: string; // without /v1
  readonly seconds: number; // that its slow calls take
}

/** A host with the configuration, but without anything open: `doctor` runs while the database does not. */
export type DiagnosisHost = Pick<
  Host,
  'section' | 'catalog' | 'service' | 'isProduction' | 'dataFolder' | 'log' | 'now' | 'monotonic' | 'keep'
> & {
  /** Undefined unless `doctor` was asked to call it. */
  readonly publicAddress?: PublicAddress | undefined;
  /** To which `doctor --mail` sends a mail. */
  readonly mailAddress?: string | undefined;
  /** For each check, as `--timeout` says; undefined without it. */
  readonly seconds?: number | undefined;
};

/** Checks that `daypass doctor` runs, of core or of a plugin. */
export interface Diagnosis {
  /** Snake_case and short; the first column: `upstreams`. */
  readonly name: string;
  /** The checks that this configuration needs. Opens nothing. */
  checks(host: DiagnosisHost): Iterable<DiagnosticCheck>;
}
