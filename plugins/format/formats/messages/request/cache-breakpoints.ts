import type { Profile } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { ClientTool, Conversation, Part, Tool } from '../../../canonical/conversation.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import type { MessagesBlock, MessagesMessage } from '../../../wire/messages.ts';

/** The most breakpoints of a request, the automatic one included. Source: Anthropic docs, "Prompt caching". */
const maxBreakpoints = 4;

/** True where breakpoints inside the prompt are accepted. */
export function takesBreakpoints({ quirks }: Profile): boolean {
  return quirks.automatic_caching || quirks.claude;
}

/** The mark of a breakpoint. All of a request live equally long: one may not outlive those before it. */
export function cacheMark({ cacheLife: ttl }: Conversation): JsonObject {
  return { type: 'ephemeral', ...(ttl !== undefined && { ttl }) };
}

/** The last tool with a breakpoint, which caches those before it too; undefined without one. */
export function lastBreakpoint(tools: readonly Tool[]): ClientTool | undefined {
  return tools.filter(isClientTool).findLast(({ isBreakpoint }) => isBreakpoint === true);
}

/** Blocks whose part is a breakpoint. */
const breakpoints = new WeakSet<MessagesBlock>();

/** Remembers the breakpoint of a part by its block. */
export function placeBreakpoint(block: MessagesBlock, part: Part): MessagesBlock {
  if (part.type === 'text' && part.isBreakpoint === true) breakpoints.add(block);
  return block;
}

/** Where the prompt of a request is cached. */
interface CachedPrompt {
  /** The instructions, and the tools before them. */
  readonly areInstructionsMarked: boolean;
  readonly messages: MessagesMessage[];
}

/**
 * Marks the breakpoints that the client has set, the last ones if there are more than the endpoint takes. Where the vendor sets one at the
 * end by itself, or the client has set none, the prompt is cached after its instructions, with which all conversations of a tool begin,
 * and at the end, so that the next turn finds it.
 *
 * @param hasInstructions the request has some
 */
export function markBreakpoints(
  messages: MessagesMessage[],
  conversation: Conversation,
  { profile }: EncodeTarget,
  hasInstructions: boolean,
): CachedPrompt {
  if (!takesBreakpoints(profile)) return { areInstructionsMarked: false, messages };
  const isAutomatic = profile.quirks.automatic_caching;
  const blocks = messages.flatMap(blocksOf);
  const isToolMarked = lastBreakpoint(conversation.tools) !== undefined;
  const own = blocks.filter((block) => breakpoints.has(block));
  const hasOwn = isToolMarked || own.length > 0 || conversation.areInstructionsCached === true;
  const areInstructionsMarked =
    hasInstructions && (isAutomatic || !hasOwn || conversation.areInstructionsCached === true);
  const added = isAutomatic ? [endBefore(messages)] : hasOwn ? [] : [endBefore(messages), blocks.findLast(canBeMarked)];
  const wanted = [...own, ...added.filter((block) => block !== undefined && !own.includes(block))];
  const taken = [isAutomatic, areInstructionsMarked, isToolMarked].filter(Boolean).length;
  const marked = new Set(wanted.slice(taken - maxBreakpoints));
  if (marked.size === 0) return { areInstructionsMarked, messages };
  const mark = (block: MessagesBlock) =>
    marked.has(block) ? { ...block, cache_control: cacheMark(conversation) } : block;
  return {
    areInstructionsMarked,
    messages: messages.map((message) =>
      Array.isArray(message.content) ? { ...message, content: blocksOf(message).map(mark) } : message,
    ),
  };
}

/** Blocks before a breakpoint in which the endpoint looks for an earlier one. Source: Anthropic docs, "Prompt caching". */
const lookback = 20;

/** The block with which the request before ended; undefined if a breakpoint at the end of this one finds it by itself. */
function endBefore(messages: readonly MessagesMessage[]): MessagesBlock | undefined {
  const answered = Math.max(
    0,
    messages.findLastIndex(({ role }) => role === 'assistant'),
  );
  const added = messages.slice(answered).flatMap(blocksOf);
  return added.length < lookback ? undefined : messages.slice(0, answered).flatMap(blocksOf).findLast(canBeMarked);
}

function canBeMarked({ type }: MessagesBlock): boolean {
  return type !== 'thinking' && type !== 'redacted_thinking';
}

function blocksOf({ content }: MessagesMessage): MessagesBlock[] {
  return Array.isArray(content) ? (content as MessagesBlock[]) : [];
}
