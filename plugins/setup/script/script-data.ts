import { createServiceSlug } from '#core/gateway/host/host.ts';
import { type AbilitySource, readDefaults, type FormatDefaults, type SetupHost, listSetupModels } from '../defaults.ts';
import { setupSection } from '../section.ts';
import { fillTemplate } from '../template.ts';
import type { ScriptedTool, SetupTool, ToolScript } from '../tool.ts';
import { scriptedFormats, scriptedTools } from '../tools.ts';
import { type SetupModel, type SetupValues, toSetupModel, createValues } from '../values.ts';
import { describeActions, type ScriptAction, formatStartCommand } from './describe-actions.ts';

/** The data is the same for all users and contains no key. */
export interface ScriptData {
  readonly service: string; // display name without control characters
  readonly slug: string;
  readonly formerSlugs: readonly string[]; // of former names of the service, the latest first
  readonly baseUrl: string; // without `/v1` and without a trailing slash
  readonly keyPrefix: string; // first part of keys, before the hyphen
  readonly keyVariable: string;
  readonly models: readonly ScriptModel[];
  readonly defaults: readonly ScriptDefaults[];
  readonly tools: readonly ScriptTool[];
}

interface ScriptModel {
  readonly name: string;
  readonly context?: number | undefined; // maximum input tokens
  readonly output?: number | undefined; // maximum output tokens
  readonly features: string; // a letter for each property on which actions depend
}

interface ScriptDefaults {
  readonly format: string;
  readonly model: string;
  readonly small?: string; // undefined if the small model is the chosen model itself
}

export interface ScriptTool extends Pick<SetupTool, 'id' | 'name'>, Pick<ToolScript, 'commands' | 'folders'> {
  readonly format: string;
  readonly isOnRequest: boolean;
  readonly start?: string | undefined;
  readonly trial?: readonly string[] | undefined; // arguments that make the tool answer one tiny prompt
  readonly variants: readonly ScriptVariant[]; // for different models; together they cover the features of all models
}

interface ScriptVariant {
  readonly features: readonly string[];
  readonly actions: readonly ScriptAction[];
  readonly withSockets?: readonly ScriptAction[]; // if the gateway accepts WebSockets; missing if they are the same
}

const limitStandIns = {
  // Placeholders would be strings in the settings, not numbers. No other number is this long.
  CONTEXT: 7_310_000_000_000_001,
  OUTPUT: 7_310_000_000_000_002,
  SMALL_CONTEXT: 7_310_000_000_000_003,
  SMALL_OUTPUT: 7_310_000_000_000_004,
} as const;

function formatFeatures({ maxInputTokens, maxOutputTokens, canSeeImages, hasSafeguards }: SetupModel): string {
  const letters = [
    maxInputTokens !== undefined && 'c',
    maxOutputTokens !== undefined && 'o',
    canSeeImages && 'i',
    hasSafeguards && 's',
  ];
  return letters.filter((letter) => letter !== false).join('') || 'n';
}

function createModel(features: string, role: 'MODEL' | 'SMALL'): SetupModel {
  const prefix = role === 'MODEL' ? '' : 'SMALL_';
  return {
    name: `@${role}@`,
    maxInputTokens: features.includes('c') ? limitStandIns[`${prefix}CONTEXT`] : undefined,
    maxOutputTokens: features.includes('o') ? limitStandIns[`${prefix}OUTPUT`] : undefined,
    canSeeImages: features.includes('i'),
    hasSafeguards: features.replace('-same', '').includes('s'),
  };
}

function insertPlaceholders(text: string): string {
  return Object.entries(limitStandIns).reduce(
    (written, [name, number]) => written.replaceAll(String(number), `@${name}@`),
    text,
  );
}

export function createScriptData(host: SetupHost, registry: AbilitySource): ScriptData | undefined {
  const models = listSetupModels(host, registry).map((model) => toScriptModel(toSetupModel(model, registry)));
  if (models.length === 0) return undefined;
  const defaults = scriptedFormats.flatMap((format) => readDefaults(format, host, registry) ?? []);
  const { name, slug, prefix } = host.service;
  const { baseUrl, keyVariable } = createValues(host, createModel('', 'MODEL'), createModel('', 'MODEL'));
  return {
    service: name.replaceAll(/\p{Cc}+/gu, ' ').trim() || slug,
    slug,
    formerSlugs: listFormerSlugs(host),
    baseUrl,
    keyPrefix: prefix,
    keyVariable,
    models,
    defaults: defaults.map(({ format, model, small }) => ({
      format,
      model: model.name,
      ...(small && { small: small.name }),
    })),
    tools: scriptedTools.flatMap((tool) => {
      const formatDefaults = defaults.find(({ format }) => format === tool.formats[0]);
      return formatDefaults === undefined ? [] : toScriptTool(tool, host, models, formatDefaults);
    }),
  };
}

function listFormerSlugs({ section, service: { slug, prefix } }: SetupHost): string[] {
  const slugs = section(setupSection).former_names.map((name) => createServiceSlug(name, prefix));
  // A service may return to a former name.
  return [...new Set(slugs)].filter((former) => former !== slug);
}

function toScriptModel(model: SetupModel): ScriptModel {
  const { name, maxInputTokens: context, maxOutputTokens: output } = model;
  return { name, context, output, features: formatFeatures(model) };
}

function toScriptTool(
  tool: ScriptedTool,
  host: SetupHost,
  models: readonly ScriptModel[],
  { small, tiers }: FormatDefaults,
): ScriptTool {
  const smallFeatures = models.find(({ name }) => name === small?.name)?.features ?? '';
  const variants = new Map<string, ScriptVariant & { readonly features: string[] }>();
  for (const features of listFeatures(models, small?.name)) {
    const model = createModel(features.replace('-same', ''), 'MODEL');
    const smallModel = features.endsWith('-same') ? model : createModel(smallFeatures, 'SMALL');
    const values = createValues(host, model, smallModel, tiers);
    const actions = renderActions(tool, values);
    const withSockets = renderActions(tool, { ...values, acceptsWebSockets: true });
    const variant = variants.get(actions) ?? toVariant(actions, withSockets);
    variant.features.push(features);
    variants.set(actions, variant);
  }
  const { id, name, script } = tool;
  const anyModel = createModel('', 'MODEL');
  const values = createValues(host, anyModel, anyModel);
  return {
    id,
    name,
    format: tool.formats[0],
    isOnRequest: script.isOnRequest === true,
    commands: script.commands,
    folders: script.folders,
    start: formatStartCommand(tool, values),
    trial: fillTemplate(script.trial, values, 'Reply with the word ready.'),
    variants: [...variants.values()],
  };
}

function renderActions(tool: ScriptedTool, values: SetupValues): string {
  return insertPlaceholders(JSON.stringify(describeActions(tool, { ...values, key: '@KEY@' })));
}

function toVariant(actions: string, withSockets: string): ScriptVariant & { readonly features: string[] } {
  const variant = { features: [], actions: JSON.parse(actions) as ScriptAction[] };
  return actions === withSockets ? variant : { ...variant, withSockets: JSON.parse(withSockets) as ScriptAction[] };
}

function listFeatures(models: readonly ScriptModel[], small: string | undefined): string[] {
  const all = models.map(({ name, features }) =>
    small === undefined || small === name ? `${features}-same` : features,
  );
  return [...new Set(all)].toSorted();
}
