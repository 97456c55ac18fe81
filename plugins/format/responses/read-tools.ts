import { GatewayError } from '#core/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import type { ClientTool, Tool, ToolChoice } from '../canonical/conversation.ts';
import type { Notes } from '../canonical/notes.ts';
import { invalid, isMissing, maybeBoolean, maybeList, maybeObject, maybeText } from '../canonical/read.ts';
import { readName } from '../canonical/tools.ts';
import { readList, readObject, readText } from '../canonical/read.ts';
import { isClientTool } from '../canonical/tool-names.ts';

/** The tool by which clients load more tools; it has no name of its own. */
export const toolSearchName = 'tool_search';

/**
 * Gathers the tools of a request from all the places where they stand. A name that comes twice keeps its first meaning.
 * Source: OpenAI API reference, "Responses", tools; tools in items were observed with Codex.
 */
export class ToolReader {
  readonly #notes: Notes;
  readonly #tools = new Map<string, Tool>();
  /** The first tool that only its vendor can run. */
  #foreign: { readonly path: string; readonly type: string } | undefined;

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  get tools(): Tool[] {
    return [...this.#tools.values()];
  }

  /** @throws GatewayError `not_supported` when there were tools, but none that can be served */
  refuseOnlyForeign(): void {
    if (this.#tools.size > 0 || this.#foreign === undefined) return;
    throw unsupportedTool(this.#foreign.path, this.#foreign.type);
  }

  /** @throws GatewayError `invalid_request` */
  add(value: JsonValue | undefined, path: string, namespace?: string): void {
    for (const [index, entry] of maybeList(value, path).entries()) {
      const toolPath = `${path}[${index}]`;
      this.#addOne(readObject(entry, toolPath), toolPath, namespace);
    }
  }

  #addOne(tool: JsonObject, path: string, namespace: string | undefined): void {
    const type = readText(tool['type'], `${path}.type`);
    if (type === 'function') this.#keep(readFunction(tool, path, namespace));
    else if (type === 'custom') this.#keep(readCustom(tool, path, namespace));
    else if (type === 'namespace' && namespace === undefined) {
      this.add(tool['tools'], `${path}.tools`, readName(tool, path));
    } else if (type === 'tool_search' && tool['execution'] === 'client') this.#keep(readToolSearch(tool, path));
    else if (isWebSearch(type)) this.#tools.set(type.slice(0, 10), { form: 'web_search' });
    else {
      this.#foreign ??= { path: `${path}.type`, type };
      this.#notes.drop(`tool ${type}`);
    }
  }

  #keep(tool: ClientTool): void {
    const key = `${tool.namespace ?? ''}\n${tool.name}`;
    if (!this.#tools.has(key)) this.#tools.set(key, tool);
  }
}

/** `web_search`, `web_search_preview` and their dated names. */
function isWebSearch(type: string): boolean {
  return /^web_search(_|$)/.test(type);
}

function readFunction(tool: JsonObject, path: string, namespace: string | undefined): ClientTool {
  return {
    form: 'function',
    name: readName(tool, path),
    namespace,
    description: maybeText(tool['description'], `${path}.description`),
    schema: maybeObject(tool['parameters'], `${path}.parameters`),
    strict: maybeBoolean(tool['strict'], `${path}.strict`),
    grammar: undefined,
  };
}

function readCustom(tool: JsonObject, path: string, namespace: string | undefined): ClientTool {
  return {
    form: 'freeform',
    name: readName(tool, path),
    namespace,
    description: maybeText(tool['description'], `${path}.description`),
    schema: undefined,
    strict: undefined,
    grammar: readGrammar(maybeObject(tool['format'], `${path}.format`), `${path}.format`),
  };
}

function readGrammar(format: JsonObject | undefined, path: string): ClientTool['grammar'] {
  if (format?.['type'] !== 'grammar') return undefined;
  return {
    syntax: readText(format['syntax'], `${path}.syntax`),
    definition: readText(format['definition'], `${path}.definition`),
  };
}

function readToolSearch(tool: JsonObject, path: string): ClientTool {
  return {
    form: 'tool_search',
    name: toolSearchName,
    namespace: undefined,
    description: maybeText(tool['description'], `${path}.description`),
    schema: maybeObject(tool['parameters'], `${path}.parameters`),
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
  const choice = readObject(value, 'tool_choice');
  const type = readText(choice['type'], 'tool_choice.type');
  if (type === 'function' || type === 'custom') return readNamed(choice);
  if (type === 'tool_search') return { type: 'tool', name: toolSearchName };
  if (type === 'allowed_tools') return readAllowed(choice, tools, notes);
  if (!isWebSearch(type)) throw unsupportedTool('tool_choice', type);
  notes.approximate('tool_choice web_search as auto');
  return { type: 'auto' };
}

function unsupportedTool(param: string, type: string): GatewayError {
  return new GatewayError('not_supported', `tools of the type ${type} are not supported here`, { param });
}

function readNamed(choice: JsonObject): ToolChoice {
  return {
    type: 'tool',
    name: readName(choice, 'tool_choice'),
    namespace: maybeText(choice['namespace'], 'tool_choice.namespace'),
  };
}

function readAllowed(choice: JsonObject, tools: readonly Tool[], notes: Notes): ToolChoice {
  const { mode } = choice;
  if (!isMissing(mode) && mode !== 'auto' && mode !== 'required') throw invalid('tool_choice.mode', 'auto or required');
  const allowed = readList(choice['tools'], 'tool_choice.tools').flatMap((entry, index) => {
    const path = `tool_choice.tools[${index}]`;
    const tool = readObject(entry, path);
    const type = readText(tool['type'], `${path}.type`);
    if (type === 'function' || type === 'custom') return [readName(tool, path)];
    if (type === 'tool_search') return [toolSearchName];
    if (type === 'namespace') return namesIn(tools, readName(tool, path));
    notes.drop(`allowed tool ${type}`);
    return [];
  });
  return { type: mode === 'required' ? 'required' : 'auto', allowed };
}

function namesIn(tools: readonly Tool[], namespace: string): string[] {
  return tools.filter(isClientTool).flatMap((tool) => (tool.namespace === namespace ? [tool.name] : []));
}
