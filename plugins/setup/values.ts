import { findBestSupport, readAbilities } from '#core/config/catalog/abilities.ts';
import type { ListedModel } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { percentEncodeUrl } from '#core/web/pages/setup-command.ts';
import { type AbilitySource, readDefaults, type SetupHost, listSetupModels, type TierModels } from './defaults.ts';

const keyPlaceholder = 'YOUR_KEY'; // pages never contain a key here, and URLs never do

export interface SetupModel {
  readonly name: string;
  readonly maxInputTokens: number | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly canSeeImages: boolean;
  readonly hasSafeguards: boolean; // its vendor reviews tool calls for the auto mode of Claude Code
}

/**
 * The values for the settings of all tools. All of them are plain: tools interpolate variables in their settings, so text that could be
 * taken for one (`$`, quotes, braces, spaces) is excluded earlier. Writers quote values anyway.
 */
export interface SetupValues {
  readonly baseUrl: string; // without `/v1` and without a trailing slash
  readonly apiUrl: string; // with `/v1`
  readonly providerId: string; // this gateway's id among a tool's providers: lowercase letters, digits and hyphens
  readonly providerName: string; // display name of the gateway
  readonly keyVariable: string; // environment variable with the key
  readonly key: string; // the key or its placeholder
  readonly model: SetupModel;
  readonly smallModel: SetupModel; // for titles, summaries and other small tasks; the same object as `model` if the catalog has none
  readonly tiers: TierModels;
  readonly acceptsWebSockets: boolean; // whether WebSockets work from this machine, which only the script can test
}

/** @param chosenModel public name of a model; if it is unknown, the format's default is used */
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

function formatKeyVariable(slug: string): string {
  const name = `${slug.toUpperCase().replaceAll('-', '_')}_API_KEY`;
  // Names of variables cannot start with a digit.
  return /^\d/.test(name) ? `_${name}` : name;
}
