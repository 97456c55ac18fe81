import type { JsonValue } from '#core/platform/json.ts';
import type { Effort } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { asText, listTexts } from '../../../wire/members.ts';
import { listCaseVariants, compileParameters } from '../../contract/parameters.ts';
import * as rule from '../../contract/rules.ts';

/** The largest thinking budget that every model accepts, in tokens. Source: Gemini docs, "Thinking". */
export const maxThinkingTokens = 24_576;

/** No level turns thinking off. */
export const thinkingLevels: readonly Effort[] = ['minimal', 'low', 'medium', 'high'];

/** Source: Gemini API reference, "GenerateContent". */
export const geminiParameters = compileParameters(
  {
    contents: rule.nonEmptyObjects,
    // The API also accepts a single object.
    tools: rule.objectOrObjects,
    toolConfig: rule.object,
    generationConfig: rule.object,
    'generationConfig.temperature': { is: rule.number(0, 2), to: 'temperature' },
    'generationConfig.topP': { is: rule.number(0, 1), to: 'topP' },
    'generationConfig.topK': { is: rule.integer(0), to: 'topK' },
    'generationConfig.maxOutputTokens': { is: rule.integer(1), to: 'maxOutputTokens' },
    'generationConfig.candidateCount': { is: rule.integer(1, 8), to: 'candidates', writtenBy: 'none' },
    'generationConfig.stopSequences': { is: rule.textOr(rule.texts), to: 'stop', read: listTexts },
    'generationConfig.presencePenalty': { is: rule.number(-2, 2), to: 'presencePenalty', write: unlessZero },
    'generationConfig.frequencyPenalty': { is: rule.number(-2, 2), to: 'frequencyPenalty', write: unlessZero },
    'generationConfig.seed': { is: rule.integer(-(2 ** 31), 2 ** 31), to: 'seed' },
    'generationConfig.responseMimeType': rule.text,
    'generationConfig.thinkingConfig': rule.object,
    systemInstruction: rule.textOrObject,
  },
  {
    translationOnly: {
      'generationConfig.responseModalities': {
        is: rule.textOrTexts,
        to: 'wantsImages',
        read: readModalities,
        write: () => ['TEXT', 'IMAGE'],
      },
      serviceTier: { is: rule.text, to: 'serviceTier', read: readTier, writtenBy: 'none' },
    },
    unmappedMembers: [
      'model', // in the path
      'cachedContent',
      'generationConfig.responseSchema',
      'generationConfig.responseJsonSchema',
      'generationConfig._responseJsonSchema',
    ],
    // A boolean member that is false has no effect.
    closedObjects: { generationConfig: (value) => value !== false },
    spellingsOf: listCaseVariants,
  },
);

function unlessZero(penalty: number): number | undefined {
  return penalty || undefined;
}

function readModalities(value: JsonValue, notes: Notes): true | undefined {
  const modalities = listTexts(value).map((modality) => modality.toUpperCase());
  if (modalities.some(isUnsupportedModality)) notes.drop('generationConfig.responseModalities');
  return modalities.includes('IMAGE') || undefined;
}

function isUnsupportedModality(modality: string): boolean {
  return modality !== 'TEXT' && modality !== 'IMAGE' && !modality.endsWith('UNSPECIFIED');
}

function readTier(value: JsonValue): string | undefined {
  const tier = asText(value).toLowerCase().replace('service_tier_', '');
  if (tier === '' || tier === 'unspecified') return undefined;
  return tier === 'standard' ? 'default' : tier;
}
