import type { Model } from './catalog.ts';

/** Features that clients choose a model by. */
export const modelFeatures = ['stream', 'tools', 'parallel tools', 'images', 'reasoning', 'structured output'] as const;
export type ModelFeature = (typeof modelFeatures)[number];

/** What can be lost between a client and a route, as `daypass check` prints it. Pages have a text for each name. */
export const featureLosses = {
  no_tool_grammar: 'the grammar of freeform tools is described, not enforced',
  no_forced_tools: 'tool calls cannot be forced',
  no_parallel_switch: 'parallel tool calls cannot be disabled',
  result_images_moved: 'images in tool results are sent in a user message',
  image_urls_reachable: 'image URLs work only if Google can fetch them',
  no_image_urls: 'image URLs are refused',
  no_reasoning_effort: 'reasoning effort cannot be set',
  no_reasoning_with_tools: 'no reasoning together with tools',
  no_reasoning_signature: 'reasoning has no signature',
  json_only: 'the schema is in the prompt; only JSON is enforced',
  schema_in_prompt: 'the schema is in the prompt; nothing is enforced',
} as const;
export type FeatureLoss = keyof typeof featureLosses;
export type LossText = (typeof featureLosses)[FeatureLoss];

/** `partly`: with losses, or only on a backup route. */
export type FeatureSupport = 'yes' | 'partly' | 'no';

/** What clients of one format can use of a model. */
export interface FormatAbilities {
  readonly format: string; // chat, responses, messages or gemini
  readonly features: Readonly<Record<ModelFeature, FeatureSupport>>;
  readonly losses: readonly FeatureLoss[];
}

export interface ModelSettings {
  readonly sampling: boolean; // true if it supports temperature and similar settings
  readonly efforts: readonly string[]; // reasoning efforts; empty if the effort cannot be set
  readonly safeguards: boolean; // true if the vendor reviews tool calls for the auto mode of Claude Code
}

/** What clients of a model can rely on, because its first routes support it. */
export interface ModelAbilities {
  /** Formats for conversations with the model; empty if it only generates images. */
  readonly conversations: readonly FormatAbilities[];
  readonly others: readonly string[]; // other formats in which the model can be called: images
  readonly vendors: readonly string[]; // vendors whose SDKs and tools can call the model, by display name
  /** Kinds of input that prompts may contain besides text and images. */
  readonly inputs: readonly ('files' | 'audio' | 'video')[];
  readonly settings: ModelSettings;
  readonly maxInputTokens: number | undefined;
  readonly maxOutputTokens: number | undefined;
}

/** Determines what a model supports. The plugin `format` registers the reader. */
export type AbilityReader = (model: Model) => ModelAbilities;

const noAbilities: ModelAbilities = {
  conversations: [],
  others: [],
  vendors: [],
  inputs: [],
  settings: { sampling: false, efforts: [], safeguards: false },
  maxInputTokens: undefined,
  maxOutputTokens: undefined,
};

const abilitiesByModel = new WeakMap<Model, ModelAbilities>(); // models never change

/** Returns what a model supports; empty if no plugin implements formats. */
export function readAbilities({ abilityReader }: { readonly abilityReader?: AbilityReader | undefined }, model: Model) {
  const abilities = abilitiesByModel.get(model) ?? abilityReader?.(model) ?? noAbilities;
  abilitiesByModel.set(model, abilities);
  return abilities;
}

export function findBestSupport({ conversations }: ModelAbilities, feature: ModelFeature): FeatureSupport {
  const support = new Set(conversations.map(({ features }) => features[feature]));
  if (support.has('yes')) return 'yes';
  return support.has('partly') ? 'partly' : 'no';
}
