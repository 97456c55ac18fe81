import type { JsonValue } from '#core/platform/json.ts';
import type { Conversation, Sampling, Settings } from './conversation.ts';
import type { Notes } from './notes.ts';
import { noteLocalStops } from './stop-cutter.ts';

/** Types of the settings by path. */
type SettingTypes = Required<Omit<Settings, 'sampling'>> & {
  [Name in keyof Sampling as `sampling.${Name}`]-?: Sampling[Name];
};

/** Path of a setting in a conversation, such as `sampling.temperature` or `stop`. */
export type SettingPath = keyof SettingTypes;
export type SettingTypeAt<P extends SettingPath> = NonNullable<SettingTypes[P]>;

/** Creates empty settings. All settings share one object shape, because objects of many shapes are slow to read. */
export function createSettings(): Settings {
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
  Object.keys(createSettings().sampling).map((name) => [`sampling.${name}`, name as keyof Sampling]),
);

/** Reads a setting; undefined if it is missing or an empty list. */
export function readSetting(settings: Settings, path: SettingPath): JsonValue | undefined {
  const name = samplingNames.get(path);
  const value = name === undefined ? settings[path as keyof Settings] : settings.sampling[name];
  return Array.isArray(value) && value.length === 0 ? undefined : (value as JsonValue | undefined);
}

/** Changes settings in place although their type is readonly. Only the decoder that created the settings may call this. */
export function writeSetting(settings: Settings, path: SettingPath, value: unknown): void {
  const name = samplingNames.get(path);
  const holder = (name === undefined ? settings : settings.sampling) as Record<string, unknown>;
  holder[name ?? path] = value;
}

/** Parameter to note as dropped, or a function that notes the loss. */
type LossNote = string | ((notes: Notes, setting: JsonValue, conversation: Conversation) => void);

const dropUnlessZero =
  (name: string): LossNote =>
  (notes, setting) => {
    if (setting !== 0) notes.drop(name);
  };

/** How the loss of a setting is noted, in the order of the notes. All other settings are supported everywhere. */
const lossNotesByPath: { readonly [P in SettingPath]?: LossNote } = {
  wantsImages: 'image output',
  stop: noteLocalStops,
  'sampling.topK': 'top_k',
  'sampling.presencePenalty': dropUnlessZero('presence_penalty'),
  'sampling.frequencyPenalty': dropUnlessZero('frequency_penalty'),
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

/** Settings that some format does not have. */
export const losableSettings = Object.keys(lossNotesByPath) as readonly SettingPath[];

/** Notes a setting that an upstream does not support. */
export function noteLostSetting(path: SettingPath, conversation: Conversation, notes: Notes): void {
  const setting = readSetting(conversation, path);
  const loss = lossNotesByPath[path];
  if (setting === undefined || loss === undefined) return;
  if (typeof loss === 'string') notes.drop(loss);
  else loss(notes, setting, conversation);
}
