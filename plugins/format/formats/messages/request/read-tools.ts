import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { ClientTool, Conversation, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import { forcedSearch, isWebSearch, readFunctionTool, readName, ToolSet } from '../../../canonical/tools.ts';
import { readWebSearch } from '../../../canonical/web-search.ts';
import { invalid, isMissing, maybeBoolean, maybeList, maybeText, readObject, readText } from '../../../wire/read.ts';
import type { MessagesRequest, MessagesTool, MessagesToolChoice } from '../../../wire/messages.ts';

/** Stands for tools that Claude Code has not loaded yet; it cannot be called. Observed. */
const placeholderName = 'DeferredToolPlaceholder';
/** Members of a search that do not limit it. */
const searchMembers = ['type', 'name', 'cache_control'];
/** Members that tools of other formats lack. Deferred tools are sent in full; the vendor chooses how input is streamed. */
const unservedMembers = ['allowed_callers', 'input_examples', 'max_characters'] as const;
const schemaMember = { schemaName: 'input_schema' } as const;

/** Where a schema is enforced, members may be optional, unlike elsewhere. */
function readFunction(tool: MessagesTool, path: string): ClientTool {
  const read = readFunctionTool(tool, path, schemaMember);
  return read.strict === true ? { ...read, strict: 'fitting' } : read;
}

/**
 * Reads the tools of a request. Tools that only Anthropic can run are left out.
 *
 * Source: Anthropic API reference, "Messages", tools.
 *
 * @throws GatewayError `invalid_request`
 */
export function readTools(value: JsonValue | undefined, notes: Notes): Tool[] {
  const tools = new ToolSet();
  for (const [index, entry] of maybeList(value, 'tools').entries()) {
    const path = `tools[${index}]`;
    const tool = readTool(readObject(entry, path), path, notes);
    if (tool !== undefined) tools.add(tool);
  }
  return tools.list;
}

function readTool(tool: MessagesTool, path: string, notes: Notes): Tool | undefined {
  const type = maybeText(tool.type, `${path}.type`) ?? 'custom';
  const typed = findTypedTool(type);
  if (typed !== undefined || type === 'custom') notes.dropMembers(tool, unservedMembers, 'tools');
  if (typed !== undefined) return { ...readFunction(tool, path), ...typed };
  if (isWebSearch(type)) return readWebSearch(tool, path, notes, searchMembers);
  if (type !== 'custom') {
    notes.drop(`tool ${type}`);
    return undefined;
  }
  if (isPlaceholder(tool)) return undefined;
  return readFunction(tool, path);
}

/** True for the stand-in of tools that are not loaded. */
export function isPlaceholder({ name, defer_loading: isDeferred }: MessagesTool): boolean {
  return name === placeholderName && isDeferred === true;
}

/** @throws GatewayError `invalid_request`, or `not_supported` for a tool that only its vendor can run */
export function readToolChoice(
  body: MessagesRequest,
  tools: readonly Tool[],
  notes: Notes,
): Pick<Conversation, 'toolChoice' | 'parallelToolCalls'> {
  if (isMissing(body.tool_choice)) return { toolChoice: undefined, parallelToolCalls: undefined };
  const choice: MessagesToolChoice = readObject(body.tool_choice, 'tool_choice');
  const isSerial = maybeBoolean(choice.disable_parallel_tool_use, 'tool_choice.disable_parallel_tool_use');
  return {
    toolChoice: readChoice(choice, body, tools, notes),
    parallelToolCalls: isSerial === undefined ? undefined : !isSerial,
  };
}

function readChoice(
  choice: MessagesToolChoice,
  body: MessagesRequest,
  tools: readonly Tool[],
  notes: Notes,
): ToolChoice {
  const type = readText(choice.type, 'tool_choice.type');
  if (type === 'auto' || type === 'none') return { type };
  if (type === 'any') return { type: 'required' };
  if (type !== 'tool') throw invalid('tool_choice.type', 'auto, any, tool or none');
  const name = readName(choice, 'tool_choice');
  if (tools.some((tool) => isClientTool(tool) && tool.name === name)) return { type, name };
  return readForeignChoice(name, body, notes);
}

/** A choice of a tool that is not a function: a web search can be offered but not forced; others cannot be served. */
function readForeignChoice(name: string, body: MessagesRequest, notes: Notes): ToolChoice {
  const tools: readonly MessagesTool[] = maybeList(body.tools, 'tools').map((tool) => readObject(tool, 'tools'));
  const chosen = tools.find((tool) => tool.name === name);
  const type = chosen === undefined ? undefined : String(chosen.type ?? 'custom');
  // One that the client executes is not in force.
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
 * Tools that Anthropic's models know by type, but that the client executes: other models can use them when they get a schema.
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
