import type { Profile } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { ClientTool, Conversation, Part, Tool } from '../../../canonical/conversation.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import type { MessagesBlock, MessagesMessage } from '../../../wire/messages.ts';
import { blocksOf } from '../blocks.ts';

/** Includes the automatic breakpoint. Source: Anthropic docs, "Prompt caching". */
const maxBreakpoints = 4;

export function supportsBreakpoints({ quirks }: Profile): boolean {
  return quirks.automatic_caching || quirks.claude;
}

/** All of a request's breakpoints have the same lifetime, because none may outlive an earlier one. */
export function writeCacheControl({ cacheLifetime: ttl }: Conversation): JsonObject {
  return { type: 'ephemeral', ...(ttl !== undefined && { ttl }) };
}

/** The last breakpoint also caches the tools before it. */
export function findLastBreakpoint(tools: readonly Tool[]): ClientTool | undefined {
  return tools.filter(isClientTool).findLast(({ isBreakpoint }) => isBreakpoint === true);
}

const breakpointBlocks = new WeakSet<MessagesBlock>();

export function recordBreakpoint(block: MessagesBlock, part: Part): MessagesBlock {
  if (part.type === 'text' && part.isBreakpoint === true) breakpointBlocks.add(block);
  return block;
}

interface CachedPrompt {
  /** The breakpoint also caches the tools, which precede the instructions. */
  readonly areInstructionsMarked: boolean;
  readonly messages: MessagesMessage[];
}

/**
 * Marks the client's breakpoints, or only the last of them if the endpoint allows fewer. If the client has set none, or the vendor itself
 * sets one at the end, the prompt is also cached after its instructions, which all conversations of a client share, and at the end, so that
 * the next turn hits the cache.
 *
 * @param hasInstructions true if the request has instructions
 */
export function markBreakpoints(
  messages: MessagesMessage[],
  conversation: Conversation,
  { profile }: EncodeTarget,
  hasInstructions: boolean,
): CachedPrompt {
  if (!supportsBreakpoints(profile)) return { areInstructionsMarked: false, messages };
  const isAutomatic = profile.quirks.automatic_caching;
  const blocks = messages.flatMap(blocksOf);
  const isToolMarked = findLastBreakpoint(conversation.tools) !== undefined;
  const clientBlocks = blocks.filter((block) => breakpointBlocks.has(block));
  const hasClientBreakpoints = isToolMarked || clientBlocks.length > 0 || conversation.areInstructionsCached === true;
  const areInstructionsMarked =
    hasInstructions && (isAutomatic || !hasClientBreakpoints || conversation.areInstructionsCached === true);
  const previousEnd = isAutomatic || !hasClientBreakpoints ? findPreviousEnd(messages) : undefined;
  const end = isAutomatic || hasClientBreakpoints ? undefined : blocks.findLast(canBeMarked);
  const gatewayBlocks = [previousEnd, end]
    .filter((block) => block !== undefined)
    .filter((block) => !clientBlocks.includes(block));
  const blocksToMark = [...clientBlocks, ...gatewayBlocks];
  const usedBreakpoints = [isAutomatic, areInstructionsMarked, isToolMarked].filter(Boolean).length;
  // The start is negative, so the last blocks are kept.
  const markedBlocks = new Set(blocksToMark.slice(usedBreakpoints - maxBreakpoints));
  return { areInstructionsMarked, messages: markBlocks(messages, markedBlocks, conversation) };
}

function markBlocks(
  messages: MessagesMessage[],
  markedBlocks: ReadonlySet<MessagesBlock>,
  conversation: Conversation,
): MessagesMessage[] {
  if (markedBlocks.size === 0) return messages;
  const mark = (block: MessagesBlock) =>
    markedBlocks.has(block) ? { ...block, cache_control: writeCacheControl(conversation) } : block;
  return messages.map((message) =>
    Array.isArray(message.content) ? { ...message, content: blocksOf(message).map(mark) } : message,
  );
}

/** The endpoint searches this many blocks before a breakpoint for an earlier one. Source: Anthropic docs, "Prompt caching". */
const lookbackBlocks = 20;

/** Returns undefined if the endpoint's search from the end of this request reaches the previous end anyway. */
function findPreviousEnd(messages: readonly MessagesMessage[]): MessagesBlock | undefined {
  const answerIndex = Math.max(
    0,
    messages.findLastIndex(({ role }) => role === 'assistant'),
  );
  const newBlocks = messages.slice(answerIndex).flatMap(blocksOf);
  return newBlocks.length < lookbackBlocks
    ? undefined
    : messages.slice(0, answerIndex).flatMap(blocksOf).findLast(canBeMarked);
}

function canBeMarked({ type }: MessagesBlock): boolean {
  return type !== 'thinking' && type !== 'redacted_thinking';
}
