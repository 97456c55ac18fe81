import { readAbilities } from '#core/config/catalog/abilities.ts';
import type { ListedModel } from '#core/config/catalog/catalog.ts';
import { nameInReply } from '#core/config/catalog/model-name.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { isPlainName, listNamedModels, setupSection } from './section.ts';

export type SetupHost = Pick<Host, 'catalog' | 'section' | 'service'>;
export type CatalogHost = Pick<Host, 'catalog' | 'section'>;
export type AbilitySource = Pick<Registry, 'abilityReader'>;

export interface FormatDefaults {
  readonly format: string;
  readonly model: ListedModel;
  readonly small: ListedModel | undefined; // for titles, summaries and other small tasks; undefined if the catalog has none
  readonly tiers: TierModels; // for the tiers of Claude Code
}

const tierNames = ['opus', 'sonnet', 'fable'] as const;

/** If the catalog has no model for a tier, the chosen model is used. */
export type TierModels = Readonly<Partial<Record<(typeof tierNames)[number], string>>>;

const smallModelWords = /(^|[-_./])(mini|small|haiku|flash|lite|nano|fast|tiny|air)($|[-_./\d])/i;

interface CachedModels {
  readonly models: readonly ListedModel[];
  readonly defaults: Map<string, FormatDefaults | undefined>; // by format
}

const cache = new WeakMap<CatalogHost, CachedModels>(); // each configuration has its own host, which never changes

function readCache(host: CatalogHost, registry: AbilitySource): CachedModels {
  const cached = cache.get(host) ?? { models: findModels(host, registry), defaults: new Map() };
  cache.set(host, cached);
  return cached;
}

/** Lists models for conversations with a plain name, then the aliases that gateway.yaml configures for tools. */
export function listSetupModels(host: CatalogHost, registry: AbilitySource): readonly ListedModel[] {
  return readCache(host, registry).models;
}

function findModels(host: CatalogHost, registry: AbilitySource): ListedModel[] {
  const aliasedModels = listNamedModels(host.section(setupSection)).flatMap(({ name }) => findModel(name, host) ?? []);
  const allModels = [...host.catalog.models.map((model) => ({ name: model.publicName, model })), ...aliasedModels];
  const usableModels = allModels.filter(
    ({ name, model }) => readAbilities(registry, model).conversations.length > 0 && isPlainName(name),
  );
  return [...new Map(usableModels.map((listed) => [listed.name, listed])).values()];
}

export function readDefaults(format: string, host: CatalogHost, registry: AbilitySource): FormatDefaults | undefined {
  const { defaults } = readCache(host, registry);
  if (!defaults.has(format)) defaults.set(format, chooseDefaults(format, host, registry));
  return defaults.get(format);
}

function chooseDefaults(format: string, host: CatalogHost, registry: AbilitySource): FormatDefaults | undefined {
  const usableModels = listSetupModels(host, registry).filter(({ model }) =>
    supportsConversations(model, format, registry),
  );
  const model = findConfigured('model', format, usableModels, host) ?? preferUntranslated(usableModels, format);
  const small =
    findConfigured('small_model', format, usableModels, host) ??
    preferUntranslated(usableModels.filter(isSmall), format);
  return model && { format, model, small, tiers: findTiers(usableModels, format) };
}

function findTiers(models: readonly ListedModel[], format: string): TierModels {
  const tiers = tierNames.flatMap((tier) => {
    const word = new RegExp(`(^|[-_./])${tier}($|[-_./\\d])`, 'i');
    const first = preferUntranslated(
      models.filter(({ name }) => word.test(name)),
      format,
    );
    return first === undefined ? [] : [[tier, first.name]];
  });
  return Object.fromEntries(tiers) as TierModels;
}

function findConfigured(
  key: 'model' | 'small_model',
  format: string,
  usableModels: readonly ListedModel[],
  host: CatalogHost,
): ListedModel | undefined {
  const { formats, ...all } = host.section(setupSection);
  const formatSettings = (formats as Readonly<Record<string, typeof all | undefined>>)[format];
  const name = formatSettings?.[key] ?? all[key];
  const found = name === undefined ? undefined : findModel(name, host);
  return usableModels.find((listed) => listed.name === found?.name);
}

/** Finds a model under the name that tools use: the one in gateway.yaml or, instead of a short name, the public name. */
export function findModel(name: string, { catalog }: Pick<Host, 'catalog'>): ListedModel | undefined {
  const model = catalog.resolve(name);
  return model && { name: nameInReply(model, name), model };
}

function supportsConversations(model: ListedModel['model'], format: string, registry: AbilitySource): boolean {
  return readAbilities(registry, model).conversations.some((abilities) => abilities.format === format);
}

function preferUntranslated(models: readonly ListedModel[], format: string): ListedModel | undefined {
  // Without a translation, nothing is lost.
  return models.find(({ model }) => model.routes[0]?.upstream.formats.includes(format)) ?? models[0];
}

function isSmall({ name }: ListedModel): boolean {
  return smallModelWords.test(name);
}
