import type { Command as Parser } from 'commander';
import type { EffectiveDocuments } from '#core/config/history/effective-document.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Serving, Variant } from '#core/gateway/http/open-exchange.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { CommandContext } from './commands/command.ts';

/**
 * Runs a second configuration, called a variant, for some accounts. The source chooses the configuration and the accounts, and decides how
 * long it runs and how it ends. Core serves the variant, and asks the source wherever it shows the configuration in effect. Only one plugin
 * can register a source.
 */
export interface VariantSource {
  /** The key for a variant in JSON. */
  readonly name: string;
  /** Adds the options for variants to `daypass reload`. */
  declareOptions(reload: Parser): void;
  /** Loads the implementation on first use, because plugins are registered for every command. */
  load(): Promise<Variants>;
}

/** The implementation of a `VariantSource`. */
export interface Variants {
  /** Starts following the variants in the database. Called when the gateway starts serving. */
  follow(hooks: VariantHooks): VariantRun;
  /** Describes the latest variants, in one sentence each. */
  describe(host: Host): Promise<string[]>;
  /** Returns the running variant as JSON; the last one if none is running. */
  read(host: Host): Promise<object | null>;
  /** Returns the notice for the configuration page; undefined if there is none. */
  notice(request: PageRequest): Promise<VariantNotice | undefined>;
  /**
   * Ends the running variant.
   *
   * @param operator the operator's name
   * @returns false if no variant is running
   */
  end(host: Host, operator: string, note: string | undefined): Promise<boolean>;
  /** Acts on the declared options of `daypass reload`; returns false if none of them is set. */
  reload(context: ReloadContext, file: string | undefined, options: object): Promise<boolean>;
}

/** A notice, shaped for the template `parts/flash`. */
export interface VariantNotice {
  readonly kind: 'ok' | 'warn' | 'bad' | 'info';
  readonly title: string;
  readonly text: string;
  readonly action: { readonly path: string; readonly label: string };
}

export interface ReloadContext extends CommandContext {
  /** Returns the path of gateway.yaml. */
  file(): string;
}

/** The parts of the running process that a variant may use. */
export interface VariantHooks {
  host(): Host;
  readonly documents: EffectiveDocuments;
  /** Serves the variant to new exchanges of its accounts; undefined stops it. */
  serve(variant: Variant | undefined): void;
  /**
   * Builds a second configuration.
   *
   * @param text the configuration as stored in the history
   * @throws Error with the reason why it cannot be served
   */
  prepare(number: number, text: string): Promise<Serving>;
}

/** The configuration for all accounts outside the variant. */
export interface BaseConfiguration {
  readonly serving: Serving;
  /** Undefined if the database does not respond. */
  readonly digest: string | undefined;
  readonly fileDigest: string;
}

/** The variants that this instance serves. */
export interface VariantRun {
  /**
   * Serves the variant that the database says is running, next to the current configuration.
   *
   * @throws Error if the database is down; nothing changes then
   */
  follow(base: BaseConfiguration): Promise<void>;
  /** Compares both configurations now instead of at the next timer tick. */
  evaluate(): Promise<void>;
  /** Stops the timer. Does not affect requests. */
  close(): void;
  /** Releases the variant's stages once their exchanges have ended; see `Pipeline.retire`. */
  retire(timeoutMs?: number): Promise<void>;
}
