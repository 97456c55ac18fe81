import type { Profile } from '#core/config/catalog/profile.ts';
import type { JsonValue } from '#core/platform/json.ts';
import { invalid, type Placed } from '../wire/read.ts';
import { type Effort, efforts, type ReasoningRequest } from './conversation.ts';
import type { Notes } from './notes.ts';

/** The thinking budget of an effort, in tokens. Vendors publish no such table, and other gateways differ. */
const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
};

export function budgetOf(effort: Effort): number {
  return budgets[effort];
}

/** Fewest tokens of a budget. Source: Anthropic API reference, "Create a Message". */
export const leastBudget = 1_024;

/** The budget of thinking, lowered where the whole answer may not be longer; undefined if there is no room for thinking. */
export function fitBudget(asked: number, maxTokens: number, notes: Notes): number | undefined {
  const enough = Math.max(asked, leastBudget);
  const fitting = enough < maxTokens ? enough : Math.floor(maxTokens / 2);
  if (fitting < leastBudget) {
    notes.drop('reasoning: the answer has no room for it');
    return undefined;
  }
  if (fitting !== asked) notes.approximate(`the budget of thinking as ${fitting}`);
  return fitting;
}

function effortOf(budget: number): Effort {
  if (budget <= 0) return 'none';
  if (budget <= 1_024) return 'minimal';
  if (budget <= 4_096) return 'low';
  if (budget <= 12_288) return 'medium';
  return budget <= 24_576 ? 'high' : 'xhigh';
}

/** Undefined for `default`, Groq's word for leaving it out. @throws GatewayError `invalid_request` */
export function readEffort<T extends object>(holder: Placed<T>, member: keyof T & string): Effort | undefined {
  const name = holder.maybeText(member);
  if (name === 'default') return undefined;
  const effort = efforts.find((one) => one === name);
  if (name !== undefined && effort === undefined) throw invalid(holder.at(member), `one of ${efforts.join(', ')}`);
  return effort;
}

/** The effort that a request asks for, by name or by its budget. */
export function requestedEffort(reasoning: ReasoningRequest | undefined): Effort | undefined {
  return reasoning?.effort ?? (reasoning?.budget === undefined ? undefined : effortOf(reasoning.budget));
}

/** The nearest effort that a model supports: a lower one if there is any, except `none`. */
export function clampEffort(effort: Effort, known: readonly Effort[]): Effort {
  if (known.includes(effort)) return effort;
  const rank = efforts.indexOf(effort);
  const lower = known.filter((one) => efforts.indexOf(one) < rank && one !== 'none');
  const higher = known.filter((one) => efforts.indexOf(one) > rank);
  return lower.toSorted(byRank).at(-1) ?? higher.toSorted(byRank)[0] ?? effort;
}

function byRank(a: Effort, b: Effort): number {
  return efforts.indexOf(a) - efforts.indexOf(b);
}

/** True when the vendor insists on having the reasoning of an assistant's message back. */
export function wantsReasoning({ capabilities, quirks }: Profile, hasCalls: boolean): boolean {
  const { replay_reasoning: when } = quirks;
  return capabilities.reasoning && (when === 'always' || (when === 'tool_turns' && hasCalls));
}

/** True when the route can be asked for reasoning. */
export function canReason({ capabilities, quirks }: Profile): boolean {
  return capabilities.reasoning && quirks.reasoning !== 'none';
}

/** Notes an effort that a route cannot be asked for. A model that does not reason needs no word to leave it. */
export function noteUnservedEffort(
  wanted: Effort | undefined,
  { profile, notes }: { readonly profile: Profile; readonly notes: Notes },
): void {
  if (wanted !== 'none') notes.drop('reasoning');
  else if (profile.capabilities.reasoning) notes.drop('reasoning effort none');
}

/** True for an effort that is not known there, or where efforts are not known at all. */
export function isForeignEffort(effort: JsonValue | undefined, { quirks }: Profile): boolean {
  if (typeof effort !== 'string') return false;
  if (effort === 'default') return !quirks.default_effort;
  const isUnknown = !(quirks.efforts as readonly string[]).includes(effort);
  if (quirks.reasoning === 'enable_thinking' || quirks.reasoning === 'thinking_off') return true;
  return isUnknown || (quirks.reasoning === 'thinking' && quirks.efforts.length === efforts.length);
}
