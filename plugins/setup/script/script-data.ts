import { serviceSlug } from '#core/gateway/host/host.ts';
import { type Abilities, defaultsOf, type FormatDefaults, type SetupHost, setupModels } from '../defaults.ts';
import { setupSection } from '../section.ts';
import { fillTemplate } from '../template.ts';
import type { ScriptedTool, SetupTool, ToolScript } from '../tool.ts';
import { scriptedFormats, scriptedTools } from '../tools.ts';
import { type SetupModel, type SetupValues, toSetupModel, valuesWith } from '../values.ts';
import { describeActions, type ScriptAction, startOf } from './describe-actions.ts';

/** The data in this gateway's setup scripts: identical for everybody and without a key. */
export interface ScriptData {
  /** Name of the service, without control characters. */
  readonly service: string;
  readonly slug: string;
  /** Slugs of former names of the service, the latest first. */
  readonly formerSlugs: readonly string[];
  /** Without `/v1` and without a trailing slash. */
  readonly baseUrl: string;
  /** First part of keys, before the hyphen. */
  readonly keyPrefix: string;
  readonly keyVariable: string;
  readonly models: readonly ScriptModel[];
  readonly defaults: readonly ScriptDefaults[];
  readonly tools: readonly ScriptTool[];
}

interface ScriptModel {
  readonly name: string;
  readonly context?: number | undefined; // maximum tokens of a prompt
  readonly output?: number | undefined; // maximum tokens of an answer
  /** Letters for the properties on which actions depend. `-same` is appended if this is also the small model. */
  readonly traits: string;
}

/** The default models of a format. */
interface ScriptDefaults {
  readonly format: string;
  readonly model: string;
  /** Undefined if the small model is the chosen model itself. */
  readonly small?: string;
}

export interface ScriptTool extends Pick<SetupTool, 'id' | 'name'>, Pick<ToolScript, 'commands' | 'folders'> {
  readonly format: string;
  readonly isOnRequest: boolean;
  /** The command that starts the tool. */
  readonly start?: string | undefined;
  /** Arguments with which the tool answers one tiny prompt. */
  readonly trial?: readonly string[] | undefined;
  /** Variants of the actions for different models. Together they cover the traits of all models. */
  readonly variants: readonly ScriptVariant[];
}

interface ScriptVariant {
  readonly traits: readonly string[];
  readonly actions: readonly ScriptAction[];
  /** Actions if the script has seen that the gateway accepts WebSockets; missing if they are the same. */
  readonly withSockets?: readonly ScriptAction[];
}

/** Numbers used as placeholders while settings are written, where placeholders must be numbers. No other number is as long. */
const standIns = {
  CONTEXT: 7_310_000_000_000_001,
  OUTPUT: 7_310_000_000_000_002,
  SMALL_CONTEXT: 7_310_000_000_000_003,
  SMALL_OUTPUT: 7_310_000_000_000_004,
} as const;

/** Letters for the properties on which settings depend, apart from placeholders; `n` for a model without any. */
function traitsOf({ maxInputTokens, maxOutputTokens, canSeeImages, hasSafeguards }: SetupModel): string {
  const letters = [
    maxInputTokens !== undefined && 'c',
    maxOutputTokens !== undefined && 'o',
    canSeeImages && 'i',
    hasSafeguards && 's',
  ];
  return letters.filter((letter) => letter !== false).join('') || 'n';
}

/** A model with these traits and with placeholders for its name and limits. */
function modelWith(traits: string, role: 'MODEL' | 'SMALL'): SetupModel {
  const prefix = role === 'MODEL' ? '' : 'SMALL_';
  return {
    name: `@${role}@`,
    maxInputTokens: traits.includes('c') ? standIns[`${prefix}CONTEXT`] : undefined,
    maxOutputTokens: traits.includes('o') ? standIns[`${prefix}OUTPUT`] : undefined,
    canSeeImages: traits.includes('i'),
    hasSafeguards: traits.replace('-same', '').includes('s'),
  };
}

/** Replaces the limits of `modelWith` in settings by placeholders. */
function withPlaceholders(text: string): string {
  return Object.entries(standIns).reduce(
    (written, [name, number]) => written.replaceAll(String(number), `@${name}@`),
    text,
  );
}

/** Returns the data of the scripts; undefined if the catalog has no model for tools. */
export function scriptData(host: SetupHost, registry: Abilities): ScriptData | undefined {
  const models = setupModels(host, registry).map((model) => toScriptModel(toSetupModel(model, registry)));
  if (models.length === 0) return undefined;
  const defaults = scriptedFormats.flatMap((format) => defaultsOf(format, host, registry) ?? []);
  const { name, slug, prefix } = host.service;
  const { baseUrl, keyVariable } = valuesWith(host, modelWith('', 'MODEL'), modelWith('', 'MODEL'));
  return {
    service: name.replaceAll(/\p{Cc}+/gu, ' ').trim() || slug,
    slug,
    formerSlugs: formerSlugsOf(host),
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
      const ofFormat = defaults.find(({ format }) => format === tool.formats[0]);
      return ofFormat === undefined ? [] : toScriptTool(tool, host, models, ofFormat);
    }),
  };
}

/** Excludes the current slug: a service may return to a former name. */
function formerSlugsOf({ section, service: { slug, prefix } }: SetupHost): string[] {
  const slugs = section(setupSection).former_names.map((name) => serviceSlug(name, prefix));
  return [...new Set(slugs)].filter((former) => former !== slug);
}

function toScriptModel(model: SetupModel): ScriptModel {
  const { name, maxInputTokens: context, maxOutputTokens: output } = model;
  return { name, context, output, traits: traitsOf(model) };
}

function toScriptTool(
  tool: ScriptedTool,
  host: SetupHost,
  models: readonly ScriptModel[],
  { small, tiers }: FormatDefaults,
): ScriptTool {
  const smallTraits = models.find(({ name }) => name === small?.name)?.traits ?? '';
  const variants = new Map<string, ScriptVariant & { readonly traits: string[] }>();
  for (const traits of traitsWith(models, small?.name)) {
    const main = modelWith(traits.replace('-same', ''), 'MODEL');
    const values = valuesWith(host, main, traits.endsWith('-same') ? main : modelWith(smallTraits, 'SMALL'), tiers);
    const written = writeActions(tool, values);
    const variant = variants.get(written) ?? toVariant(written, writeActions(tool, { ...values, hasSockets: true }));
    variant.traits.push(traits);
    variants.set(written, variant);
  }
  const { id, name, script } = tool;
  const anyModel = modelWith('', 'MODEL');
  const values = valuesWith(host, anyModel, anyModel);
  return {
    id,
    name,
    format: tool.formats[0],
    isOnRequest: script.isOnRequest === true,
    commands: script.commands,
    folders: script.folders,
    start: startOf(tool, values),
    trial: fillTemplate(script.trial, values, 'Reply with the word ready.'),
    variants: [...variants.values()],
  };
}

function writeActions(tool: ScriptedTool, values: SetupValues): string {
  return withPlaceholders(JSON.stringify(describeActions(tool, { ...values, key: '@KEY@' })));
}

const read = (text: string) => JSON.parse(text) as ScriptAction[];

/** @param withSockets the actions if the gateway accepts WebSockets */
function toVariant(written: string, withSockets: string): ScriptVariant & { readonly traits: string[] } {
  return { traits: [], actions: read(written), ...(withSockets !== written && { withSockets: read(withSockets) }) };
}

/** The traits that chosen models can have in combination with this small model. */
function traitsWith(models: readonly ScriptModel[], small: string | undefined): string[] {
  const all = models.map(({ name, traits }) => (small === undefined || small === name ? `${traits}-same` : traits));
  return [...new Set(all)].toSorted();
}
