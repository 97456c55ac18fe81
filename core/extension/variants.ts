import type { Command as Parser } from 'commander';
import type { EffectiveDocuments } from '#core/config/history/effective-document.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Serving, Variant } from '#core/gateway/http/open-exchange.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { CommandContext } from './commands/command.ts';

/**
 * Runs a second configuration, called a variant, for some of the accounts. The source chooses the configuration and the accounts, and
 * decides duration and outcome. Core serves the variant, and queries the source wherever it shows the configuration in effect. At most
 * one plugin can register a source.
 */
export interface VariantSource {
  /** Name of a variant in JSON. */
  readonly name: string;
  /** Declares the options of `daypass reload` for a variant. */
  declareOptions(reload: Parser): void;
  /** Loads the implementation on first use, because every command registers all plugins. */
  load(): Promise<Variants>;
}

/** Implementation of a `VariantSource`. */
export interface Variants {
  /** Starts to follow the variants in the database. Called when the gateway starts serving. */
  follow(hooks: VariantHooks): VariantRun;
  /** Describes the newest variants, one sentence each. */
  describe(host: Host): Promise<string[]>;
  /** Returns the running variant as JSON, otherwise the last one. */
  read(host: Host): Promise<object | null>;
  /** Composes the notice on the page of configurations; undefined if there is none. */
  notice(request: PageRequest): Promise<VariantNotice | undefined>;
  /**
   * Ends the running variant.
   *
   * @param operator name of the operator
   * @returns false if no variant is running
   */
  end(host: Host, operator: string, note: string | undefined): Promise<boolean>;
  /** Executes the declared options of `daypass reload`; returns false if none of them is set. */
  reload(context: ReloadContext, file: string | undefined, options: object): Promise<boolean>;
}

/** Notice in the shape of the template `parts/flash`. */
export interface VariantNotice {
  readonly kind: 'ok' | 'warn' | 'bad' | 'info';
  readonly title: string;
  readonly text: string;
  readonly action: { readonly path: string; readonly label: string };
}

/** Context of `daypass reload`. */
export interface ReloadContext extends CommandContext {
  /** Path of gateway.yaml. */
  file(): string;
}

/** Functions of the process that a variant uses. */
export interface VariantHooks {
  host(): Host;
  readonly documents: EffectiveDocuments;
  /** Serves the variant to new exchanges of its accounts; undefined stops it. */
  serve(variant: Variant | undefined): void;
  /**
   * Builds a second configuration.
   *
   * @param text configuration as stored in the history
   * @throws Error with the reason why it cannot serve
   */
  prepare(number: number, text: string): Promise<Serving>;
}

/** Configuration for the accounts outside the variant. */
export interface BaseConfiguration {
  readonly serving: Serving;
  /** Undefined while the database does not respond. */
  readonly digest: string | undefined;
  readonly fileDigest: string;
}

/** Serves variants on this instance. */
export interface VariantRun {
  /**
   * Serves the variant in the database next to the current configuration.
   *
   * @throws Error if the database is down; nothing changes then
   */
  follow(base: BaseConfiguration): Promise<void>;
  /** Compares both configurations now instead of at the next tick of the timer. */
  evaluate(): Promise<void>;
  /** Stops the timer. Requests are served as before. */
  close(): void;
  /** Releases the variant's stages after their exchanges have ended, see `Pipeline.retire`. */
  retire(timeoutMs?: number): Promise<void>;
}
