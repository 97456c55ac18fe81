import type { Conversation, Item, OpaqueState, Reasoning, ToolCall } from '../../canonical/conversation.ts';
import type { StoredReasoning, Thought } from '../../canonical/stored-reasoning.ts';

interface RestoreTarget {
  readonly acceptsText: boolean; // of any origin
  readonly origin: string;
  findAcceptedState(state: OpaqueState | undefined): string | undefined;
}

/**
 * Inserts stored reasoning before the calls that it led to, if the conversation goes to the upstream that created it and the
 * client sent back nothing that this upstream can use.
 */
export function restoreReasoning(
  conversation: Conversation,
  storedReasoning: StoredReasoning,
  target: RestoreTarget,
): Conversation {
  const calls = conversation.items.filter((item) => item.type === 'tool_call');
  const thoughts = storedReasoning.findBefore(calls);
  const thoughtsByCall = new Map(calls.map((call, index) => [call, thoughts[index] ?? []]));
  const items: Item[] = [];
  let answer: Item[] = [];
  for (const item of conversation.items) {
    if (isAnswerItem(item)) answer.push(item);
    else {
      items.push(...restoreAnswer(answer, thoughtsByCall, target), item);
      answer = [];
    }
  }
  return { ...conversation, items: [...items, ...restoreAnswer(answer, thoughtsByCall, target)] };
}

function isAnswerItem(item: Item): boolean {
  return (
    item.type === 'reasoning' || item.type === 'tool_call' || (item.type === 'message' && item.role === 'assistant')
  );
}

type ThoughtsByCall = ReadonlyMap<ToolCall, readonly Thought[]>;

function restoreAnswer(
  answer: readonly Item[],
  thoughtsByCall: ThoughtsByCall,
  target: RestoreTarget,
): readonly Item[] {
  const usableThoughts = new Map<ToolCall, readonly Thought[]>();
  for (const item of answer) {
    if (item.type === 'reasoning' && canUse(item, target)) return answer;
    if (item.type !== 'tool_call') continue;
    const thoughts = (thoughtsByCall.get(item) ?? []).filter(
      (thought) => thought.state.origin === target.origin && canUse(thought, target),
    );
    if (thoughts.length > 0) usableThoughts.set(item, thoughts);
  }
  return usableThoughts.size === 0 ? answer : replaceReasoning(answer, usableThoughts);
}

function canUse({ state, text }: Reasoning, target: RestoreTarget): boolean {
  return Boolean(target.findAcceptedState(state)) || (text !== '' && target.acceptsText);
}

/**
 * Replaces an answer's reasoning, none of which the upstream can use, with stored thoughts. Thoughts that preceded the answer's text go
 * before that text, all others directly before their call.
 */
function replaceReasoning(answer: readonly Item[], thoughtsByCall: ThoughtsByCall): Item[] {
  const items: Item[] = [];
  let textStart = 0;
  for (const item of answer) {
    if (item.type === 'reasoning') continue;
    if (item.type === 'tool_call') {
      const thoughts = thoughtsByCall.get(item) ?? [];
      items.splice(textStart, 0, ...thoughts.filter(({ followsText }) => !followsText));
      items.push(...thoughts.filter(({ followsText }) => followsText));
    }
    items.push(item);
    if (item.type === 'tool_call') textStart = items.length;
  }
  return items;
}
