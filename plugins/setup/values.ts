import { findBestSupport, readAbilities } from '#core/config/catalog/abilities.ts';
import type { ListedModel } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { percentEncodeUrl } from '#core/web/pages/setup-command.ts';
import { type AbilitySource, readDefaults, type SetupHost, listSetupModels, type TierModels } from './defaults.ts';

/** Stands for the key. Pages never contain a key here, and addresses never carry one. */
const keyPlaceholder = 'YOUR_KEY';

/** A model by the name that tools use, with its limits if they are known. */
export interface SetupModel {
  readonly name: string;
  readonly maxInputTokens: number | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly canSeeImages: boolean;
  /** True if its vendor reviews tool calls for the auto mode of Claude Code. */
  readonly hasSafeguards: boolean;
}

/**
 * The values for the settings of all tools. All of them are plain: tools interpolate variables in their settings, so text that could be
 * read as one (`$`, quotes, braces, spaces) is excluded earlier. Writers quote values anyway.
 */
export interface SetupValues {
  /** Without `/v1` and without a trailing slash. */
  readonly baseUrl: string;
  /** With `/v1`. */
  readonly apiUrl: string;
  /** Name of this gateway among the providers of a tool: lower-case letters, digits and hyphens. */
  readonly providerId: string;
  /** Display name of the gateway. */
  readonly providerName: string;
  /** Environment variable that has the key. */
  readonly keyVariable: string;
  /** The key or its placeholder. */
  readonly key: string;
  readonly model: SetupModel;
  /** For titles, summaries and other small tasks; the same object as `model` if the catalog has no small model. */
  readonly smallModel: SetupModel;
  readonly tiers: TierModels;
  /** True if this machine has reached the gateway by a WebSocket, which only the script can test. */
  readonly acceptsWebSockets: boolean;
}

/**
 * Returns the values for a tool of this format, or undefined if the catalog has no model for it.
 *
 * @param chosenModel public name of a model; if it is unknown, the format's default is used
 */
export function findValues(
  host: SetupHost,
  registry: AbilitySource,
  format: string,
  chosenModel?: string,
): SetupValues | undefined {
  const defaults = readDefaults(format, host, registry);
  if (defaults === undefined) return undefined;
  const listed = listSetupModels(host, registry).find(({ name }) => name === chosenModel) ?? defaults.model;
  const model = toSetupModel(listed, registry);
  const { small = listed, tiers } = defaults;
  return createValues(host, model, small.name === listed.name ? model : toSetupModel(small, registry), tiers);
}

export function createValues(
  { service }: Pick<Host, 'service'>,
  model: SetupModel,
  smallModel: SetupModel,
  tiers: TierModels = {},
): SetupValues {
  const { name, slug } = service;
  const baseUrl = percentEncodeUrl(service.baseUrl);
  return {
    baseUrl,
    apiUrl: `${baseUrl}/v1`,
    providerId: slug,
    providerName: sanitizeName(name) || slug,
    keyVariable: formatKeyVariable(slug),
    key: keyPlaceholder,
    model,
    smallModel,
    tiers,
    acceptsWebSockets: false,
  };
}

export function toSetupModel({ name, model }: ListedModel, registry: AbilitySource): SetupModel {
  const abilities = readAbilities(registry, model);
  const { maxInputTokens, maxOutputTokens, settings } = abilities;
  const canSeeImages = findBestSupport(abilities, 'images') !== 'no';
  return { name, maxInputTokens, maxOutputTokens, canSeeImages, hasSafeguards: settings.safeguards };
}

function sanitizeName(name: string): string {
  return name
    .replaceAll(/[^\p{L}\p{N} ._-]+/gu, ' ')
    .replaceAll(/ +/g, ' ')
    .trim();
}

/** Names of variables cannot start with a digit. */
function formatKeyVariable(slug: string): string {
  const name = `${slug.toUpperCase().replaceAll('-', '_')}_API_KEY`;
  return /^\d/.test(name) ? `_${name}` : name;
}
