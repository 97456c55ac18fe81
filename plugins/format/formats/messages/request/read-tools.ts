import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { ClientTool, Conversation, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import { forcedSearch, isWebSearch, readFunctionTool, readName, ToolSet } from '../../../canonical/tools.ts';
import { readWebSearch } from '../../../canonical/web-search.ts';
import { invalid, Placed } from '../../../wire/read.ts';
import type { MessagesRequest, MessagesTool, MessagesToolChoice } from '../../../wire/messages.ts';
import { scalarText } from '../../../wire/members.ts';

/** Placeholder for tools that Claude Code has not loaded yet; it cannot be called. Observed. */
const placeholderName = 'DeferredToolPlaceholder';
/** Members of a search that do not limit it. */
const searchMembers = ['type', 'name', 'cache_control'];
/** Members that tools of other formats lack. Deferred tools are sent in full; the vendor chooses how input is streamed. */
const unservedMembers = ['allowed_callers', 'input_examples', 'max_characters'] as const;

/** An enforced schema may have optional members, unlike in other formats. */
function readFunction(tool: Placed<MessagesTool>): ClientTool {
  const read = readFunctionTool(tool, 'input_schema');
  return read.strict === true ? { ...read, strict: 'fitting' } : read;
}

/**
 * Reads the tools of a request. Tools that only Anthropic can run are omitted.
 *
 * Source: Anthropic API reference, "Messages", tools.
 *
 * @param tools the tools in force
 * @throws GatewayError `invalid_request`
 */
export function readTools(tools: JsonValue | undefined, notes: Notes): Tool[] {
  const read = new ToolSet();
  for (const tool of new Placed({ tools }).objects<MessagesTool>('tools')) {
    const one = readTool(tool, notes);
    if (one !== undefined) read.add(one);
  }
  return read.list;
}

function readTool(tool: Placed<MessagesTool>, notes: Notes): Tool | undefined {
  const type = tool.maybeText('type') ?? 'custom';
  const typed = findTypedTool(type);
  if (typed !== undefined || type === 'custom') notes.dropMembers(tool.value, unservedMembers, 'tools');
  if (typed !== undefined) return { ...readFunction(tool), ...typed };
  if (isWebSearch(type)) return readWebSearch(tool, notes, searchMembers);
  if (type === 'custom') return isPlaceholder(tool.value) ? undefined : readFunction(tool);
  notes.drop(`tool ${type}`);
  return undefined;
}

/** True for the placeholder of tools that are not loaded. */
export function isPlaceholder({ name, defer_loading: isDeferred }: MessagesTool): boolean {
  return name === placeholderName && isDeferred === true;
}

/** @throws GatewayError `invalid_request`, or `not_supported` for a tool that only its vendor can run */
export function readToolChoice(
  body: Placed<MessagesRequest>,
  tools: readonly Tool[],
  notes: Notes,
): Pick<Conversation, 'toolChoice' | 'parallelToolCalls'> {
  const choice = body.maybeObject<MessagesToolChoice>('tool_choice');
  const isSerial = choice?.maybeBoolean('disable_parallel_tool_use');
  return {
    toolChoice: choice && readChoice(choice, body, tools, notes),
    parallelToolCalls: isSerial === undefined ? undefined : !isSerial,
  };
}

function readChoice(
  choice: Placed<MessagesToolChoice>,
  body: Placed<MessagesRequest>,
  tools: readonly Tool[],
  notes: Notes,
): ToolChoice {
  const type = choice.text('type');
  if (type === 'auto' || type === 'none') return { type };
  if (type === 'any') return { type: 'required' };
  if (type !== 'tool') throw invalid(choice.at('type'), 'auto, any, tool or none');
  const name = readName(choice);
  if (tools.some((tool) => isClientTool(tool) && tool.name === name)) return { type, name };
  return readForeignChoice(name, body, notes);
}

/** Reads the choice of a tool that is not a function: a web search can be offered but not forced; other tools cannot be served. */
function readForeignChoice(name: string, body: Placed<MessagesRequest>, notes: Notes): ToolChoice {
  const chosen = body.objects<MessagesTool>('tools').find(({ value }) => value.name === name)?.value;
  const type = chosen === undefined ? undefined : scalarText(chosen.type ?? 'custom');
  // A tool that the client executes is not in force here.
  if (type === undefined || type === 'custom' || findTypedTool(type) !== undefined)
    throw invalid('tool_choice.name', 'the name of one of the tools');
  if (!isWebSearch(type)) {
    const message = `Tools of type "${type}" are not supported.`;
    throw new GatewayError('not_supported', message, { param: 'tool_choice' });
  }
  notes.approximate(forcedSearch);
  return { type: 'auto' };
}

const text = { type: 'string' };
const integer = { type: 'integer' };

function schema(properties: JsonObject, required: string[]): JsonObject {
  return { type: 'object', properties, required };
}

function commands(...names: string[]): JsonObject {
  return { type: 'string', enum: names };
}

interface TypedTool {
  readonly type: RegExp;
  readonly description: string;
  readonly schema: JsonObject;
}

/**
 * Tools that Anthropic's models know by type but that the client executes: other models can use them if they receive a schema.
 * Source: Anthropic docs, "Bash tool", "Text editor tool", "Memory tool".
 */
const typedTools: readonly TypedTool[] = [
  {
    type: /^bash_\d/,
    description: 'Runs a command in a bash shell that stays open from call to call. restart begins a new shell.',
    schema: schema({ command: text, restart: { type: 'boolean' } }, []),
  },
  {
    type: /^text_editor_\d/,
    description: 'Views, creates and edits files.',
    schema: schema(
      {
        command: commands('view', 'create', 'str_replace', 'insert'),
        path: text,
        file_text: { ...text, description: 'For create: content of the file.' },
        old_str: { ...text, description: 'For str_replace: text to replace; it must occur once in the file.' },
        new_str: { ...text, description: 'For str_replace: replacement text.' },
        insert_line: { ...integer, description: 'For insert: the line after which to insert, 0 for the beginning.' },
        insert_text: { ...text, description: 'For insert: text to insert.' },
        view_range: { type: 'array', items: integer, description: 'For view: first and last line, -1 for the end.' },
      },
      ['command', 'path'],
    ),
  },
  {
    type: /^memory_\d/,
    description: 'Keeps note files under /memories, across conversations.',
    schema: schema(
      {
        command: commands('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
        path: text,
        file_text: text,
        old_str: text,
        new_str: text,
        insert_line: integer,
        insert_text: text,
        view_range: { type: 'array', items: integer },
        old_path: text,
        new_path: text,
      },
      ['command'],
    ),
  },
];

function findTypedTool(type: string): Pick<TypedTool, 'description' | 'schema'> | undefined {
  const found = typedTools.find((tool) => tool.type.test(type));
  return found && { description: found.description, schema: found.schema };
}
