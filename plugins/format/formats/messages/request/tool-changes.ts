import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { asList, readMember, scalarToText } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest, MessagesTool } from '../../../wire/messages.ts';

/** Types of the blocks that change the tools in the middle of a conversation. */
const toolChangeTypes: ReadonlySet<JsonValue | undefined> = new Set(['tool_addition', 'tool_removal']);

/**
 * Returns the tools that are effective at the end of the history, including added and excluding removed tools. Returns the
 * declared tools if the history has no changes. Source: Anthropic, beta `mid-conversation-tool-changes-2026-07-01`; tools
 * by value: `inline-tools-2026-09-15`.
 *
 * @param notes gets an entry for each kind of change
 */
export function readEffectiveTools(
  { tools: declaredTools, messages }: MessagesRequest,
  notes: Notes,
): JsonValue | undefined {
  const history = asList(messages);
  if (!history.some(hasChanges)) return declaredTools;
  const tools = new EffectiveTools(asList(declaredTools));
  for (const message of history) for (const block of blocksOf(message)) tools.apply(block, notes);
  return tools.list();
}

/** Declares the effective tools and removes the change blocks. Messages without other blocks are removed. */
export function applyToolChanges(body: MessagesRequest, notes: Notes): MessagesRequest {
  const { messages, tools: declaredTools, ...otherMembers } = body;
  const tools = readEffectiveTools(body, notes);
  if (tools === declaredTools || !Array.isArray(messages)) return body;
  const remainingMessages = messages.flatMap((message) => removeBlocks(message, ({ type }) => isToolChange(type)));
  return { ...otherMembers, ...(asList(tools).length > 0 && { tools }), messages: remainingMessages };
}

/** Returns true for blocks that change the tools. */
export function isToolChange(type: JsonValue | undefined): boolean {
  return toolChangeTypes.has(type);
}

class EffectiveTools {
  readonly #declaredTools: readonly JsonValue[];
  /** Tools declared by value in the history, by name. */
  readonly #addedTools = new Map<string, JsonValue>();
  readonly #removedNames = new Set<string>();

  constructor(declared: readonly JsonValue[]) {
    this.#declaredTools = declared;
  }

  /**
   * Applies the tool changes of a block, if any.
   *
   * @param block a block of any type; a summary of earlier turns contains their changes
   */
  apply(block: JsonObject, notes: Notes): void {
    const { type, tool, tool_changes }: JsonObject = block;
    for (const change of asList(tool_changes)) if (isJsonObject(change)) this.apply(change, notes);
    if (!toolChangeTypes.has(type)) return;
    notes.drop(`content block ${scalarToText(type)}`);
    const definition = readMember(tool, 'definition');
    const name = nameOf(definition ?? tool);
    if (name === undefined) return;
    if (type === 'tool_removal') this.#removedNames.add(name);
    else this.#removedNames.delete(name);
    if (type === 'tool_addition' && definition !== undefined) this.#addedTools.set(name, definition);
  }

  list(): JsonValue[] {
    const declared = this.#declaredTools.filter((tool) => !this.#addedTools.has(nameOf(tool) ?? ''));
    return [...declared, ...this.#addedTools.values()].filter((tool) => !this.#removedNames.has(nameOf(tool) ?? ''));
  }
}

function nameOf(tool: JsonValue | undefined): string | undefined {
  const name = readMember<MessagesTool>(tool, 'name');
  return typeof name === 'string' ? name : undefined;
}

function hasChanges(message: JsonValue): boolean {
  return blocksOf(message).some(({ type, tool_changes }) => isToolChange(type) || asList(tool_changes).length > 0);
}

function blocksOf(message: JsonValue): readonly JsonObject[] {
  return asList(readMember<MessagesMessage>(message, 'content')).filter(isJsonObject);
}

/** Removes some blocks of a message. Returns the same message if none was removed, and an empty list if none is left. */
export function removeBlocks(message: JsonValue, isRemoved: (block: MessagesBlock) => boolean): JsonValue[] {
  const content = readMember<MessagesMessage>(message, 'content');
  if (!isJsonObject(message) || !Array.isArray(content)) return [message];
  const remainingBlocks = content.filter((block) => !isJsonObject(block) || !isRemoved(block));
  if (remainingBlocks.length === content.length) return [message];
  return remainingBlocks.length === 0 ? [] : [{ ...message, content: remainingBlocks }];
}
