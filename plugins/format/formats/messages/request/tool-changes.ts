import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { asList, member } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest, MessagesTool } from '../../../wire/messages.ts';

/** Blocks that change the tools in the middle of a conversation. */
const changes: ReadonlySet<JsonValue | undefined> = new Set(['tool_addition', 'tool_removal']);

/**
 * The tools that are in force at the end of the history, for endpoints that know no changes of tools inside it: added ones in,
 * removed ones out. The very same value if the history has none. Source: Anthropic, beta
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

/** Declares these tools and leaves the changes out, and with them messages that have nothing else. */
export function settleToolChanges(body: MessagesRequest, notes: Notes): MessagesRequest {
  const { messages, tools: declared, ...others } = body;
  const tools = toolsInForce(body, notes);
  if (tools === declared || !Array.isArray(messages)) return body;
  const left = messages.flatMap((message) => withoutBlocks(message, ({ type }) => isToolChange(type)));
  return { ...others, ...(asList(tools).length > 0 && { tools }), messages: left };
}

/** True for blocks that are read with the tools. */
export function isToolChange(type: JsonValue | undefined): boolean {
  return changes.has(type);
}

class ToolsInForce {
  readonly #declared: readonly JsonValue[];
  /** Tools by value, by their name. */
  readonly #added = new Map<string, JsonValue>();
  readonly #removed = new Set<string>();

  constructor(declared: readonly JsonValue[]) {
    this.#declared = declared;
  }

  /** @param block of any type; a summary of earlier turns has the changes that were made in them */
  apply(block: JsonObject, notes: Notes): void {
    const { type, tool, tool_changes }: JsonObject = block;
    for (const change of asList(tool_changes)) if (isJsonObject(change)) this.apply(change, notes);
    if (!changes.has(type)) return;
    notes.drop(`content block ${String(type)}`);
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

/** A message without some of its blocks; nothing if it has no others. Returns the same message if it has none of them. */
export function withoutBlocks(message: JsonValue, isLeftOut: (block: MessagesBlock) => boolean): JsonValue[] {
  const content = member<MessagesMessage>(message, 'content');
  if (!isJsonObject(message) || !Array.isArray(content)) return [message];
  const kept = content.filter((block) => !isJsonObject(block) || !isLeftOut(block));
  if (kept.length === content.length) return [message];
  return kept.length === 0 ? [] : [{ ...message, content: kept }];
}
