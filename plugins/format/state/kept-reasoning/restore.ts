import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Conversation, Item, OpaqueState, Reasoning, ToolCall } from '../../canonical/conversation.ts';
import type { StoredReasoning, Thought } from '../../canonical/stored-reasoning.ts';
import { requiresReasoning } from '../../canonical/reasoning.ts';
import { isTextFormat, type TextFormat } from '../../formats/contract/descriptor.ts';
import type { ClientRequest } from '../../request/client-request.ts';
import { selectUpstreamFormat } from '../../request/upstream-format.ts';

interface RestoreTarget {
  /** True if the route accepts reasoning text of any origin. */
  readonly takesText: boolean;
  /** Origin tag of the upstream, see opaque-state.ts. */
  readonly origin: string;
  /** Data of an opaque state that this upstream created and accepts. */
  ownState(state: OpaqueState | undefined): string | undefined;
}

/**
 * Inserts stored reasoning before the calls that it led to, if the conversation goes to the upstream that created it and the
 * client sent back nothing that this upstream can use.
 */
export function restoreReasoning(
  conversation: Conversation,
  kept: StoredReasoning,
  target: RestoreTarget,
): Conversation {
  const calls = conversation.items.filter((item) => item.type === 'tool_call');
  const thoughts = kept.findBefore(calls);
  const found = new Map(calls.map((call, index) => [call, thoughts[index] ?? []]));
  const items: Item[] = [];
  let answer: Item[] = [];
  for (const item of conversation.items) {
    if (isOfAnswer(item)) answer.push(item);
    else {
      items.push(...restoreAnswer(answer, found, target), item);
      answer = [];
    }
  }
  return { ...conversation, items: [...items, ...restoreAnswer(answer, found, target)] };
}

function isOfAnswer(item: Item): boolean {
  return (
    item.type === 'reasoning' || item.type === 'tool_call' || (item.type === 'message' && item.role === 'assistant')
  );
}

type Restored = ReadonlyMap<ToolCall, readonly Thought[]>;

function restoreAnswer(answer: readonly Item[], found: Restored, target: RestoreTarget): readonly Item[] {
  const isUsable = (reasoning: Reasoning) => canUse(reasoning, target);
  const restored = new Map<ToolCall, readonly Thought[]>();
  for (const item of answer) {
    if (item.type === 'reasoning' && isUsable(item)) return answer;
    if (item.type !== 'tool_call') continue;
    const usable = (found.get(item) ?? []).filter(
      (thought) => thought.state.origin === target.origin && isUsable(thought),
    );
    if (usable.length > 0) restored.set(item, usable);
  }
  return restored.size === 0 ? answer : withThoughts(answer, restored);
}

/** Whether the reasoning has a state of this upstream, or text that the route accepts. */
function canUse({ state, text }: Reasoning, { ownState, takesText }: RestoreTarget): boolean {
  return Boolean(ownState(state)) || (text !== '' && takesText);
}

/** Reasoning that preceded the answer text goes before that text, the rest directly before the call. */
function withThoughts(answer: readonly Item[], restored: Restored): Item[] {
  const items: Item[] = [];
  let begin = 0;
  for (const item of answer) {
    if (item.type === 'reasoning') continue;
    if (item.type === 'tool_call') {
      const thoughts = restored.get(item) ?? [];
      items.splice(begin, 0, ...thoughts.filter(({ followsText }) => !followsText));
      items.push(...thoughts.filter(({ followsText }) => followsText));
    }
    items.push(item);
    if (item.type === 'tool_call') begin = items.length;
  }
  return items;
}

/** The kinds of earlier reasoning that routes of a model accept. */
interface ReplayingRoutes {
  /** Opaque reasoning state. */
  readonly withState: boolean;
  readonly withText: boolean;
}

/** Whether a route accepts the text of earlier reasoning in this format. */
export function takesReasoningText({ name, text }: TextFormat, { profile }: Route): boolean {
  return text.features.reasoning === 'text' || requiresReasoning(profileIn(name, profile), true);
}

export function routesWith({ routes }: Model, request: ClientRequest): ReplayingRoutes {
  const candidates = routes.flatMap((route) => {
    const format = findFormat(route, request);
    // If client and route share a format, the client receives the reasoning and sends it back.
    const isShown = format === request.format && request.format.client.text?.hidesReasoning !== undefined;
    return format === undefined || isShown ? [] : [{ route, format }];
  });
  return {
    withState: candidates.some(({ format }) => format.text.stateKinds.length > 0),
    withText: candidates.some(({ format, route }) => takesReasoningText(format, route)),
  };
}

/** Undefined if the route cannot serve the request. */
function findFormat(route: Route, request: ClientRequest): TextFormat | undefined {
  try {
    const format = selectUpstreamFormat(route, request);
    return isTextFormat(format) ? format : undefined;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
