import { bestSupport, readAbilities } from '#core/catalog/abilities.ts';
import type { ListedModel } from '#core/catalog/catalog.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/host.ts';

/** Stands where the key belongs. A page never prints a key here, and no address carries one. */
export const keyPlaceholder = 'YOUR_KEY';

/** A model as tools name it, with its limits where they are known. */
export interface SetupModel {
  readonly name: string;
  readonly maxInputTokens: number | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly canSeeImages: boolean;
}

/**
 * What the settings of all tools are made of. Everything here is plain: tools interpolate variables in their settings, so
 * text that could be read as one (`$`, quotes, braces, spaces) does not get this far. Writers quote what is left all the same.
 */
export interface SetupValues {
  /** Without `/v1` and without a trailing slash. */
  readonly baseUrl: string;
  /** With `/v1`. */
  readonly apiUrl: string;
  /** Name of this gateway among the providers of a tool: lower-case letters, digits and hyphens. */
  readonly providerId: string;
  /** Its name for people. */
  readonly providerName: string;
  /** Environment variable of the key. */
  readonly keyVariable: string;
  /** The key, or what stands for it. */
  readonly key: string;
  readonly model: SetupModel;
  /** For titles, summaries and other small tasks; the very same object where the catalog has no small one. */
  readonly smallModel: SetupModel;
}

/** Words in the names of models that are small and fast. */
const smallWords = /(^|[-_./])(mini|small|haiku|flash|lite|nano|fast|tiny|air)($|[-_./\d])/i;

/** The models that tools can be set up with: those that hold conversations and have a plain name. */
export function setupModels({ catalog }: Pick<Host, 'catalog'>, registry: Pick<Registry, 'abilityReader'>) {
  return catalog.models
    .filter((model) => readAbilities(registry, model).conversations.length > 0 && isPlain(model.publicName))
    .map((model) => ({ name: model.publicName, model }));
}

/**
 * The values for this gateway; undefined when the catalog has no model for tools.
 *
 * @param chosen public name of a model; the first of the catalog for an unknown name
 */
export function setupValues(
  host: Pick<Host, 'catalog' | 'service'>,
  registry: Pick<Registry, 'abilityReader'>,
  chosen?: string,
): SetupValues | undefined {
  const models = setupModels(host, registry);
  const model = models.find(({ name }) => name === chosen) ?? models[0];
  if (model === undefined) return undefined;
  const toSetupModel = ({ name, model: found }: ListedModel): SetupModel => {
    const abilities = readAbilities(registry, found);
    const { maxInputTokens, maxOutputTokens } = abilities;
    return { name, maxInputTokens, maxOutputTokens, canSeeImages: bestSupport(abilities, 'images') !== 'no' };
  };
  const small = isSmall(model) ? model : (models.find(isSmall) ?? model);
  const main = toSetupModel(model);
  const { name, slug } = host.service;
  const baseUrl = plainUrl(host.service.baseUrl);
  return {
    baseUrl,
    apiUrl: `${baseUrl}/v1`,
    providerId: slug,
    providerName: plainName(name) || slug,
    keyVariable: keyVariableOf(slug),
    key: keyPlaceholder,
    model: main,
    smallModel: small === model ? main : toSetupModel(small),
  };
}

function isSmall({ name }: ListedModel): boolean {
  return smallWords.test(name);
}

/** True for a name that no shell and no settings file reads as anything else. */
function isPlain(name: string): boolean {
  return /^[A-Za-z0-9][\w./:@+-]*$/.test(name);
}

/** A URL in which only plain characters are left: the others are percent-encoded in the path. */
export function plainUrl(url: string): string {
  return new URL(url).href
    .replace(/\/+$/, '')
    .replaceAll(/[^\w.:/~%[\]-]/g, (character) => encodeURIComponent(character).replaceAll(/[!'()*]/g, percentEncode));
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function plainName(name: string): string {
  return name
    .replaceAll(/[^\p{L}\p{N} ._-]+/gu, ' ')
    .replaceAll(/ +/g, ' ')
    .trim();
}

/** Names of variables cannot begin with a digit. */
function keyVariableOf(slug: string): string {
  const name = `${slug.toUpperCase().replaceAll('-', '_')}_API_KEY`;
  return /^\d/.test(name) ? `_${name}` : name;
}
