import type { Profile } from '#core/config/catalog/profile.ts';
import type { JsonValue } from '#core/platform/json.ts';
import { invalidValue, type BodyObject } from '../wire/read.ts';
import { type Effort, efforts, type ReasoningRequest } from './conversation.ts';
import type { Notes } from './notes.ts';

/** Thinking budgets in tokens, by effort. Vendors do not publish such a table, and other gateways use different values. */
const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
};

export function budgetForEffort(effort: Effort): number {
  return budgets[effort];
}

/** The smallest thinking budget, in tokens. Source: Anthropic API reference, "Create a Message". */
export const minBudget = 1_024;

/** Fits a thinking budget into the answer's token limit; undefined if the limit leaves no room for thinking. */
export function fitBudget(requested: number, maxTokens: number, notes: Notes): number | undefined {
  const raised = Math.max(requested, minBudget);
  const budget = raised < maxTokens ? raised : Math.floor(maxTokens / 2);
  if (budget < minBudget) {
    notes.drop('reasoning: the answer has no room for it');
    return undefined;
  }
  if (budget !== requested) notes.approximate(`thinking budget as ${budget}`);
  return budget;
}

function effortForBudget(budget: number): Effort {
  if (budget <= 0) return 'none';
  if (budget <= 1_024) return 'minimal';
  if (budget <= 4_096) return 'low';
  if (budget <= 12_288) return 'medium';
  return budget <= 24_576 ? 'high' : 'xhigh';
}

/**
 * Reads a reasoning effort; undefined for `default`, which Groq uses if no effort is set.
 *
 * @throws GatewayError `invalid_request`
 */
export function readEffort<T extends object>(holder: BodyObject<T>, member: keyof T & string): Effort | undefined {
  const name = holder.maybeText(member);
  if (name === 'default') return undefined;
  const effort = efforts.find((candidate) => candidate === name);
  if (name !== undefined && effort === undefined)
    throw invalidValue(holder.pathOf(member), `one of ${efforts.join(', ')}`);
  return effort;
}

export function readRequestedEffort(reasoning: ReasoningRequest | undefined): Effort | undefined {
  return reasoning?.effort ?? (reasoning?.budget === undefined ? undefined : effortForBudget(reasoning.budget));
}

/** Finds the nearest effort that a model supports. Prefers a lower effort, unless that is `none`. */
export function clampEffort(effort: Effort, supported: readonly Effort[]): Effort {
  if (supported.includes(effort)) return effort;
  const rank = efforts.indexOf(effort);
  const lower = supported.filter((candidate) => efforts.indexOf(candidate) < rank && candidate !== 'none');
  const higher = supported.filter((candidate) => efforts.indexOf(candidate) > rank);
  return lower.toSorted(byRank).at(-1) ?? higher.toSorted(byRank)[0] ?? effort;
}

function byRank(a: Effort, b: Effort): number {
  return efforts.indexOf(a) - efforts.indexOf(b);
}

/** Returns true if the vendor requires the reasoning of an assistant message to be sent back. */
export function requiresReasoning({ capabilities, quirks }: Profile, hasCalls: boolean): boolean {
  const { replay_reasoning: when } = quirks;
  return capabilities.reasoning && (when === 'always' || (when === 'tool_turns' && hasCalls));
}

/** Returns true if the model can reason and its effort can be set. */
export function canReason({ capabilities, quirks }: Profile): boolean {
  return capabilities.reasoning && quirks.reasoning !== 'none';
}

/** The effort `none` needs no note if the model never reasons. */
export function noteUnsupportedEffort(
  requested: Effort | undefined,
  { profile, notes }: { readonly profile: Profile; readonly notes: Notes },
): void {
  if (requested !== 'none') notes.drop('reasoning');
  else if (profile.capabilities.reasoning) notes.drop('reasoning effort none');
}

/** Returns true if the model does not support this effort, or no efforts at all. */
export function isUnsupportedEffort(effort: JsonValue | undefined, { quirks }: Profile): boolean {
  if (typeof effort !== 'string') return false;
  if (effort === 'default') return !quirks.default_effort;
  if (quirks.reasoning === 'enable_thinking' || quirks.reasoning === 'thinking_off') return true;
  const isUnknown = !(quirks.efforts as readonly string[]).includes(effort);
  return isUnknown || (quirks.reasoning === 'thinking' && quirks.efforts.length === efforts.length);
}
