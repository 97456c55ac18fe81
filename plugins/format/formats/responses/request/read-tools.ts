import { readWebSearch } from '../../../canonical/web-search.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { ClientTool, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import {
  invalid,
  isMissing,
  maybeBoolean,
  maybeList,
  maybeObject,
  maybeText,
  readList,
  readObject,
  readText,
  readTexts,
} from '../../../wire/read.ts';
import {
  allowedChoice,
  forcedSearch,
  isWebSearch,
  readFreeformTool,
  readFunctionTool,
  readGrammar,
  readName,
  ToolSet,
} from '../../../canonical/tools.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import type { ResponsesTool, ResponsesToolChoice } from '../../../wire/responses.ts';

/** The name of the tool by which clients load more tools. */
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

  /** @throws GatewayError `not_supported` when there were tools, but none that can be served */
  refuseOnlyForeign(): void {
    if (this.tools.length > 0 || this.#foreign === undefined) return;
    throw unsupportedTool(this.#foreign.path, this.#foreign.type);
  }

  /** @throws GatewayError `invalid_request` */
  add(value: JsonValue | undefined, path: string, namespace?: string): void {
    for (const [index, entry] of maybeList(value, path).entries()) {
      const toolPath = `${path}[${index}]`;
      this.#addOne(readObject(entry, toolPath), toolPath, namespace);
    }
  }

  /** A search that may use cached pages only is left out: all other vendors search the web. */
  #search(tool: ResponsesTool, path: string): void {
    const { external_web_access: isLive, search_content_types: types }: JsonObject = tool;
    if (maybeBoolean(isLive, `${path}.external_web_access`) === false) return this.#notes.drop('web_search');
    const isPlain = readTexts(types, `${path}.search_content_types`).every((one) => one === 'text');
    if (!isPlain) this.#notes.drop('search_content_types of web_search');
    this.#tools.add(readWebSearch(tool, path, this.#notes, searchMembers));
  }

  #addOne(tool: ResponsesTool, path: string, namespace: string | undefined): void {
    const type = isMissing(tool.type) && !isMissing(tool.name) ? 'function' : readText(tool.type, `${path}.type`);
    if (type === 'function' || type === 'custom') this.#notes.dropMembers(tool, unservedMembers, 'tools');
    if (type === 'function') this.#tools.add(readFunctionTool(tool, path, { namespace }));
    else if (type === 'custom') this.#tools.add(readCustom(tool, path, namespace));
    else if (type === 'namespace' && namespace === undefined) {
      this.add(tool.tools, `${path}.tools`, readName(tool, path));
    } else if (type === 'tool_search' && tool.execution === 'client') this.#tools.add(readToolSearch(tool, path));
    else if (isWebSearch(type)) this.#search(tool, path);
    else {
      this.#foreign ??= { path: `${path}.type`, type };
      this.#notes.drop(`tool ${type}`);
    }
  }
}

/** Members that tools of other formats lack. Deferred tools are sent in full. */
const unservedMembers = ['allowed_callers', 'async', 'output_schema'] as const;
/** Members of a search that do not limit it, or are read here. */
const searchMembers = ['type', 'external_web_access', 'search_content_types'];

function readCustom(tool: ResponsesTool, path: string, namespace: string | undefined): ClientTool {
  return readFreeformTool(tool, path, readGrammar, namespace);
}

function readToolSearch(tool: ResponsesTool, path: string): ClientTool {
  return {
    form: 'tool_search',
    name: toolSearchName,
    namespace: undefined,
    description: maybeText(tool.description, `${path}.description`),
    schema: maybeObject(tool.parameters, `${path}.parameters`),
    strict: undefined,
    grammar: undefined,
  };
}

/** @throws GatewayError `invalid_request`, or `not_supported` for a tool that only its vendor can run */
export function readToolChoice(
  value: JsonValue | undefined,
  tools: readonly Tool[],
  notes: Notes,
): ToolChoice | undefined {
  if (isMissing(value)) return undefined;
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value };
  if (typeof value === 'string') throw invalid('tool_choice', 'auto, none, required, or an object');
  const choice: ResponsesToolChoice = readObject(value, 'tool_choice');
  const type = readText(choice.type, 'tool_choice.type');
  if (type === 'function' || type === 'custom') return readNamed(choice);
  if (type === 'tool_search') return { type: 'tool', name: toolSearchName };
  if (type === 'allowed_tools') return readAllowed(choice, tools, notes);
  if (!isWebSearch(type)) throw unsupportedTool('tool_choice', type);
  notes.approximate(forcedSearch);
  return { type: 'auto' };
}

function unsupportedTool(param: string, type: string): GatewayError {
  return new GatewayError('not_supported', `Tools of type "${type}" are not supported.`, { param });
}

function readNamed(choice: ResponsesToolChoice): ToolChoice {
  return {
    type: 'tool',
    name: readName(choice, 'tool_choice'),
    namespace: maybeText(choice.namespace, 'tool_choice.namespace'),
  };
}

function readAllowed(choice: ResponsesToolChoice, tools: readonly Tool[], notes: Notes): ToolChoice {
  const { mode } = choice;
  const allowed = readList(choice.tools, 'tool_choice.tools').flatMap((entry, index) => {
    const path = `tool_choice.tools[${index}]`;
    const tool: ResponsesTool = readObject(entry, path);
    const type = readText(tool.type, `${path}.type`);
    if (type === 'function' || type === 'custom') return [readName(tool, path)];
    if (type === 'tool_search') return [toolSearchName];
    if (type === 'namespace') return namesIn(tools, readName(tool, path));
    notes.drop(`allowed tool ${type}`);
    return [];
  });
  return allowedChoice(mode, 'tool_choice', allowed);
}

function namesIn(tools: readonly Tool[], namespace: string): string[] {
  return tools.filter(isClientTool).flatMap((tool) => (tool.namespace === namespace ? [tool.name] : []));
}
