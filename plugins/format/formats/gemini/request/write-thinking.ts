import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Effort, ReasoningRequest } from '../../../canonical/conversation.ts';
import { budgetOf, clampEffort, requestedEffort } from '../../../canonical/reasoning.ts';
import { maxThinkingTokens } from './parameters.ts';
import type { GeminiThinking } from '../../../wire/gemini.ts';

type ThinkingTarget = Pick<EncodeTarget, 'profile' | 'notes'>;

/** Lets the model choose. */
const dynamicBudget = -1;

/** There is no level that turns thinking off. */
const levels: Readonly<Record<Effort, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

/**
 * Requests reasoning: by a level where the model has levels, else by a budget, never by both. Source: Gemini docs,
 * "Thinking".
 */
export function writeThinking(
  reasoning: ReasoningRequest | undefined,
  target: ThinkingTarget,
): GeminiThinking | undefined {
  const wanted = requestedEffort(reasoning);
  if (reasoning === undefined) return undefined;
  const { capabilities, quirks } = target.profile;
  if (!capabilities.reasoning || quirks.reasoning === 'none') {
    if (wanted !== 'none') target.notes.drop('reasoning');
    return undefined;
  }
  const amount =
    quirks.reasoning === 'level'
      ? writeLevel(wanted, target)
      : { thinkingBudget: writeBudget(reasoning, wanted, target) };
  const includeThoughts = reasoning.wantsText && wanted !== 'none';
  return { ...amount, ...(includeThoughts && { includeThoughts }) };
}

function writeLevel(wanted: Effort | undefined, { profile, notes }: ThinkingTarget): GeminiThinking {
  if (wanted === undefined) return {};
  const effort = clampEffort(wanted, profile.quirks.efforts);
  const thinkingLevel = levels[effort];
  if (thinkingLevel.toLowerCase() !== wanted) notes.approximate(`reasoning effort as ${thinkingLevel.toLowerCase()}`);
  return { thinkingLevel };
}

function writeBudget(
  { effort, budget }: ReasoningRequest,
  wanted: Effort | undefined,
  { profile, notes }: ThinkingTarget,
): number {
  if (wanted === undefined) return dynamicBudget;
  const clamped = clampEffort(wanted, profile.quirks.efforts);
  const isCounted = effort === undefined && budget !== undefined && clamped === wanted;
  const asked = isCounted ? budget : budgetOf(clamped);
  const fitting = Math.min(asked, maxThinkingTokens);
  if (fitting !== asked || clamped !== wanted) notes.approximate(`the budget of thinking as ${fitting}`);
  return fitting;
}
