import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Profile } from '#core/config/catalog/profile.ts';
import type { EncodeTarget } from '../../canonical/codec.ts';
import type { Notes } from '../../canonical/notes.ts';
import { noteCutting } from '../../canonical/stop-cutter.ts';
import { textsOf } from '../../wire/members.ts';
import type { Adaptation } from '../contract/adaptation.ts';
import { camelName, fieldsOf } from '../../wire/gemini-fields.ts';
import { readThinking } from './request/decode-request.ts';
import { writeThinking } from './request/encode-request.ts';
import type { GeminiGeneration, GeminiThinking } from '../../wire/gemini.ts';

type Change = (value: JsonValue) => JsonValue | undefined;

const samplingNames: readonly (keyof GeminiGeneration)[] = [
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
];

/**
 * Removes members of a Gemini request that a route is known to reject. Returns the same object when there are none.
 * Source: Gemini API reference, "GenerationConfig"; Gemini docs, "Thinking".
 */
export const adaptGeneration: Adaptation = (body, { profile, notes }) => {
  const changes = changesFor(profile, notes);
  return changeMember(body, 'generationConfig', (config) =>
    isJsonObject(config)
      ? [...changes].reduce((changed, [name, change]) => changeMember(changed, name, change), config)
      : config,
  );
};

function changesFor(profile: Profile, notes: Notes): Map<keyof GeminiGeneration, Change> {
  const { sampling, max_output_tokens: most, stop } = profile.quirks;
  const changes = new Map<keyof GeminiGeneration, Change>([
    ['thinkingConfig', (value) => changeThinking(value, { profile, notes })],
  ]);
  if (most !== undefined) changes.set('maxOutputTokens', (value) => limit(value, most, notes));
  changes.set('stopSequences', (value) => cutStops(value, stop, notes));
  for (const name of sampling ? [] : samplingNames)
    changes.set(name, () => {
      notes.drop(name);
      return undefined;
    });
  return changes;
}

/** Changes a member under either of its names, or removes it if the change returns undefined. Null counts as missing. */
function changeMember(object: JsonObject, wanted: string, change: Change): JsonObject {
  let changed = object;
  for (const [name, value] of Object.entries(object)) {
    if (camelName(name) !== wanted || value === null || value === undefined) continue;
    const next = change(value);
    if (next === value) continue;
    const { [name]: _, ...rest } = changed;
    changed = next === undefined ? rest : { ...changed, [name]: next };
  }
  return changed;
}

function limit(value: JsonValue, most: number, notes: Notes): JsonValue {
  if (typeof value !== 'number' || value <= most) return value;
  notes.approximate(`the limit of output tokens as ${most}`);
  return most;
}

/** The gateway looks for the others in the answer. */
function cutStops(value: JsonValue, most: number, notes: Notes): JsonValue | undefined {
  const wanted = textsOf(value);
  if (wanted.length <= most) return value;
  noteCutting(notes);
  return most === 0 ? undefined : wanted.slice(0, most);
}

/** A value that cannot be read is kept: the route may support more of its own format. */
function changeThinking(value: JsonValue, target: Pick<EncodeTarget, 'profile' | 'notes'>): JsonValue | undefined {
  if (!isJsonObject(value) || !isRefused(fieldsOf<GeminiThinking>(value), target.profile)) return value;
  try {
    return writeThinking(readThinking(value), target);
  } catch (error) {
    if (error instanceof GatewayError) return value;
    throw error;
  }
}

/** Models with thinking levels accept budgets too; models with budgets accept no levels. */
function isRefused(config: GeminiThinking, { capabilities, quirks }: Profile): boolean {
  const { thinkingBudget, thinkingLevel } = config;
  if (!capabilities.reasoning || quirks.reasoning === 'none') return true;
  const isOff = thinkingBudget === 0;
  if (quirks.reasoning === 'budget') {
    return typeof thinkingLevel === 'string' || (isOff && !quirks.efforts.includes('none'));
  }
  if (quirks.reasoning !== 'level') return false;
  return isOff || (typeof thinkingLevel === 'string' && !isKnown(thinkingLevel, quirks.efforts));
}

function isKnown(level: string, efforts: readonly string[]): boolean {
  return efforts.includes(level.toLowerCase());
}
