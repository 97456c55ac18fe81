import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Conversation, Item, OpaqueState, Reasoning, ToolCall } from '../../canonical/conversation.ts';
import { requiresReasoning } from '../../canonical/reasoning.ts';
import type { StoredReasoning, Thought } from '../../canonical/stored-reasoning.ts';
import { isTextFormat, type TextFormat } from '../../formats/contract/descriptor.ts';
import type { ClientRequest } from '../../request/client-request.ts';
import { selectUpstreamFormat } from '../../request/upstream-format.ts';

interface RestoreTarget {
  /** True if the route accepts reasoning text of any origin. */
  readonly acceptsText: boolean;
  /** Origin tag of the upstream, see opaque-state.ts. */
  readonly origin: string;
  /** Returns the data of an opaque state that this upstream created and accepts; undefined for any other state. */
  findOwnState(state: OpaqueState | undefined): string | undefined;
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
  const isUsable = (reasoning: Reasoning) => canUse(reasoning, target);
  const usableThoughts = new Map<ToolCall, readonly Thought[]>();
  for (const item of answer) {
    if (item.type === 'reasoning' && isUsable(item)) return answer;
    if (item.type !== 'tool_call') continue;
    const thoughts = (thoughtsByCall.get(item) ?? []).filter(
      (thought) => thought.state.origin === target.origin && isUsable(thought),
    );
    if (thoughts.length > 0) usableThoughts.set(item, thoughts);
  }
  return usableThoughts.size === 0 ? answer : insertThoughts(answer, usableThoughts);
}

/** Returns true if the reasoning has state of this upstream, or text that the route accepts. */
function canUse({ state, text }: Reasoning, { findOwnState: ownState, acceptsText }: RestoreTarget): boolean {
  return Boolean(ownState(state)) || (text !== '' && acceptsText);
}

/** Inserts thoughts into an answer. Thoughts that preceded the answer's text go before the text, all others directly before their call. */
function insertThoughts(answer: readonly Item[], thoughtsByCall: ThoughtsByCall): Item[] {
  const items: Item[] = [];
  let answerStart = 0;
  for (const item of answer) {
    if (item.type === 'reasoning') continue;
    if (item.type === 'tool_call') {
      const thoughts = thoughtsByCall.get(item) ?? [];
      items.splice(answerStart, 0, ...thoughts.filter(({ followsText }) => !followsText));
      items.push(...thoughts.filter(({ followsText }) => followsText));
    }
    items.push(item);
    if (item.type === 'tool_call') answerStart = items.length;
  }
  return items;
}

/** Kinds of earlier reasoning that the routes of a model accept. */
interface AcceptedReasoning {
  readonly includesState: boolean; // opaque reasoning state
  readonly includesText: boolean;
}

/** Returns true if a route accepts the text of earlier reasoning in this format. */
export function acceptsReasoningText({ name, text }: TextFormat, { profile }: Route): boolean {
  return text.features.reasoning === 'text' || requiresReasoning(profileIn(name, profile), true);
}

/** Finds the kinds of earlier reasoning that a model's routes accept but the client does not receive. */
export function findAcceptedReasoning({ routes }: Model, request: ClientRequest): AcceptedReasoning {
  const candidates = routes.flatMap((route) => {
    const format = findFormat(route, request);
    // If client and route share a format, the client receives the reasoning and sends it back.
    const isReturnedByClient = format === request.format && request.format.client.text?.hidesReasoning !== undefined;
    return format === undefined || isReturnedByClient ? [] : [{ route, format }];
  });
  return {
    includesState: candidates.some(({ format }) => format.text.stateKinds.length > 0),
    includesText: candidates.some(({ format, route }) => acceptsReasoningText(format, route)),
  };
}

/** Finds the text format of a request on a route; undefined if the route cannot serve the request. */
function findFormat(route: Route, request: ClientRequest): TextFormat | undefined {
  try {
    const format = selectUpstreamFormat(route, request);
    return isTextFormat(format) ? format : undefined;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
