import type { FolderFile, FolderSpec } from '#core/platform/read-folder.ts';
import type { Infer, JsonSchema } from '#core/platform/schema.ts';
import type { Vendor } from './catalog/catalog.ts';
import type { WireFormats } from './catalog/formats.ts';

/** A path in gateway.yaml: `['models', 'gpt-6-sol', 'routes', 0]`. */
export type YamlPath = readonly (string | number)[];

/**
 * Reports one mistake. The loader adds its position and the file name.
 *
 * @param path path of the mistake, from the top of the file
 * @param wrong description of the mistake, without the path: `refers to the upstream "opnai", which does not exist`
 * @param right remedy: `use one of: openai, claude`
 * @param atKey true if the key is wrong, not its value
 */
export type Report = (path: YamlPath, wrong: string, right: string, atKey?: boolean) => void;

/** A top-level key of gateway.yaml, owned by core or by one plugin. */
export interface Section<Name extends string = string, S extends JsonSchema = JsonSchema> {
  readonly name: Name;
  /** Types, bounds, defaults, and descriptions that state units. Objects reject unknown keys. */
  readonly schema: S;
  /**
   * Values that a running gateway cannot change: `true` for the whole section, or the names of members. A reload keeps their current values
   * and logs that the new ones take effect at the next start. Their descriptions state this too.
   */
  readonly fixed?: true | readonly string[];
  /** True if only requests read the section, so that two configurations in effect at the same time may differ in it. */
  readonly isPerRequest?: true;
  /** Text files that belong to the section. They are read with gateway.yaml, so that an edit takes effect like an edit of that file. */
  folder?(value: Infer<S>): FolderSpec;
  /**
   * Checks rules across fields, in addition to the schema. The value has no unknown keys, and a map of entries has only its valid entries.
   * Not called for any other value with mistakes.
   */
  check?(value: Infer<S>, report: Report, all: CheckContext): void;
  /** Returns warnings about valid settings that are probably unintended, for `daypass check` and the startup log. */
  notices?(value: Infer<S>, all: SectionValues): readonly string[];
}

/** Lists the warnings of all sections about their values. */
export function listSectionNotices(sections: Iterable<Section>, values: SectionValues): string[] {
  return [...sections].flatMap((section) => section.notices?.(values.get(section), values) ?? []);
}

/** The type of a section's value, with defaults filled in. */
export type SectionValue<S extends Section> = S extends Section<string, infer Schema> ? Infer<Schema> : never;

/** Values of all sections, with defaults filled in. */
export interface SectionValues {
  get<S extends Section>(section: S): SectionValue<S>;
  /** Returns the files of the section's `folder` by name; always the same map for one configuration. */
  files?(section: Section): ReadonlyMap<string, FolderFile>;
  /** Returns true for a number in gateway.yaml that may have a dot between thousands, such as 41.250; undefined during checks. */
  readonly isDotted?: ((path: YamlPath) => boolean) | undefined;
}

/** Data that a check can read in addition to its section. */
export interface CheckContext extends SectionValues {
  readonly formats: WireFormats;
  readonly vendors: ReadonlyMap<string, Vendor>;
  readonly paymentProviders: ReadonlyMap<string, ProviderTerms>;
  /** Paths of all registered pages, and first segments of endpoints that are also served without `/v1`, such as `/models`. */
  readonly pagePaths: readonly string[];
  /** True if demos must be refused, because of `NODE_ENV=production` or a public URL that is not this machine. */
  readonly isProduction: boolean;
  /** Reason for refusing demos, worded for a mistake; undefined if demos are allowed. */
  readonly production: Production | undefined;
  /** True if REDIS_URL is set. */
  readonly hasRedis: boolean;
  /** False if a plugin could not be loaded. An unknown name may then belong to it. */
  readonly hasAllPlugins: boolean;
  /** Returns false for a section with mistakes. `get` then returns its defaults, so none of its values may be reported as missing. */
  isValid(section: Section): boolean;
  /** Returns all names in a map of entries, including invalid entries; undefined if one of the names is invalid. */
  names(section: Section): readonly string[] | undefined;
}

/** Properties of a payment provider for the rules of gateway.yaml. */
export interface ProviderTerms {
  /** Name in kebab-case, which is the last segment of its notification path, `/hooks/NAME`. */
  readonly name: string;
  /** True if it moves no money, so that it is refused in production. */
  readonly isSandbox?: boolean;
  /** Accepted ISO 4217 codes. */
  readonly currencies: readonly string[];
  /** The lowest and the highest accepted price, in the unit of prices. Default: unlimited. */
  readonly amounts?: { readonly least: number; readonly most: number };
  /**
   * Reports missing settings of this provider in gateway.yaml. Only called if `payments.provider` selects it, because the section of an
   * unused provider may be incomplete.
   */
  check?(all: CheckContext, report: Report): void;
}

/** Reason for rejecting demos, worded for a mistake: `is "sandbox", which moves no money, {because}`. */
export interface Production {
  readonly because: string;
  /** The setting that allows demos anyway, appended to the advice; '' without such a setting. */
  readonly unless: string;
}

/** Rejects a member that only tests may set, unless demos are allowed. */
export function rejectTestMember(path: YamlPath, production: Production | undefined, report: Report): void {
  if (production === undefined) return;
  report(path, `is for tests, and not allowed ${production.because}`, `remove it${production.unless}`);
}

/**
 * Defines a section, and infers the types of its checks from its schema. A section without a `default` in its schema may only be omitted if
 * it has no required content.
 */
export function defineSection<const Name extends string, const S extends JsonSchema>(
  section: Section<Name, S>,
): Section<Name, S> {
  return section;
}
