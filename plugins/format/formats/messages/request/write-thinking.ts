import type { Profile } from '#core/config/catalog/profile.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Effort, ReasoningRequest } from '../../../canonical/conversation.ts';
import type { AssistantTurn, DialogueTurn } from '../../../canonical/dialogue.ts';
import {
  budgetForEffort,
  canReason,
  clampEffort,
  fitBudget,
  noteUnsupportedEffort,
  readRequestedEffort,
} from '../../../canonical/reasoning.ts';
import type { MessagesThinking } from '../../../wire/messages.ts';

interface WrittenThinking {
  readonly thinking: MessagesThinking | undefined;
  readonly effort: Effort | undefined;
}

const noThinking: WrittenThinking = { thinking: undefined, effort: undefined };
const messagesEfforts: ReadonlySet<Effort> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);

/**
 * Requests reasoning, or turns it off if it is on by default. Does neither for a prefilled answer, which has already begun without it.
 * Source: Anthropic docs, "Extended thinking", "Adaptive thinking", "Effort".
 *
 * @param maxTokens token limit of the whole answer, including thinking
 */
export function writeThinking(
  reasoning: ReasoningRequest | undefined,
  turns: readonly DialogueTurn[],
  maxTokens: number,
  target: EncodeTarget,
): WrittenThinking {
  const clientEffort = readRequestedEffort(reasoning);
  if (reasoning === undefined) return noThinking;
  const { quirks } = target.profile;
  if (!canReason(target.profile)) {
    noteUnsupportedEffort(clientEffort, target);
    return noThinking;
  }
  if (clientEffort === 'none' && quirks.efforts.includes('none')) return writeDisabledThinking(target);
  const targetEffort = clientEffort === 'none' ? writeEffort(clientEffort, target) : clientEffort;
  const dialogue = turns.filter(({ role }) => role !== 'system');
  const isPrefilled = dialogue.at(-1)?.role === 'assistant';
  if (isPrefilled) target.notes.drop('reasoning: the answer has begun');
  if (quirks.reasoning === 'budget') {
    const isInForeignLoop = !isPrefilled && continuesForeignLoop(dialogue, target);
    if (isInForeignLoop) target.notes.drop('reasoning until the end of this tool loop');
    const canThink = !isPrefilled && !isInForeignLoop;
    return {
      thinking: canThink ? writeBudget(reasoning, targetEffort, maxTokens, target) : undefined,
      effort: undefined,
    };
  }
  const display = reasoning.wantsText ? { display: 'summarized' } : {};
  const thinking = isPrefilled ? undefined : { type: 'adaptive', ...display };
  return { thinking, effort: targetEffort && writeEffort(targetEffort, target) };
}

function writeDisabledThinking({ profile, notes }: EncodeTarget): WrittenThinking {
  if (isOffByDefault(profile)) return noThinking;
  const isBetweenTools = profile.quirks.no_thinking === 'between_tools';
  if (isBetweenTools) notes.approximate('reasoning effort none as between_tools');
  return { thinking: { type: isBetweenTools ? 'between_tools' : 'disabled' }, effort: undefined };
}

/** Claude up to 4.5 (Anthropic's thinking docs). Other models with a budget think unless told not to (DeepSeek's docs). */
function isOffByDefault({ quirks }: Profile): boolean {
  return quirks.reasoning === 'budget' && quirks.signed_thinking;
}

function writeBudget(
  { budget, effort }: ReasoningRequest,
  targetEffort: Effort | undefined,
  maxTokens: number,
  { profile, notes }: EncodeTarget,
): MessagesThinking | undefined {
  const requestedBudget =
    (effort === undefined ? budget : undefined) ??
    budgetForEffort(clampEffort(targetEffort ?? 'medium', profile.quirks.efforts));
  const budgetTokens = fitBudget(requestedBudget, maxTokens, notes);
  return budgetTokens === undefined ? undefined : { type: 'enabled', budget_tokens: budgetTokens };
}

function writeEffort(targetEffort: Effort, { profile, notes }: EncodeTarget): Effort | undefined {
  const supportedEfforts = profile.quirks.efforts.filter((effort) => messagesEfforts.has(effort));
  if (supportedEfforts.length === 0) {
    notes.drop('reasoning effort');
    return undefined;
  }
  const effort = clampEffort(targetEffort, supportedEfforts);
  if (effort !== targetEffort) notes.approximate(`reasoning effort as ${effort}`);
  return effort;
}

/**
 * Thinking with a budget cannot begin within a tool loop that began without it; adaptive thinking can. Source: Anthropic docs, "Adaptive
 * thinking", "Validation changes".
 */
function continuesForeignLoop(dialogue: readonly DialogueTurn[], target: EncodeTarget): boolean {
  const loopStart = findLoopStart(dialogue);
  if (!target.profile.quirks.signed_thinking || loopStart === undefined) return false;
  return !startsWithOwnState(loopStart, target);
}

function findLoopStart(dialogue: readonly DialogueTurn[]): AssistantTurn | undefined {
  let loopStart: AssistantTurn | undefined;
  for (const turn of dialogue.toReversed()) {
    if (turn.role === 'assistant') loopStart = turn;
    else if (turn.role === 'user' && turn.results.length === 0) return loopStart;
  }
  return loopStart;
}

function startsWithOwnState({ items }: AssistantTurn, target: EncodeTarget): boolean {
  const firstWrittenItem = items.find(
    (item) => item.type !== 'reasoning' || Boolean(target.findAcceptedState(item.state)),
  );
  return firstWrittenItem?.type === 'reasoning';
}
