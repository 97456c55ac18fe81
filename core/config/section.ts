import type { Vendor } from './catalog/catalog.ts';
import type { WireFormats } from './catalog/formats.ts';
import type { Infer, JsonSchema } from '#core/platform/schema.ts';
import type { FolderFile, FolderSpec } from '#core/platform/read-folder.ts';

/** A place in gateway.yaml: `['models', 'gpt-6-sol', 'routes', 0]`. */
export type YamlPath = readonly (string | number)[];

/**
 * Reports one mistake. Position, file name and "did you mean" are added by the loader.
 *
 * @param path where, from the top of the file
 * @param wrong what is wrong, without the path: `refers to the upstream "opnai", which does not exist`
 * @param right what is expected: `use one of: openai, claude`
 * @param atKey the key is at fault, not its value
 */
export type Report = (path: YamlPath, wrong: string, right: string, atKey?: boolean) => void;

/** A top-level key of gateway.yaml, owned by core or by one plugin. */
export interface Section<Name extends string = string, S extends JsonSchema = JsonSchema> {
  readonly name: Name;
  /** Type, bounds, defaults, and descriptions that give units. Objects refuse unknown keys. */
  readonly schema: S;
  /**
   * Values that a running gateway cannot change: `true` for the whole section, or the names of members. A reload keeps their
   * running values and logs that the new ones take effect at the next start. Their descriptions say so too.
   */
  readonly fixed?: true | readonly string[];
  /** True when two configurations that serve at the same time can differ in it: nothing reads it but requests. */
  readonly isPerRequest?: true;
  /** Text files that belong to the section. They are read with gateway.yaml: an edit takes effect as one of that file does. */
  folder?(value: Infer<S>): FolderSpec;
  /**
   * Rules across fields, next to the schema. They get the valid part: of a map of entries only the valid entries, of anything
   * else the whole value or nothing, and never an unknown key.
   */
  check?(value: Infer<S>, report: Report, all: CheckContext): void;
  /** Warnings about a valid value that is probably not intended, for `daypass check` and the log of a start. */
  notices?(value: Infer<S>, all: SectionValues): readonly string[];
}

/** The warnings of all sections about their values. */
export function sectionNotices(sections: Iterable<Section>, values: SectionValues): string[] {
  return [...sections].flatMap((section) => section.notices?.(values.get(section), values) ?? []);
}

/** The type of a section's value, defaults filled in. */
export type SectionValue<S extends Section> = S extends Section<string, infer Schema> ? Infer<Schema> : never;

/** Values of all sections, defaults filled in. */
export interface SectionValues {
  get<S extends Section>(section: S): SectionValue<S>;
  /** Files of the section's `folder`, by name; always the same map for one configuration. */
  files?(section: Section): ReadonlyMap<string, FolderFile>;
  /** True if gateway.yaml has a number that may have a dot between thousands, such as 41.250; undefined during checks. */
  readonly isDotted?: ((path: YamlPath) => boolean) | undefined;
}

/** What a check can read in addition to its own section. */
export interface CheckContext extends SectionValues {
  readonly formats: WireFormats;
  readonly vendors: ReadonlyMap<string, Vendor>;
  readonly paymentProviders: ReadonlyMap<string, ProviderTerms>;
  /** Paths of all registered pages, and first ones of endpoints that are also served without `/v1`: `/models`. */
  readonly pagePaths: readonly string[];
  /** True where demos must be refused: with `NODE_ENV=production`, and when the public URL is not this machine. */
  readonly isProduction: boolean;
  /** Why, in the words of a mistake; undefined where demos are allowed. */
  readonly production: Production | undefined;
  /** True where REDIS_URL is set. */
  readonly hasRedis: boolean;
  /** False when a plugin could not be loaded, so an unknown name may belong to it. */
  readonly hasAllPlugins: boolean;
  /** False for a section with mistakes: `get` returns its defaults then, so nothing in it may be called missing. */
  isValid(section: Section): boolean;
  /** All names in a map of entries, invalid entries included; undefined when one of the names is invalid. */
  names(section: Section): readonly string[] | undefined;
}

/** Properties of a payment provider for the rules of gateway.yaml. */
export interface ProviderTerms {
  /** Kebab-case; the last segment of its notification path, `/hooks/NAME`. */
  readonly name: string;
  /** True when no money moves; refused in production. */
  readonly isSandbox?: boolean;
  /** ISO 4217 codes that it takes. */
  readonly currencies: readonly string[];
  /** The smallest and the largest price that it takes, in the unit of prices; no bound when left out. */
  readonly amounts?: { readonly least: number; readonly most: number };
  /**
   * Reports what is missing in gateway.yaml for this provider. Called when `payments.provider` selects it: the section of
   * a provider that is not used may be incomplete.
   */
  check?(all: CheckContext, report: Report): void;
}

/** Reason for rejecting demos, in the words of a mistake: `is "sandbox", which moves no money, {because}`. */
export interface Production {
  readonly because: string;
  /** The setting that allows them anyway, appended to the advice; '' without one. */
  readonly unless: string;
}

/** Ties a section's checks to its schema. A section without a `default` in its schema may be left out only if it has no required content. */
export function defineSection<const Name extends string, const S extends JsonSchema>(
  section: Section<Name, S>,
): Section<Name, S> {
  return section;
}
