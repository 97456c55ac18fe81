import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { asList, member, scalarText } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest, MessagesTool } from '../../../wire/messages.ts';

/** Blocks that change the tools in the middle of a conversation. */
const changes: ReadonlySet<JsonValue | undefined> = new Set(['tool_addition', 'tool_removal']);

/**
 * The tools in force at the end of the history, for endpoints without tool changes inside it: added tools are included and
 * removed tools are omitted. Returns the same value if the history has no changes. Source: Anthropic, beta
 * `mid-conversation-tool-changes-2026-07-01`; tools by value: `inline-tools-2026-09-15`.
 *
 * @param notes gets an entry for each kind of change
 */
export function toolsInForce({ tools: declared, messages }: MessagesRequest, notes: Notes): JsonValue | undefined {
  const history = asList(messages);
  if (!history.some(hasChanges)) return declared;
  const tools = new ToolsInForce(asList(declared));
  for (const message of history) for (const block of blocksOf(message)) tools.apply(block, notes);
  return tools.list;
}

/** Declares the tools in force and removes the change blocks, and also messages that have no other blocks. */
export function settleToolChanges(body: MessagesRequest, notes: Notes): MessagesRequest {
  const { messages, tools: declared, ...others } = body;
  const tools = toolsInForce(body, notes);
  if (tools === declared || !Array.isArray(messages)) return body;
  const left = messages.flatMap((message) => withoutBlocks(message, ({ type }) => isToolChange(type)));
  return { ...others, ...(asList(tools).length > 0 && { tools }), messages: left };
}

/** True for blocks that change the tools. */
export function isToolChange(type: JsonValue | undefined): boolean {
  return changes.has(type);
}

class ToolsInForce {
  readonly #declared: readonly JsonValue[];
  /** Tools declared by value in the history, by name. */
  readonly #added = new Map<string, JsonValue>();
  readonly #removed = new Set<string>();

  constructor(declared: readonly JsonValue[]) {
    this.#declared = declared;
  }

  /** @param block block of any type; a summary of earlier turns contains the changes from those turns */
  apply(block: JsonObject, notes: Notes): void {
    const { type, tool, tool_changes }: JsonObject = block;
    for (const change of asList(tool_changes)) if (isJsonObject(change)) this.apply(change, notes);
    if (!changes.has(type)) return;
    notes.drop(`content block ${scalarText(type)}`);
    const definition = member(tool, 'definition');
    const name = nameOf(definition ?? tool);
    if (name === undefined) return;
    if (type === 'tool_removal') this.#removed.add(name);
    else this.#removed.delete(name);
    if (type === 'tool_addition' && definition !== undefined) this.#added.set(name, definition);
  }

  get list(): JsonValue[] {
    const declared = this.#declared.filter((tool) => !this.#added.has(nameOf(tool) ?? ''));
    return [...declared, ...this.#added.values()].filter((tool) => !this.#removed.has(nameOf(tool) ?? ''));
  }
}

function nameOf(tool: JsonValue | undefined): string | undefined {
  const name = member<MessagesTool>(tool, 'name');
  return typeof name === 'string' ? name : undefined;
}

function hasChanges(message: JsonValue): boolean {
  return blocksOf(message).some(({ type, tool_changes }) => isToolChange(type) || asList(tool_changes).length > 0);
}

function blocksOf(message: JsonValue): readonly JsonObject[] {
  return asList(member<MessagesMessage>(message, 'content')).filter(isJsonObject);
}

/** Removes some blocks of a message: empty if no block is left, the same message if none was removed. */
export function withoutBlocks(message: JsonValue, isLeftOut: (block: MessagesBlock) => boolean): JsonValue[] {
  const content = member<MessagesMessage>(message, 'content');
  if (!isJsonObject(message) || !Array.isArray(content)) return [message];
  const kept = content.filter((block) => !isJsonObject(block) || !isLeftOut(block));
  if (kept.length === content.length) return [message];
  return kept.length === 0 ? [] : [{ ...message, content: kept }];
}
