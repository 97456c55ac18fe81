import { listObjects, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { asList, asText, readMember, scalarToText } from '../../../wire/members.ts';
import type { MessagesRequest, MessagesTool } from '../../../wire/messages.ts';
import { blocksOf, mapBlocks } from '../blocks.ts';

const toolChangeTypes: ReadonlySet<JsonValue | undefined> = new Set(['tool_addition', 'tool_removal']);

/**
 * Returns the tools that are in effect at the end of the history, after tools were added and removed; the declared tools if the history has
 * no changes. Source: Anthropic, beta `mid-conversation-tool-changes-2026-07-01`; tools by value: `inline-tools-2026-09-15`.
 *
 * @param notes gets an entry for each kind of change
 */
export function readEffectiveTools(
  { tools: declaredTools, messages }: MessagesRequest,
  notes: Notes,
): JsonValue | undefined {
  const history = asList(messages);
  if (!history.some((message) => blocksOf(message).some(hasChanges))) return declaredTools;
  const addedTools = new Map<string, JsonValue>();
  const removedNames = new Set<string>();
  for (const { type, tool } of history.flatMap(blocksOf).flatMap(listChanges)) {
    notes.drop(`content block ${scalarToText(type)}`);
    const definition = readMember(tool, 'definition');
    const name = nameOf(definition ?? tool);
    if (name === '') continue;
    if (type === 'tool_removal') removedNames.add(name);
    else removedNames.delete(name);
    if (type === 'tool_addition' && definition !== undefined) addedTools.set(name, definition);
  }
  const keptTools = asList(declaredTools).filter((tool) => !addedTools.has(nameOf(tool)));
  return [...keptTools, ...addedTools.values()].filter((tool) => !removedNames.has(nameOf(tool)));
}

/** Messages without other blocks are removed. */
export function applyToolChanges(body: MessagesRequest, notes: Notes): MessagesRequest {
  const { messages, tools: declaredTools, ...otherMembers } = body;
  const tools = readEffectiveTools(body, notes);
  if (tools === declaredTools || !Array.isArray(messages)) return body;
  const remainingMessages = mapBlocks(messages, (block) => (isToolChange(block.type) ? undefined : block));
  return { ...otherMembers, ...(asList(tools).length > 0 && { tools }), messages: remainingMessages };
}

export function isToolChange(type: JsonValue | undefined): boolean {
  return toolChangeTypes.has(type);
}

function hasChanges({ type, tool_changes }: JsonObject): boolean {
  return asList(tool_changes).length > 0 || isToolChange(type);
}

function listChanges(block: JsonObject): JsonObject[] {
  const { type, tool_changes } = block;
  // A summary of earlier turns contains the changes made in them.
  const innerChanges = listObjects(tool_changes).flatMap(listChanges);
  return isToolChange(type) ? [...innerChanges, block] : innerChanges;
}

function nameOf(tool: JsonValue | undefined): string {
  return asText(readMember<MessagesTool>(tool, 'name'));
}
