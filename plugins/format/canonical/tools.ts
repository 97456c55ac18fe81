import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { ChatToolBody, ChatToolFormat } from '../wire/chat.ts';
import { parseInput } from '../wire/members.ts';
import type { MessagesTool } from '../wire/messages.ts';
import { invalidValue, isMissing, type BodyObject } from '../wire/read.ts';
import type { ClientTool, Tool, ToolCall, ToolChoice } from './conversation.ts';
import type { Notes } from './notes.ts';
import { isClientTool } from './tool-names.ts';

/** @throws GatewayError `invalid_request` if the name is missing */
export function readName(placed: BodyObject<{ readonly name?: JsonValue | undefined }>): string {
  return placed.filledText('name', 'a name');
}

/** The tools of a request. If two tools share a name, the first wins. */
export class ToolSet {
  readonly #tools = new Map<string, Tool>();

  add(tool: Tool): void {
    const key = isClientTool(tool) ? `${tool.namespace ?? ''}\n${tool.name}` : '';
    if (!this.#tools.has(key)) this.#tools.set(key, tool);
  }

  get list(): Tool[] {
    return [...this.#tools.values()];
  }
}

export function readFunctionTool(
  tool: BodyObject<ChatToolBody & MessagesTool>,
  schemaName: 'parameters' | 'input_schema' = 'parameters',
  namespace?: string,
): ClientTool {
  return {
    form: 'function',
    name: readName(tool),
    namespace,
    description: tool.maybeText('description'),
    schema: tool.maybeObject(schemaName)?.value,
    strict: tool.maybeBoolean('strict'),
    grammar: undefined,
  };
}

/** @param grammarName member that holds the grammar; undefined if the format itself is the grammar */
export function readFreeformTool(
  tool: BodyObject<ChatToolBody>,
  grammarName?: 'grammar',
  namespace?: string,
): ClientTool {
  const format = tool.maybeObject<ChatToolFormat>('format');
  const name = readName(tool);
  const description = tool.maybeText('description');
  const isGrammar = format?.value.type === 'grammar';
  const grammar = isGrammar ? readGrammar(grammarName === undefined ? format : format.object(grammarName)) : undefined;
  return { form: 'freeform', name, namespace, description, schema: undefined, strict: undefined, grammar };
}

function readGrammar(grammar: BodyObject<ChatToolFormat>): ClientTool['grammar'] {
  return { syntax: grammar.text('syntax'), definition: grammar.text('definition') };
}

/** Returns true for `web_search`, `web_search_preview` and dated variants. */
export function isWebSearch(type: string): boolean {
  return /^web_search(_|$)/.test(type);
}

/** Matches notes about dropped tools that only a vendor can run. */
export const droppedToolNote = /^dropped (web_search$|googleSearch$|tool (?!call ))/;

/** The note about a forced web search, which no format can express. */
export const forcedSearchNote = 'tool_choice web_search as auto';

/** Reads a `tool_choice` in OpenAI's formats that allows only certain tools. */
export function readAllowedChoice(
  choice: BodyObject<{ readonly mode?: JsonValue | undefined }>,
  allowed: readonly string[],
): ToolChoice {
  const { mode } = choice.value;
  if (!isMissing(mode) && mode !== 'auto' && mode !== 'required')
    throw invalidValue(choice.pathOf('mode'), 'auto or required');
  return { type: mode === 'required' ? 'required' : 'auto', allowed };
}

/** Returns a call's input as an object. Malformed input is put under `_raw`. */
export function toObjectInput({ form, input }: ToolCall, notes: Notes): JsonObject {
  if (form === 'freeform') return { input };
  if (input.trim() === '') return {};
  const parsed = parseInput(input);
  if (parsed === undefined) notes.approximate('malformed input of a call');
  return parsed ?? { _raw: input };
}

/** Returns the input of a call in a reply as an object, for formats that require one. Malformed input is put under `_raw`. */
export function toArgumentsObject({ form, input }: Pick<ToolCall, 'form' | 'input'>): JsonObject {
  return form === 'freeform' ? { input } : (parseInput(input) ?? { _raw: input });
}

export function wantsEnforcedInput({ strict }: ClientTool): boolean {
  return strict !== undefined && strict !== false;
}

/** Describes a tool as a function, for formats and vendors that only support functions. */
export function describeAsFunction(tool: ClientTool, notes: Notes): Pick<ClientTool, 'description' | 'schema'> {
  if (tool.form !== 'freeform') return tool;
  notes.approximate('freeform tools as functions');
  return { description: describeFreeform(tool), schema: createFreeformSchema() };
}

function describeFreeform({ description, grammar }: ClientTool): string | undefined {
  if (grammar === undefined) return description;
  const rule = `The input must follow this ${grammar.syntax} grammar:\n${grammar.definition}`;
  return description === undefined ? rule : `${description}\n\n${rule}`;
}

function createFreeformSchema(): JsonObject {
  return {
    type: 'object',
    properties: { input: { type: 'string', description: 'The whole input, verbatim.' } },
    required: ['input'],
    additionalProperties: false,
  };
}
