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
  /** Loads the implementation on first use, because commands register all plugins. */
  load(): Promise<Variants>;
}

export interface Variants {
  /** Starts to follow variants; called when a gateway begins to serve. */
  follow(hooks: VariantHooks): VariantRun;
  /** Describes the newest variants, one sentence each. */
  describe(host: Host): Promise<string[]>;
  /** The running variant, or else the last one, as JSON. */
  read(host: Host): Promise<object | null>;
  /** Notice on the page of configurations; undefined for none. */
  notice(request: PageRequest): Promise<VariantNotice | undefined>;
  /** Ends the running variant. @param operator by name @returns false if none runs */
  end(host: Host, operator: string, note: string | undefined): Promise<boolean>;
  /** Executes the declared options of `daypass reload`. @returns false if none of them is given */
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

/** Interface of a variant to its process. */
export interface VariantHooks {
  host(): Host;
  readonly documents: EffectiveDocuments;
  /** Serves new exchanges of the variant's accounts from now on; undefined stops it. */
  serve(variant: Variant | undefined): void;
  /** Builds a second configuration. @param text as stored in the history @throws Error with the reason why it cannot serve */
  prepare(number: number, text: string): Promise<Serving>;
}

/** Configuration for the accounts outside of the variant. */
export interface Base {
  readonly serving: Serving;
  /** Undefined while the database does not respond. */
  readonly digest: string | undefined;
  readonly fileDigest: string;
}

/** The variant on this instance. */
export interface VariantRun {
  /** Serves the database's variant next to the current configuration. @throws Error if the database is down; nothing changes then */
  follow(base: Base): Promise<void>;
  /** Compares both sides now, as the timer does. */
  judge(): Promise<void>;
  /** Stops the timer; requests are served as before. */
  close(): void;
  /** Releases the variant's stages once their exchanges have ended, see `Pipeline.retire`. */
  retire(within?: number): Promise<void>;
}
