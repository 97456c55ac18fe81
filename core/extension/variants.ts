import type { Command as Parser } from 'commander';
import type { EffectiveDocuments } from '#core/config/history/effective-document.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Serving, Variant } from '#core/gateway/http/open-exchange.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { CommandContext } from './commands/command.ts';

/**
 * Runs a second configuration, a variant, for some of the accounts, and decides the configuration, the accounts, the duration and the
 * outcome. One plugin can register it; core serves the variant, and asks about it wherever it shows the configuration in effect.
 */
export interface VariantSource {
  /** Name of a variant in JSON. */
  readonly name: string;
  /** Declares the options of `daypass reload` for a variant. */
  declareOptions(reload: Parser): void;
  /** Loaded when it is first asked: commands register all plugins. */
  load(): Promise<Variants>;
}

export interface Variants {
  /** In a gateway that begins to serve. */
  follow(hooks: VariantHooks): VariantRun;
  /** The newest ones, one sentence each. */
  describe(host: Host): Promise<string[]>;
  /** The one that runs, or the last one, as JSON. */
  read(host: Host): Promise<object | null>;
  /** Its text on the page of configurations; undefined for none. */
  notice(request: PageRequest): Promise<VariantNotice | undefined>;
  /** Ends the one that runs. @param operator by name @returns false where none runs */
  end(host: Host, operator: string, note: string | undefined): Promise<boolean>;
  /** Executes the declared options of `daypass reload`. @returns false if none is given */
  reload(context: ReloadContext, file: string | undefined, options: object): Promise<boolean>;
}

/** For `parts/flash`. */
export interface VariantNotice {
  readonly kind: 'ok' | 'warn' | 'bad' | 'info';
  readonly title: string;
  readonly text: string;
  readonly action: { readonly path: string; readonly label: string };
}

/** Of `daypass reload`. */
export interface ReloadContext extends CommandContext {
  /** Path of gateway.yaml. */
  file(): string;
}

/** Interface of a variant to its process. */
export interface VariantHooks {
  host(): Host;
  readonly documents: EffectiveDocuments;
  /** From now on, new exchanges of the accounts that it takes use this; of none where it is undefined. */
  serve(variant: Variant | undefined): void;
  /** Builds a second configuration. @param text as the history keeps it @throws why it cannot serve */
  prepare(number: number, text: string): Promise<Serving>;
}

/** Configuration for the accounts outside of the variant. */
export interface Base {
  readonly serving: Serving;
  /** Undefined while the database does not answer. */
  readonly digest: string | undefined;
  readonly fileDigest: string;
}

/** The variant on this instance. */
export interface VariantRun {
  /** Serves the variant that the database names, in addition to the current configuration. @throws Error while the database does not answer; then everything stays */
  follow(base: Base): Promise<void>;
  /** Compares both sides now, as its timer does. */
  judge(): Promise<void>;
  /** Stops judging; requests are served as before. */
  close(): void;
  /** Releases its stages once their exchanges have ended, see `Pipeline.retire`. */
  retire(within?: number): Promise<void>;
}
