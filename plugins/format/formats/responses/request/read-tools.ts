import { readWebSearch } from '../../../canonical/web-search.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonValue } from '#core/platform/json.ts';
import type { ClientTool, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { invalid, type Placed } from '../../../wire/read.ts';
import {
  allowedChoice,
  forcedSearch,
  isWebSearch,
  readFreeformTool,
  readFunctionTool,
  readName,
  ToolSet,
} from '../../../canonical/tools.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import type { ResponsesRequest, ResponsesTool, ResponsesToolChoice } from '../../../wire/responses.ts';

/** Name of the tool that lets clients load more tools. */
export const toolSearchName = 'tool_search';

/**
 * Collects the tools of a request from the members and items that hold them.
 * Source: OpenAI API reference, "Responses", tools; tools in items were observed with Codex.
 */
export class ToolReader {
  readonly #notes: Notes;
  readonly #tools = new ToolSet();
  /** The first tool that only its vendor can run. */
  #foreign: { readonly path: string; readonly type: string } | undefined;

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  get tools(): Tool[] {
    return this.#tools.list;
  }

  /** @throws GatewayError `not_supported` if there were tools but none can be served */
  refuseOnlyForeign(): void {
    if (this.tools.length > 0 || this.#foreign === undefined) return;
    throw unsupportedTool(this.#foreign.path, this.#foreign.type);
  }

  /** @throws GatewayError `invalid_request` */
  add(holder: Placed<{ readonly tools?: JsonValue | undefined }>, namespace?: string): void {
    for (const tool of holder.objects<ResponsesTool>('tools')) this.#addOne(tool, namespace);
  }

  /** A search that may use only cached pages is omitted: all other vendors search the web. */
  #search(tool: Placed): void {
    if (tool.maybeBoolean('external_web_access') === false) return this.#notes.drop('web_search');
    const isPlain = tool.texts('search_content_types').every((one) => one === 'text');
    if (!isPlain) this.#notes.drop('search_content_types of web_search');
    this.#tools.add(readWebSearch(tool, this.#notes, searchMembers));
  }

  #addOne(tool: Placed<ResponsesTool>, namespace: string | undefined): void {
    const type = tool.isMissing('type') && !tool.isMissing('name') ? 'function' : tool.text('type');
    if (type === 'function' || type === 'custom') this.#notes.dropMembers(tool.value, unservedMembers, 'tools');
    if (type === 'function') this.#tools.add(readFunctionTool(tool, 'parameters', namespace));
    else if (type === 'custom') this.#tools.add(readFreeformTool(tool, undefined, namespace));
    else if (type === 'namespace' && namespace === undefined) this.add(tool, readName(tool));
    else if (type === 'tool_search' && tool.value.execution === 'client') this.#tools.add(readToolSearch(tool));
    else if (isWebSearch(type)) this.#search(tool);
    else {
      this.#foreign ??= { path: tool.at('type'), type };
      this.#notes.drop(`tool ${type}`);
    }
  }
}

/** Members that tools of other formats lack. Deferred tools are sent in full. */
const unservedMembers = ['allowed_callers', 'async', 'output_schema'] as const;
/** Members of a search that do not limit it or that are read here. */
const searchMembers = ['type', 'external_web_access', 'search_content_types'];

function readToolSearch(tool: Placed<ResponsesTool>): ClientTool {
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

/** @throws GatewayError `invalid_request`, or `not_supported` for a tool that only its vendor can run */
export function readToolChoice(
  body: Placed<ResponsesRequest>,
  tools: readonly Tool[],
  notes: Notes,
): ToolChoice | undefined {
  const { tool_choice: value } = body.value;
  if (body.isMissing('tool_choice')) return undefined;
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value };
  if (typeof value === 'string') throw invalid('tool_choice', 'auto, none, required, or an object');
  const choice = body.object<ResponsesToolChoice>('tool_choice');
  const type = choice.text('type');
  if (type === 'function' || type === 'custom')
    return { type: 'tool', name: readName(choice), namespace: choice.maybeText('namespace') };
  if (type === 'tool_search') return { type: 'tool', name: toolSearchName };
  if (type === 'allowed_tools') return readAllowed(choice, tools, notes);
  if (!isWebSearch(type)) throw unsupportedTool('tool_choice', type);
  notes.approximate(forcedSearch);
  return { type: 'auto' };
}

function unsupportedTool(param: string, type: string): GatewayError {
  return new GatewayError('not_supported', `Tools of type "${type}" are not supported.`, { param });
}

function readAllowed(choice: Placed<ResponsesToolChoice>, tools: readonly Tool[], notes: Notes): ToolChoice {
  // The list may be empty but not missing.
  choice.list('tools');
  const allowed: string[] = [];
  for (const tool of choice.objects<ResponsesTool>('tools')) {
    const type = tool.text('type');
    if (type === 'function' || type === 'custom') allowed.push(readName(tool));
    else if (type === 'tool_search') allowed.push(toolSearchName);
    else if (type === 'namespace') allowed.push(...namesIn(tools, readName(tool)));
    else notes.drop(`allowed tool ${type}`);
  }
  return allowedChoice(choice, allowed);
}

function namesIn(tools: readonly Tool[], namespace: string): string[] {
  return tools.filter(isClientTool).flatMap((tool) => (tool.namespace === namespace ? [tool.name] : []));
}
