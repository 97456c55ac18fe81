import type { Conversation, Item, OpaqueState, Reasoning } from '../canonical/conversation.ts';
import type { KeptReasoning } from './kept-reasoning.ts';
import type { Thought } from './thoughts.ts';

/** The route that a conversation is restored for. */
export interface RestoreTarget {
  /** True when the route takes the text of reasoning, whatever made it. */
  readonly takesText: boolean;
  /** Tag of the upstream, see opaque-state.ts. */
  readonly origin: string;
  /** The data of a state that this upstream has made and takes back. */
  ownState(state: OpaqueState | undefined): string | undefined;
}

/**
 * Puts kept reasoning before the calls that it led to, where its upstream gets the conversation again and the client
 * has not returned anything that this upstream can use.
 */
export function restoreReasoning(conversation: Conversation, kept: KeptReasoning, target: RestoreTarget): Conversation {
  const items: Item[] = [];
  let answer: Item[] = [];
  for (const item of conversation.items) {
    if (isOfAnswer(item)) answer.push(item);
    else {
      items.push(...restoreAnswer(answer, kept, target), item);
      answer = [];
    }
  }
  return { ...conversation, items: [...items, ...restoreAnswer(answer, kept, target)] };
}

function isOfAnswer(item: Item): boolean {
  return (
    item.type === 'reasoning' || item.type === 'tool_call' || (item.type === 'message' && item.role === 'assistant')
  );
}

function restoreAnswer(answer: readonly Item[], kept: KeptReasoning, target: RestoreTarget): readonly Item[] {
  const isUsable = (reasoning: Reasoning) => canUse(reasoning, target);
  const restored = new Map<string, readonly Thought[]>();
  for (const item of answer) {
    if (item.type === 'reasoning' && isUsable(item)) return answer;
    if (item.type !== 'tool_call') continue;
    const own = kept.before(item.id).filter((thought) => thought.state.origin === target.origin && isUsable(thought));
    if (own.length > 0) restored.set(item.id, own);
  }
  return restored.size === 0 ? answer : withThoughts(answer, restored);
}

/** True for reasoning with a state of this upstream, and for any text where text is wanted back. */
function canUse({ state, text }: Reasoning, { ownState, takesText }: RestoreTarget): boolean {
  return Boolean(ownState(state)) || (text !== '' && takesText);
}

/** What the model thought before its text comes before the text, the remainder directly before the call. */
function withThoughts(answer: readonly Item[], restored: ReadonlyMap<string, readonly Thought[]>): Item[] {
  const items: Item[] = [];
  let begin = 0;
  for (const item of answer) {
    if (item.type === 'reasoning') continue;
    if (item.type === 'tool_call') {
      const thoughts = restored.get(item.id) ?? [];
      items.splice(begin, 0, ...thoughts.filter(({ isLate }) => !isLate));
      items.push(...thoughts.filter(({ isLate }) => isLate));
    }
    items.push(item);
    if (item.type === 'tool_call') begin = items.length;
  }
  return items;
}
