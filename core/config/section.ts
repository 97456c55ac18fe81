import type { Vendor } from './catalog/catalog.ts';
import type { WireFormats } from './catalog/formats.ts';
import type { Infer, JsonSchema } from '#core/platform/schema.ts';
import type { FolderFile, FolderSpec } from '#core/platform/read-folder.ts';

/** A place in gateway.yaml: `['models', 'gpt-6-sol', 'routes', 0]`. */
export type YamlPath = readonly (string | number)[];

/**
 * Reports one mistake. Position, file name and "did you mean" are added by the loader.
 *
 * @param path place of the mistake, from the top of the file
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
  /** True if only requests read the section, so two configurations that serve at the same time may differ in it. */
  readonly isPerRequest?: true;
  /** Text files that belong to the section. They are read with gateway.yaml, so an edit takes effect like an edit of that file. */
  folder?(value: Infer<S>): FolderSpec;
  /**
   * Rules across fields, in addition to the schema. They receive the valid part: for a map of entries only the valid entries, for any
   * other value all of it or none, and never an unknown key.
   */
  check?(value: Infer<S>, report: Report, all: CheckContext): void;
  /** Warnings about a valid value that is probably unintended, for `daypass check` and the startup log. */
  notices?(value: Infer<S>, all: SectionValues): readonly string[];
}

/** Returns the warnings of all sections about their values. */
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

/** Data that a check can read in addition to its own section. */
export interface CheckContext extends SectionValues {
  readonly formats: WireFormats;
  readonly vendors: ReadonlyMap<string, Vendor>;
  readonly paymentProviders: ReadonlyMap<string, ProviderTerms>;
  /** Paths of all registered pages, and first segments of endpoints that are also served without `/v1`: `/models`. */
  readonly pagePaths: readonly string[];
  /** True if demos must be refused: with `NODE_ENV=production`, or if the public URL is not this machine. */
  readonly isProduction: boolean;
  /** Reason for refusing demos, worded for a mistake; undefined if demos are allowed. */
  readonly production: Production | undefined;
  /** True if REDIS_URL is set. */
  readonly hasRedis: boolean;
  /** False if a plugin could not be loaded, so that an unknown name may belong to it. */
  readonly hasAllPlugins: boolean;
  /** False for a section with mistakes: `get` then returns its defaults, so no value in it may be reported as missing. */
  isValid(section: Section): boolean;
  /** All names in a map of entries, including invalid entries; undefined if one of the names is invalid. */
  names(section: Section): readonly string[] | undefined;
}

/** Properties of a payment provider for the rules of gateway.yaml. */
export interface ProviderTerms {
  /** Kebab-case; the last segment of its notification path, `/hooks/NAME`. */
  readonly name: string;
  /** True if no money moves; refused in production. */
  readonly isSandbox?: boolean;
  /** Accepted ISO 4217 codes. */
  readonly currencies: readonly string[];
  /** The smallest and the largest accepted price, in the unit of prices; default: no bounds. */
  readonly amounts?: { readonly least: number; readonly most: number };
  /**
   * Reports missing settings of this provider in gateway.yaml. Called only if `payments.provider` selects it: the section of an
   * unused provider may be incomplete.
   */
  check?(all: CheckContext, report: Report): void;
}

/** Reason for rejecting demos, in the words of a mistake: `is "sandbox", which moves no money, {because}`. */
export interface Production {
  readonly because: string;
  /** The setting that allows them anyway, appended to the advice; '' without one. */
  readonly unless: string;
}

/**
 * Ties a section's checks to its schema. A section without a `default` in its schema may be left out only if it has no required content.
 */
export function defineSection<const Name extends string, const S extends JsonSchema>(
  section: Section<Name, S>,
): Section<Name, S> {
  return section;
}
