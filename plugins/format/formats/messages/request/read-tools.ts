import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { ClientTool, Conversation, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import { forcedSearchNote, isWebSearch, readFunctionTool, readName, ToolSet } from '../../../canonical/tools.ts';
import { readWebSearch } from '../../../canonical/web-search.ts';
import { scalarToText } from '../../../wire/members.ts';
import type { MessagesRequest, MessagesTool, MessagesToolChoice } from '../../../wire/messages.ts';
import { invalidValue, BodyObject } from '../../../wire/read.ts';

/** Observed: represents tools that Claude Code has not loaded yet and that cannot be called. */
const placeholderName = 'DeferredToolPlaceholder';
const searchMembers = ['type', 'name', 'cache_control']; // these do not restrict the search
/** Excludes `defer_loading` (deferred tools are sent in full) and `eager_input_streaming` (the vendor decides how input is streamed). */
const unsupportedMembers = ['allowed_callers', 'input_examples', 'max_characters'] as const;

function readFunction(tool: BodyObject<MessagesTool>): ClientTool {
  const functionTool = readFunctionTool(tool, 'input_schema');
  // Unlike in other formats, an enforced schema may have optional members.
  return functionTool.strict === true ? { ...functionTool, strict: 'fitting' } : functionTool;
}

/**
 * Reads a request's tools. Omits those that only Anthropic can run.
 *
 * Source: Anthropic API reference, "Messages", tools.
 *
 * @param tools the tools that are in effect
 * @throws GatewayError `invalid_request`
 */
export function readTools(tools: JsonValue | undefined, notes: Notes): Tool[] {
  const toolSet = new ToolSet();
  for (const toolBody of new BodyObject({ tools }).objects<MessagesTool>('tools')) {
    const tool = readTool(toolBody, notes);
    if (tool !== undefined) toolSet.add(tool);
  }
  return toolSet.list;
}

function readTool(tool: BodyObject<MessagesTool>, notes: Notes): Tool | undefined {
  const type = tool.maybeText('type') ?? 'custom';
  const typedTool = findTypedTool(type);
  if (typedTool !== undefined || type === 'custom') notes.dropMembers(tool.value, unsupportedMembers, 'tools');
  if (typedTool !== undefined) return { ...readFunction(tool), ...typedTool };
  if (isWebSearch(type)) return readWebSearch(tool, notes, searchMembers);
  if (type === 'custom') return isPlaceholder(tool.value) ? undefined : readFunction(tool);
  notes.drop(`tool ${type}`);
  return undefined;
}

export function isPlaceholder({ name, defer_loading: isDeferred }: MessagesTool): boolean {
  return name === placeholderName && isDeferred === true;
}

/** @throws GatewayError `invalid_request`; `not_supported` for a tool that only its vendor can run */
export function readToolChoice(
  body: BodyObject<MessagesRequest>,
  tools: readonly Tool[],
  notes: Notes,
): Pick<Conversation, 'toolChoice' | 'parallelToolCalls'> {
  const choice = body.maybeObject<MessagesToolChoice>('tool_choice');
  const disablesParallel = choice?.maybeBoolean('disable_parallel_tool_use');
  return {
    toolChoice: choice && readChoice(choice, body, tools, notes),
    parallelToolCalls: disablesParallel === undefined ? undefined : !disablesParallel,
  };
}

function readChoice(
  choice: BodyObject<MessagesToolChoice>,
  body: BodyObject<MessagesRequest>,
  tools: readonly Tool[],
  notes: Notes,
): ToolChoice {
  const type = choice.text('type');
  if (type === 'auto' || type === 'none') return { type };
  if (type === 'any') return { type: 'required' };
  if (type !== 'tool') throw invalidValue(choice.pathOf('type'), 'auto, any, tool or none');
  const name = readName(choice);
  if (tools.some((tool) => isClientTool(tool) && tool.name === name)) return { type, name };
  return readHostedChoice(name, body, notes);
}

function readHostedChoice(name: string, body: BodyObject<MessagesRequest>, notes: Notes): ToolChoice {
  const chosenTool = body.objects<MessagesTool>('tools').find(({ value }) => value.name === name)?.value;
  const type = chosenTool === undefined ? undefined : scalarToText(chosenTool.type ?? 'custom');
  // A tool that the client runs would have been among the tools in effect.
  if (type === undefined || type === 'custom' || findTypedTool(type) !== undefined)
    throw invalidValue('tool_choice.name', 'the name of one of the tools');
  if (!isWebSearch(type)) {
    const message = `Tools of type "${type}" are not supported.`;
    throw new GatewayError('not_supported', message, { param: 'tool_choice' });
  }
  // A web search can be offered but not forced.
  notes.approximate(forcedSearchNote);
  return { type: 'auto' };
}

const textSchema = { type: 'string' };
const integerSchema = { type: 'integer' };

function objectSchema(properties: JsonObject, required: string[]): JsonObject {
  return { type: 'object', properties, required };
}

function enumSchema(...names: string[]): JsonObject {
  return { type: 'string', enum: names };
}

interface TypedTool {
  readonly type: RegExp;
  readonly description: string;
  readonly schema: JsonObject;
}

/**
 * Tools that the client runs. Anthropic's models know them by type; other models need a schema. Source: Anthropic docs, "Bash tool", "Text
 * editor tool", "Memory tool".
 */
const typedTools: readonly TypedTool[] = [
  {
    type: /^bash_\d/,
    description: 'Runs a command in a bash shell that stays open from call to call. restart begins a new shell.',
    schema: objectSchema({ command: textSchema, restart: { type: 'boolean' } }, []),
  },
  {
    type: /^text_editor_\d/,
    description: 'Views, creates and edits files.',
    schema: objectSchema(
      {
        command: enumSchema('view', 'create', 'str_replace', 'insert'),
        path: textSchema,
        file_text: { ...textSchema, description: 'For create: content of the file.' },
        old_str: { ...textSchema, description: 'For str_replace: text to replace; it must occur once in the file.' },
        new_str: { ...textSchema, description: 'For str_replace: replacement text.' },
        insert_line: {
          ...integerSchema,
          description: 'For insert: the line after which to insert, 0 for the beginning.',
        },
        insert_text: { ...textSchema, description: 'For insert: text to insert.' },
        view_range: {
          type: 'array',
          items: integerSchema,
          description: 'For view: first and last line, -1 for the end.',
        },
      },
      ['command', 'path'],
    ),
  },
  {
    type: /^memory_\d/,
    description: 'Keeps note files under /memories, across conversations.',
    schema: objectSchema(
      {
        command: enumSchema('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
        path: textSchema,
        file_text: textSchema,
        old_str: textSchema,
        new_str: textSchema,
        insert_line: integerSchema,
        insert_text: textSchema,
        view_range: { type: 'array', items: integerSchema },
        old_path: textSchema,
        new_path: textSchema,
      },
      ['command'],
    ),
  },
];

function findTypedTool(type: string): Pick<TypedTool, 'description' | 'schema'> | undefined {
  const typedTool = typedTools.find((tool) => tool.type.test(type));
  return typedTool && { description: typedTool.description, schema: typedTool.schema };
}
