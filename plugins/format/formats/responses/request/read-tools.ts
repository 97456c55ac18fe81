import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonValue } from '#core/platform/json.ts';
import type { ClientTool, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import {
  readAllowedChoice,
  forcedSearchNote,
  isWebSearch,
  readFreeformTool,
  readFunctionTool,
  readName,
  ToolSet,
} from '../../../canonical/tools.ts';
import { readWebSearch } from '../../../canonical/web-search.ts';
import { invalidValue, type BodyObject } from '../../../wire/read.ts';
import type { ResponsesRequest, ResponsesTool, ResponsesToolChoice } from '../../../wire/responses.ts';

/** Name of the tool that lets clients load more tools. */
export const toolSearchName = 'tool_search';

/** Excludes `defer_loading`, because deferred tools are sent in full. */
const unsupportedMembers = ['allowed_callers', 'async', 'output_schema'] as const;
const searchMembers = ['type', 'external_web_access', 'search_content_types']; // these do not restrict the search, or are read below

/**
 * Collects a request's tools from the members and items that hold them. Source: OpenAI API reference, "Responses", tools; tools in items
 * were observed with Codex.
 */
export class ToolReader {
  readonly #notes: Notes;
  readonly #tools = new ToolSet();
  #firstUnsupportedTool: { readonly path: string; readonly type: string } | undefined;

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  get tools(): Tool[] {
    return this.#tools.list;
  }

  /** @throws GatewayError `not_supported` if there were tools but none can be served */
  requireSupportedTool(): void {
    if (this.tools.length > 0 || this.#firstUnsupportedTool === undefined) return;
    throw createUnsupportedToolError(this.#firstUnsupportedTool.path, this.#firstUnsupportedTool.type);
  }

  /** @throws GatewayError `invalid_request` */
  add(holder: BodyObject<{ readonly tools?: JsonValue | undefined }>, namespace?: string): void {
    for (const tool of holder.objects<ResponsesTool>('tools')) this.#addTool(tool, namespace);
  }

  #addSearch(tool: BodyObject): void {
    // Other vendors would search the web instead of cached pages.
    if (tool.maybeBoolean('external_web_access') === false) return this.#notes.drop('web_search');
    const isTextOnly = tool.texts('search_content_types').every((type) => type === 'text');
    if (!isTextOnly) this.#notes.drop('search_content_types of web_search');
    this.#tools.add(readWebSearch(tool, this.#notes, searchMembers));
  }

  #addTool(tool: BodyObject<ResponsesTool>, namespace: string | undefined): void {
    const type = tool.isMissing('type') && !tool.isMissing('name') ? 'function' : tool.text('type');
    if (type === 'function' || type === 'custom') this.#notes.dropMembers(tool.value, unsupportedMembers, 'tools');
    if (type === 'function') this.#tools.add(readFunctionTool(tool, 'parameters', namespace));
    else if (type === 'custom') this.#tools.add(readFreeformTool(tool, undefined, namespace));
    else if (type === 'namespace' && namespace === undefined) this.add(tool, readName(tool));
    else if (type === 'tool_search' && tool.value.execution === 'client') this.#tools.add(readToolSearch(tool));
    else if (isWebSearch(type)) this.#addSearch(tool);
    else {
      this.#firstUnsupportedTool ??= { path: tool.pathOf('type'), type };
      this.#notes.drop(`tool ${type}`);
    }
  }
}

function readToolSearch(tool: BodyObject<ResponsesTool>): ClientTool {
  return {
    form: 'tool_search',
    name: toolSearchName,
    namespace: undefined,
    description: tool.maybeText('description'),
    schema: tool.maybeObject('parameters')?.value,
    strict: undefined,
    grammar: undefined,
  };
}

/** @throws GatewayError `invalid_request`; `not_supported` for a tool that only its vendor can run */
export function readToolChoice(
  body: BodyObject<ResponsesRequest>,
  tools: readonly Tool[],
  notes: Notes,
): ToolChoice | undefined {
  const { tool_choice: value } = body.value;
  if (body.isMissing('tool_choice')) return undefined;
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value };
  if (typeof value === 'string') throw invalidValue('tool_choice', 'auto, none, required, or an object');
  const choice = body.object<ResponsesToolChoice>('tool_choice');
  const type = choice.text('type');
  if (type === 'function' || type === 'custom')
    return { type: 'tool', name: readName(choice), namespace: choice.maybeText('namespace') };
  if (type === 'tool_search') return { type: 'tool', name: toolSearchName };
  if (type === 'allowed_tools') return readAllowedTools(choice, tools, notes);
  if (!isWebSearch(type)) throw createUnsupportedToolError('tool_choice', type);
  notes.approximate(forcedSearchNote);
  return { type: 'auto' };
}

function createUnsupportedToolError(param: string, type: string): GatewayError {
  return new GatewayError('not_supported', `Tools of type "${type}" are not supported.`, { param });
}

function readAllowedTools(choice: BodyObject<ResponsesToolChoice>, tools: readonly Tool[], notes: Notes): ToolChoice {
  // The list may be empty but must not be missing.
  choice.list('tools');
  const allowedNames: string[] = [];
  for (const tool of choice.objects<ResponsesTool>('tools')) {
    const type = tool.text('type');
    if (type === 'function' || type === 'custom') allowedNames.push(readName(tool));
    else if (type === 'tool_search') allowedNames.push(toolSearchName);
    else if (type === 'namespace') allowedNames.push(...listToolNames(tools, readName(tool)));
    else notes.drop(`allowed tool ${type}`);
  }
  return readAllowedChoice(choice, allowedNames);
}

function listToolNames(tools: readonly Tool[], namespace: string): string[] {
  return tools.filter(isClientTool).flatMap((tool) => (tool.namespace === namespace ? [tool.name] : []));
}
