import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Conversation, Effort, ReasoningRequest } from '../../../canonical/conversation.ts';
import { normalizeCalls, groupIntoTurns } from '../../../canonical/dialogue.ts';
import { enforceSchema } from '../../../canonical/enforce-schema.ts';
import { writeInstruction, noteLostDescription } from '../../../canonical/output-format.ts';
import { budgetForEffort, clampEffort, readRequestedEffort } from '../../../canonical/reasoning.ts';
import { selectSubset } from '../../../canonical/schema-subsets.ts';
import type {
  GeminiContent,
  GeminiGenerationConfig,
  GeminiRequest,
  GeminiThinkingConfig,
} from '../../../wire/gemini.ts';
import { asFilledObject, withoutUndefined } from '../../../wire/members.ts';
import { writeSettings } from '../../contract/settings.ts';
import { cleanSchema } from '../schema/clean-schema.ts';
import { geminiParameters, maxThinkingTokens, thinkingLevels } from './parameters.ts';
import { writeContents } from './write-contents.ts';
import { writeTools } from './write-tools.ts';

/**
 * Encodes a request to generate content. Source: Gemini API reference, "GenerateContent".
 *
 * @throws GatewayError `not_supported`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { config, instruction } = writeFormat(conversation, target);
  const thinkingConfig = writeThinking(conversation.reasoning, target);
  const generationConfig = asFilledObject(withoutUndefined({ ...config, thinkingConfig }));
  const request: GeminiRequest = {
    systemInstruction: writeSystem(conversation, instruction),
    contents: writeContents(groupIntoTurns(normalizeCalls(conversation.items)), target),
    ...writeTools(conversation, target),
    ...writeSettings(conversation, geminiParameters, target, { generationConfig }),
  };
  return withoutUndefined(request);
}

function writeSystem({ instructions }: Conversation, instruction: string | undefined): GeminiContent | undefined {
  const texts = instruction === undefined ? instructions : [...instructions, instruction];
  const parts = texts.filter((text) => text.trim() !== '').map((text) => ({ text }));
  return parts.length === 0 ? undefined : { parts };
}

interface GeminiOutputFormat {
  readonly config?: GeminiGenerationConfig;
  /** Goes after all other instructions. */
  readonly instruction?: string;
}

const jsonConfig: GeminiGenerationConfig = { responseMimeType: 'application/json' };

/** Source: Gemini docs, "Structured output". */
function writeFormat({ output, tools }: Conversation, { profile, notes }: EncodeTarget): GeminiOutputFormat {
  if (output === undefined) return {};
  noteLostDescription(output, notes);
  const { quirks, capabilities } = profile;
  // Older models reject an output format together with functions.
  const isCombined = tools.length > 0 && capabilities.tools && quirks.reasoning !== 'level';
  const support = isCombined ? 'none' : capabilities.structured_output;
  if (output.type === 'json_object' && support !== 'none') return { config: jsonConfig };
  if (output.type === 'json_schema' && support === 'schema') {
    const schema: GeminiGenerationConfig =
      quirks.tool_schema === 'subset'
        ? { responseSchema: cleanSchema(output.schema, notes) }
        : { responseJsonSchema: enforceSchema(output.schema, true, selectSubset(profile, 'gemini'), notes)?.schema };
    return { config: { ...jsonConfig, ...schema } };
  }
  notes.approximate(`${output.type} as instruction`);
  return { ...(support !== 'none' && { config: jsonConfig }), instruction: writeInstruction(output) };
}

type ThinkingTarget = Pick<EncodeTarget, 'profile' | 'notes'>;

const dynamicBudget = -1; // the model decides

/** Requests reasoning with a level if the model has levels, otherwise with a budget, never with both. Source: Gemini docs, "Thinking". */
export function writeThinking(
  reasoning: ReasoningRequest | undefined,
  target: ThinkingTarget,
): GeminiThinkingConfig | undefined {
  const wantedEffort = readRequestedEffort(reasoning);
  if (reasoning === undefined) return undefined;
  const { capabilities, quirks } = target.profile;
  if (!capabilities.reasoning || quirks.reasoning === 'none') {
    if (wantedEffort !== 'none') target.notes.drop('reasoning');
    return undefined;
  }
  const amount =
    quirks.reasoning === 'level'
      ? writeLevel(wantedEffort, target)
      : { thinkingBudget: writeBudget(reasoning, wantedEffort, target) };
  const includeThoughts = reasoning.wantsText && wantedEffort !== 'none';
  return { ...amount, ...(includeThoughts && { includeThoughts }) };
}

function writeLevel(wantedEffort: Effort | undefined, { profile, notes }: ThinkingTarget): GeminiThinkingConfig {
  if (wantedEffort === undefined) return {};
  const level = clampEffort(clampEffort(wantedEffort, profile.quirks.efforts), thinkingLevels);
  if (level !== wantedEffort) notes.approximate(`reasoning effort as ${level}`);
  return { thinkingLevel: level.toUpperCase() };
}

function writeBudget(
  { effort, budget }: ReasoningRequest,
  wantedEffort: Effort | undefined,
  { profile, notes }: ThinkingTarget,
): number {
  if (wantedEffort === undefined) return dynamicBudget;
  const supportedEffort = clampEffort(wantedEffort, profile.quirks.efforts);
  const usesBudget = effort === undefined && budget !== undefined && supportedEffort === wantedEffort;
  const requestedTokens = usesBudget ? budget : budgetForEffort(supportedEffort);
  const tokens = Math.min(requestedTokens, maxThinkingTokens);
  if (tokens !== requestedTokens || supportedEffort !== wantedEffort) notes.approximate(`thinking budget as ${tokens}`);
  return tokens;
}
