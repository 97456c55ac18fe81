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

/** Marks the breakpoints that the client has set, the last ones if there are more than the endpoint takes. */
export function markBreakpoints(
  messages: MessagesMessage[],
  conversation: Conversation,
  { profile }: EncodeTarget,
): MessagesMessage[] {
  if (!takesBreakpoints(profile)) return messages;
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as MessagesBlock[]) : []));
  const isToolMarked = lastBreakpoint(conversation.tools) !== undefined;
  const isSystemMarked = conversation.areInstructionsCached === true;
  const taken = [profile.quirks.automatic_caching, isSystemMarked, isToolMarked].filter(Boolean).length;
  const marked = new Set(blocks.filter((block) => breakpoints.has(block)).slice(taken - maxBreakpoints));
  if (marked.size === 0) return messages;
  const mark = (block: MessagesBlock) =>
    marked.has(block) ? { ...block, cache_control: cacheMark(conversation) } : block;
  return messages.map((message) =>
    Array.isArray(message.content) ? { ...message, content: (message.content as MessagesBlock[]).map(mark) } : message,
  );
}
