import type { JsonValue } from '#core/platform/json.ts';
import type { Conversation, Settings } from './conversation.ts';
import type { Notes } from './notes.ts';
import { noteGatewayStops } from './stop-cutter.ts';

export type SettingName = keyof Settings;
export type SettingType<N extends SettingName> = NonNullable<Settings[N]>;

/** Creates empty settings. All settings share one object shape, because objects of many shapes are slow to read. */
export function createSettings(): Settings {
  const settings: { readonly [Name in SettingName]-?: Settings[Name] } = {
    temperature: undefined,
    topP: undefined,
    topK: undefined,
    presencePenalty: undefined,
    frequencyPenalty: undefined,
    seed: undefined,
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

/** Reads a setting; undefined if it is missing or an empty list. */
export function readSetting(settings: Settings, name: SettingName): JsonValue | undefined {
  const value = settings[name];
  return Array.isArray(value) && value.length === 0 ? undefined : (value as JsonValue | undefined);
}

/** Changes settings in place although they are readonly. Only the decoder that created the settings may call this. */
export function writeSetting(settings: Settings, name: SettingName, value: unknown): void {
  (settings as Record<SettingName, unknown>)[name] = value;
}

type LossNote = string | ((notes: Notes, setting: JsonValue, conversation: Conversation) => void);

const dropUnlessZero =
  (name: string): LossNote =>
  (notes, setting) => {
    if (setting !== 0) notes.drop(name);
  };

/** Notes are reported in this order. Settings that are not listed are supported everywhere. */
const lossNotes: { readonly [N in SettingName]?: LossNote } = {
  wantsImages: 'image output',
  stop: noteGatewayStops,
  topK: 'top_k',
  presencePenalty: dropUnlessZero('presence_penalty'),
  frequencyPenalty: dropUnlessZero('frequency_penalty'),
  seed: 'seed',
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

/** Settings that at least one format lacks. */
export const losableSettings = Object.keys(lossNotes) as readonly SettingName[];

export function noteLostSetting(name: SettingName, conversation: Conversation, notes: Notes): void {
  const setting = readSetting(conversation, name);
  const loss = lossNotes[name];
  if (setting === undefined || loss === undefined) return;
  if (typeof loss === 'string') notes.drop(loss);
  else loss(notes, setting, conversation);
}
