import type { JsonValue } from '#core/platform/json.ts';
import type { Conversation, Sampling, Settings } from './conversation.ts';
import type { Notes } from './notes.ts';
import { noteCutting } from './stop-cutter.ts';

/** Types of the settings by path. */
type Places = Required<Omit<Settings, 'sampling'>> & {
  [Name in keyof Sampling as `sampling.${Name}`]-?: Sampling[Name];
};

/** Path of a setting in a conversation, such as `sampling.temperature` or `stop`. */
export type SettingPlace = keyof Places;
export type SettingIn<P extends SettingPlace> = NonNullable<Places[P]>;

/** Creates empty settings. All settings share one object shape, because objects of many shapes are slow to read. */
export function noSettings(): Settings {
  const sampling: { readonly [Name in keyof Sampling]-?: undefined } = {
    temperature: undefined,
    topP: undefined,
    topK: undefined,
    presencePenalty: undefined,
    frequencyPenalty: undefined,
    seed: undefined,
  };
  const settings: { readonly [Name in keyof Settings]-?: Settings[Name] } = {
    sampling,
    parallelToolCalls: undefined,
    maxOutputTokens: undefined,
    stop: [],
    verbosity: undefined,
    user: undefined,
    safetyId: undefined,
    cacheKey: undefined,
    cacheRetention: undefined,
    serviceTier: undefined,
    wantsImages: undefined,
    topLogprobs: undefined,
    metadata: undefined,
    candidates: 1,
  };
  return settings;
}

const samplingNames = new Map(
  Object.keys(noSettings().sampling).map((name) => [`sampling.${name}`, name as keyof Sampling]),
);

/** Reads a setting of settings or of a conversation, which extends them; undefined if it is missing or an empty list. */
export function settingIn(settings: Settings, place: SettingPlace): JsonValue | undefined {
  const name = samplingNames.get(place);
  const value = name === undefined ? settings[place as keyof Settings] : settings.sampling[name];
  return Array.isArray(value) && value.length === 0 ? undefined : (value as JsonValue | undefined);
}

/** Changes settings in place although their type is readonly. Only the decoder that created the settings may call this. */
export function putSetting(settings: Settings, place: SettingPlace, value: unknown): void {
  const name = samplingNames.get(place);
  const holder = (name === undefined ? settings : settings.sampling) as Record<string, unknown>;
  holder[name ?? place] = value;
}

/** Parameter to note as dropped, or a function that notes the loss. */
type Loss = string | ((notes: Notes, setting: JsonValue, conversation: Conversation) => void);

const unlessZero =
  (name: string): Loss =>
  (notes, setting) => {
    if (setting !== 0) notes.drop(name);
  };

/** Notes on lost settings, in the order of the notes. All other settings are supported everywhere. */
const losses: { readonly [P in SettingPlace]?: Loss } = {
  wantsImages: 'image output',
  stop: noteCutting,
  'sampling.topK': 'top_k',
  'sampling.presencePenalty': unlessZero('presence_penalty'),
  'sampling.frequencyPenalty': unlessZero('frequency_penalty'),
  'sampling.seed': 'seed',
  user: 'user',
  safetyId: 'safety_identifier',
  verbosity: 'verbosity',
  cacheKey: (notes, _, { isCacheKeyImplied }) => {
    if (isCacheKeyImplied !== true) notes.drop('prompt_cache_key');
  },
  cacheRetention: 'prompt_cache_retention',
  serviceTier: 'service_tier',
  metadata: 'metadata',
  topLogprobs: (notes, count) => {
    notes.drop('logprobs');
    if (count !== 0) notes.drop('top_logprobs');
  },
};

export const lossyPlaces = Object.keys(losses) as readonly SettingPlace[];

/** Notes a setting that an upstream does not support. */
export function noteLoss(place: SettingPlace, conversation: Conversation, notes: Notes): void {
  const setting = settingIn(conversation, place);
  const loss = losses[place];
  if (setting === undefined || loss === undefined) return;
  if (typeof loss === 'string') notes.drop(loss);
  else loss(notes, setting, conversation);
}
