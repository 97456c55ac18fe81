import { readAbilities } from '#core/config/catalog/abilities.ts';
import type { ListedModel } from '#core/config/catalog/catalog.ts';
import { nameInReply } from '#core/config/catalog/model-name.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { isPlainName, namedModels, setupSection } from './section.ts';

/** The part of the host that settings of tools depend on. */
export type SetupHost = Pick<Host, 'catalog' | 'section' | 'service'>;
/** The part of the host that the choice of models depends on. */
export type CatalogHost = Pick<Host, 'catalog' | 'section'>;
/** The reader of model abilities, which a plugin registers. */
export type Abilities = Pick<Registry, 'abilityReader'>;

/** The models of tools that speak one format, unless another model is chosen. */
export interface FormatDefaults {
  readonly format: string;
  readonly model: ListedModel;
  /** For titles, summaries and other small tasks; undefined where the catalog has no small model. */
  readonly small: ListedModel | undefined;
  /** Names of models that Claude Code's tiers have in theirs. */
  readonly tiers: TierModels;
}

/** Tiers of models that tools choose from by task. */
const tierNames = ['opus', 'sonnet', 'fable'] as const;

/** The model of each tier; undefined where the catalog has none, for the one that is chosen. */
export type TierModels = Readonly<Partial<Record<(typeof tierNames)[number], string>>>;

/** Words in the names of models that are small and fast. */
const smallWords = /(^|[-_./])(mini|small|haiku|flash|lite|nano|fast|tiny|air)($|[-_./\d])/i;

/** Cached per configuration, whose host never changes. */
interface Known {
  readonly models: readonly ListedModel[];
  readonly defaults: Map<string, FormatDefaults | undefined>; // by format
}

const known = new WeakMap<CatalogHost, Known>();

function knownOf(host: CatalogHost, registry: Abilities): Known {
  const found = known.get(host) ?? { models: findModels(host, registry), defaults: new Map() };
  known.set(host, found);
  return found;
}

/**
 * The models that tools can be set up with: those that hold conversations and have a plain name, then the aliases that
 * gateway.yaml has tools set up with.
 */
export function setupModels(host: CatalogHost, registry: Abilities): readonly ListedModel[] {
  return knownOf(host, registry).models;
}

function findModels(host: CatalogHost, registry: Abilities): ListedModel[] {
  const named = namedModels(host.section(setupSection)).flatMap(({ name }) => findModel(name, host) ?? []);
  const all = [...host.catalog.models.map((model) => ({ name: model.publicName, model })), ...named];
  const able = all.filter(
    ({ name, model }) => readAbilities(registry, model).conversations.length > 0 && isPlainName(name),
  );
  return [...new Map(able.map((listed) => [listed.name, listed])).values()];
}

/** The defaults of a format; undefined where no model holds conversations in it. */
export function defaultsOf(format: string, host: CatalogHost, registry: Abilities): FormatDefaults | undefined {
  const { defaults } = knownOf(host, registry);
  if (!defaults.has(format)) defaults.set(format, findDefaults(format, host, registry));
  return defaults.get(format);
}

function findDefaults(format: string, host: CatalogHost, registry: Abilities): FormatDefaults | undefined {
  const able = setupModels(host, registry).filter(({ model }) => holdsConversations(model, format, registry));
  const model = configured('model', format, able, host) ?? firstOf(able, format);
  const small = configured('small_model', format, able, host) ?? firstOf(able.filter(isSmall), format);
  return model && { format, model, small, tiers: findTiers(able, format) };
}

function findTiers(able: readonly ListedModel[], format: string): TierModels {
  const found = tierNames.flatMap((tier) => {
    const word = new RegExp(`(^|[-_./])${tier}($|[-_./\\d])`, 'i');
    const first = firstOf(
      able.filter(({ name }) => word.test(name)),
      format,
    );
    return first === undefined ? [] : [[tier, first.name]];
  });
  return Object.fromEntries(found) as TierModels;
}

/** The model that gateway.yaml names, if it is available and holds conversations in this format. */
function configured(
  key: 'model' | 'small_model',
  format: string,
  able: readonly ListedModel[],
  host: CatalogHost,
): ListedModel | undefined {
  const { formats, ...all } = host.section(setupSection);
  const ofFormat = (formats as Readonly<Record<string, typeof all | undefined>>)[format];
  const name = ofFormat?.[key] ?? all[key];
  const found = name === undefined ? undefined : findModel(name, host);
  return able.find((listed) => listed.name === found?.name);
}

/** A model under the name that tools use: that of gateway.yaml, or the public name for a short one. */
export function findModel(name: string, { catalog }: Pick<Host, 'catalog'>): ListedModel | undefined {
  const model = catalog.resolve(name);
  return model && { name: nameInReply(model, name), model };
}

function holdsConversations(model: ListedModel['model'], format: string, registry: Abilities): boolean {
  return readAbilities(registry, model).conversations.some((one) => one.format === format);
}

/** Prefers a model whose primary route speaks the format: nothing is lost in a translation there. */
function firstOf(models: readonly ListedModel[], format: string): ListedModel | undefined {
  return models.find(({ model }) => model.routes[0]?.upstream.formats.includes(format)) ?? models[0];
}

function isSmall({ name }: ListedModel): boolean {
  return smallWords.test(name);
}
