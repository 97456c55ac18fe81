import type { Profile } from '#core/config/catalog/profile.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { toCamelCase, asCamelObject } from '../../wire/gemini-fields.ts';
import type { GeminiThinkingConfig } from '../../wire/gemini.ts';
import { BodyObject } from '../../wire/read.ts';
import { adaptMember, isSet, withMember, omitMembers } from '../adaptation/adapt-members.ts';
import { adaptOutputLimit, adaptStops } from '../adaptation/adapt-parameters.ts';
import { type Adaptation, type AdaptationTarget, chainAdaptations } from '../contract/adaptation.ts';
import { listCaseVariants } from '../contract/parameters.ts';
import { readThinking } from './request/decode-request.ts';
import { writeThinking } from './request/encode-request.ts';

const samplingNames = new Set(['temperature', 'topP', 'topK', 'presencePenalty', 'frequencyPenalty']);

/**
 * Adapts the members of `generationConfig` that a route rejects or limits. Returns the same object if nothing changes. Sources: Gemini API
 * reference, "GenerationConfig"; Gemini docs, "Thinking".
 */
export const adaptGeneration = adaptEachSpelling('generationConfig', (name) =>
  adaptMember(
    name,
    chainAdaptations(
      adaptEachSpelling('thinkingConfig', adaptThinking),
      adaptOutputLimit(listCaseVariants('maxOutputTokens')),
      adaptEachSpelling('stopSequences', (stops) => adaptStops(stops)),
      adaptSampling,
    ),
  ),
);

function adaptSampling(config: JsonObject, { profile, notes }: AdaptationTarget): JsonObject {
  if (profile.quirks.sampling) return config;
  const rejectedNames = Object.keys(config).filter(
    (name) => samplingNames.has(toCamelCase(name)) && isSet(config[name]),
  );
  for (const name of rejectedNames) notes.drop(toCamelCase(name));
  return omitMembers(config, rejectedNames);
}

function adaptEachSpelling(name: string, adapt: (spelling: string) => Adaptation): Adaptation {
  return chainAdaptations(...listCaseVariants(name).map(adapt));
}

function adaptThinking(name: string): Adaptation {
  return (config, target) => {
    const value = config[name];
    return isSet(value) ? withMember(config, name, rewriteThinking(value, target)) : config;
  };
}

function rewriteThinking(value: JsonValue, target: AdaptationTarget): JsonValue | undefined {
  if (!isJsonObject(value) || !isRejected(asCamelObject<GeminiThinkingConfig>(value), target.profile)) return value;
  try {
    return writeThinking(readThinking(new BodyObject({ thinkingConfig: value })), target);
  } catch (error) {
    // The route may know values of its own format that we cannot read.
    if (error instanceof GatewayError) return value;
    throw error;
  }
}

/** Models with thinking levels accept budgets, but models with budgets reject levels. */
function isRejected(config: GeminiThinkingConfig, { capabilities, quirks }: Profile): boolean {
  const { thinkingBudget, thinkingLevel } = config;
  if (!capabilities.reasoning || quirks.reasoning === 'none') return true;
  const isOff = thinkingBudget === 0;
  const efforts: readonly string[] = quirks.efforts;
  if (quirks.reasoning === 'budget') return typeof thinkingLevel === 'string' || (isOff && !efforts.includes('none'));
  if (quirks.reasoning !== 'level') return false;
  return isOff || (typeof thinkingLevel === 'string' && !efforts.includes(thinkingLevel.toLowerCase()));
}
