import type { Profile } from '#core/config/catalog/profile.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Effort, ReasoningRequest } from '../../../canonical/conversation.ts';
import type { AssistantTurn, DialogueTurn } from '../../../canonical/dialogue.ts';
import {
  budgetOf,
  canReason,
  clampEffort,
  fitBudget,
  noteUnservedEffort,
  requestedEffort,
} from '../../../canonical/reasoning.ts';
import type { MessagesThinking } from '../../../wire/messages.ts';

interface WrittenThinking {
  readonly thinking: MessagesThinking | undefined;
  /** Members of `output_config`. */
  readonly effort: Effort | undefined;
}

const off: WrittenThinking = { thinking: undefined, effort: undefined };
const ownEfforts: ReadonlySet<Effort> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);

/**
 * Requests reasoning, or turns it off if it is on by default. Reasoning is not requested for a prefilled answer, which leaves no
 * room for it. Source: Anthropic docs, "Extended thinking", "Adaptive thinking", "Effort".
 *
 * @param maxTokens token limit of the whole answer, including thinking
 */
export function writeThinking(
  reasoning: ReasoningRequest | undefined,
  turns: readonly DialogueTurn[],
  maxTokens: number,
  target: EncodeTarget,
): WrittenThinking {
  const asked = requestedEffort(reasoning);
  if (reasoning === undefined) return off;
  const { quirks } = target.profile;
  if (!canReason(target.profile)) {
    noteUnservedEffort(asked, target);
    return off;
  }
  const isNone = asked === 'none' && quirks.efforts.includes('none');
  if (isNone) return isOffByDefault(target.profile) ? off : { thinking: { type: 'disabled' }, effort: undefined };
  const wanted = asked === 'none' ? writeEffort(asked, target) : asked;
  const dialogue = turns.filter(({ role }) => role !== 'system');
  const hasBegun = dialogue.at(-1)?.role === 'assistant';
  if (hasBegun) target.notes.drop('reasoning: the answer has begun');
  if (quirks.reasoning === 'budget') {
    const isAllowed = !hasBegun && mayThinkOn(dialogue, target);
    return { thinking: isAllowed ? writeBudget(reasoning, wanted, maxTokens, target) : undefined, effort: undefined };
  }
  const display = reasoning.wantsText ? { display: 'summarized' } : {};
  const thinking = hasBegun ? undefined : { type: 'adaptive', ...display };
  return { thinking, effort: wanted && writeEffort(wanted, target) };
}

/** True for Claude up to 4.5 (Anthropic's thinking docs). Other models with a budget think unless disabled (DeepSeek's docs). */
function isOffByDefault({ quirks }: Profile): boolean {
  return quirks.reasoning === 'budget' && quirks.signed_thinking;
}

function writeBudget(
  { budget, effort }: ReasoningRequest,
  wanted: Effort | undefined,
  maxTokens: number,
  { profile, notes }: EncodeTarget,
): MessagesThinking | undefined {
  const asked =
    (effort === undefined ? budget : undefined) ?? budgetOf(clampEffort(wanted ?? 'medium', profile.quirks.efforts));
  const fitting = fitBudget(asked, maxTokens, notes);
  return fitting === undefined ? undefined : { type: 'enabled', budget_tokens: fitting };
}

function writeEffort(wanted: Effort, { profile, notes }: EncodeTarget): Effort | undefined {
  const known = profile.quirks.efforts.filter((effort) => ownEfforts.has(effort));
  if (known.length === 0) {
    notes.drop('reasoning effort');
    return undefined;
  }
  const effort = clampEffort(wanted, known);
  if (effort !== wanted) notes.approximate(`reasoning effort as ${effort}`);
  return effort;
}

/**
 * Thinking with a budget cannot begin inside a tool loop: the answer with the calls must have begun with thinking of
 * this upstream. Adaptive thinking has no such rule. Source: Anthropic docs, "Adaptive thinking", "Validation changes".
 */
function mayThinkOn(dialogue: readonly DialogueTurn[], target: EncodeTarget): boolean {
  const begun = beginOfLoop(dialogue);
  if (!target.profile.quirks.signed_thinking || begun === undefined || beginsWithState(begun, target)) return true;
  target.notes.drop('reasoning until the end of this tool loop');
  return false;
}

/** The assistant's first turn after the user's last message, if the dialogue ends with results of calls. */
function beginOfLoop(dialogue: readonly DialogueTurn[]): AssistantTurn | undefined {
  let begun: AssistantTurn | undefined;
  for (const turn of dialogue.toReversed()) {
    if (turn.role === 'assistant') begun = turn;
    else if (turn.role === 'user' && turn.results.length === 0) return begun;
  }
  return begun;
}

function beginsWithState({ items }: AssistantTurn, target: EncodeTarget): boolean {
  const isKept = items.map((item) => item.type !== 'reasoning' || Boolean(target.ownState(item.state)));
  return items.find((_, index) => isKept[index])?.type === 'reasoning';
}
