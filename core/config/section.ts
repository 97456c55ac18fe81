import type { FolderFile, FolderSpec } from '#core/platform/read-folder.ts';
import type { Infer, JsonSchema } from '#core/platform/schema.ts';
import type { Vendor } from './catalog/catalog.ts';
import type { WireFormats } from './catalog/formats.ts';

/** A path in gateway.yaml: `['models', 'gpt-6-sol', 'routes', 0]`. */
export type YamlPath = readonly (string | number)[];

/**
 * Reports one mistake. The loader adds the file name and the position.
 *
 * @param path path of the mistake, from the top of the file
 * @param wrong what is wrong, without the path: `refers to the upstream "opnai", which does not exist`
 * @param right what to do: `use one of: openai, claude`
 * @param atKey true if the key is wrong, not its value
 */
export type Report = (path: YamlPath, wrong: string, right: string, atKey?: boolean) => void;

/** A top-level key in gateway.yaml, owned by core or by one plugin. */
export interface Section<Name extends string = string, S extends JsonSchema = JsonSchema> {
  readonly name: Name;
  /** Types, bounds, defaults, and descriptions that state units. Objects reject unknown keys. */
  readonly schema: S;
  /**
   * Settings that a running gateway cannot change: `true` for the whole section, or member names. A reload keeps the current values and
   * logs that the new ones take effect at the next start. Their descriptions should say so too.
   */
  readonly fixed?: true | readonly string[];
  /** True if only requests read the section, so that it may differ between two configurations that are in effect at the same time. */
  readonly isPerRequest?: true;
  /** Returns the section's text files. They are read with gateway.yaml, so that editing one takes effect just as editing that file does. */
  folder?(value: Infer<S>): FolderSpec;
  /**
   * Checks rules that compare fields, after the schema. The value has no unknown keys, and a map of entries has only its valid entries. Not
   * called if the value has any other mistakes.
   */
  check?(value: Infer<S>, report: Report, all: CheckContext): void;
  /** Returns warnings about settings that are valid but probably unintended, for `daypass check` and the startup log. */
  notices?(value: Infer<S>, all: SectionValues): readonly string[];
}

export function listSectionNotices(sections: Iterable<Section>, values: SectionValues): string[] {
  return [...sections].flatMap((section) => section.notices?.(values.get(section), values) ?? []);
}

/** The type of a section's value, with defaults filled in. */
export type SectionValue<S extends Section> = S extends Section<string, infer Schema> ? Infer<Schema> : never;

/** Values of all sections, with defaults filled in. */
export interface SectionValues {
  get<S extends Section>(section: S): SectionValue<S>;
  /** Returns the files in the section's `folder`, by name. Within one configuration, this is always the same map. */
  files?(section: Section): ReadonlyMap<string, FolderFile>;
  /** Returns true for a number in gateway.yaml whose dot may separate thousands, such as 41.250. Undefined during checks. */
  readonly isDotted?: ((path: YamlPath) => boolean) | undefined;
}

/** What a check can read besides its own section. */
export interface CheckContext extends SectionValues {
  readonly formats: WireFormats;
  readonly vendors: ReadonlyMap<string, Vendor>;
  readonly paymentProviders: ReadonlyMap<string, ProviderTerms>;
  /** Paths of all registered pages, and the first path segments of endpoints that also work without `/v1`, such as `/models`. */
  readonly pagePaths: readonly string[];
  /** True if demos must be refused, because of `NODE_ENV=production` or because the public URL is not this machine. */
  readonly isProduction: boolean;
  /** Why demos are refused, worded for a mistake; undefined if they are allowed. */
  readonly production: Production | undefined;
  /** True if REDIS_URL is set. */
  readonly hasRedis: boolean;
  /** False if a plugin could not be loaded: an unknown name may then belong to it. */
  readonly hasAllPlugins: boolean;
  /** Returns false for a section with mistakes. `get` then returns its defaults, so do not report any of its values as missing. */
  isValid(section: Section): boolean;
  /** Returns all names in a map of entries, even of invalid ones; undefined if one of the names is invalid. */
  names(section: Section): readonly string[] | undefined;
}

/** Facts about a payment provider that the rules of gateway.yaml use. */
export interface ProviderTerms {
  /** Name in kebab-case. It is also the last segment of the provider's notification path, `/hooks/NAME`. */
  readonly name: string;
  /** True if it moves no money. It is then refused in production. */
  readonly isSandbox?: boolean;
  /** ISO 4217 codes of the currencies that it accepts. */
  readonly currencies: readonly string[];
  /** The lowest and the highest price that it accepts, in the unit of prices. Default: no limits. */
  readonly amounts?: { readonly least: number; readonly most: number };
  /**
   * Reports settings for this provider that are missing in gateway.yaml. Called only if `payments.provider` selects it, because the section
   * for an unused provider may be incomplete.
   */
  check?(all: CheckContext, report: Report): void;
}

/** Why demos are refused, worded for a mistake: `is "sandbox", which moves no money, {because}`. */
export interface Production {
  readonly because: string;
  /** The setting that allows demos anyway, appended to the advice; '' if there is none. */
  readonly unless: string;
}

/** Rejects a member that only tests may set, unless demos are allowed. */
export function rejectTestMember(path: YamlPath, production: Production | undefined, report: Report): void {
  if (production === undefined) return;
  report(path, `is for tests, and not allowed ${production.because}`, `remove it${production.unless}`);
}

/**
 * Defines a section, and infers the types in its checks from its schema. It may be omitted if the schema has a `default` or requires
 * nothing.
 */
export function defineSection<const Name extends string, const S extends JsonSchema>(
  section: Section<Name, S>,
): Section<Name, S> {
  return section;
}
