import type { Profile } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { ClientTool, Conversation, Part, Tool } from '../../../canonical/conversation.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import type { MessagesBlock, MessagesMessage } from '../../../wire/messages.ts';

/** Maximum number of breakpoints in a request, including the automatic one. Source: Anthropic docs, "Prompt caching". */
const maxBreakpoints = 4;

/** True if the route accepts breakpoints inside the prompt. */
export function takesBreakpoints({ quirks }: Profile): boolean {
  return quirks.automatic_caching || quirks.claude;
}

/** The mark of a breakpoint. All breakpoints of a request have the same lifetime: none may outlive an earlier breakpoint. */
export function cacheMark({ cacheLife: ttl }: Conversation): JsonObject {
  return { type: 'ephemeral', ...(ttl !== undefined && { ttl }) };
}

/** The last tool with a breakpoint, which also caches the earlier tools; undefined if no tool has a breakpoint. */
export function lastBreakpoint(tools: readonly Tool[]): ClientTool | undefined {
  return tools.filter(isClientTool).findLast(({ isBreakpoint }) => isBreakpoint === true);
}

/** Blocks whose part is a breakpoint. */
const breakpoints = new WeakSet<MessagesBlock>();

/** Records that the part of a block is a breakpoint. */
export function placeBreakpoint(block: MessagesBlock, part: Part): MessagesBlock {
  if (part.type === 'text' && part.isBreakpoint === true) breakpoints.add(block);
  return block;
}

/** Where the prompt of a request is cached. */
interface CachedPrompt {
  /** True if the instructions, and thus the tools before them, are cached. */
  readonly areInstructionsMarked: boolean;
  readonly messages: MessagesMessage[];
}

/**
 * Marks the client's breakpoints, or only the last of them if the endpoint allows fewer. If the vendor itself sets a breakpoint at the
 * end, or the client has set no breakpoint, the prompt is cached after its instructions, with which all conversations of a client begin,
 * and at the end, so that the next turn hits the cache.
 *
 * @param hasInstructions true if the request has instructions
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

/** Number of blocks before a breakpoint in which the endpoint looks for an earlier breakpoint. Source: Anthropic docs, "Prompt caching". */
const lookback = 20;

/** The last block of the previous request; undefined if the lookback from the end of this request already reaches it. */
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
