import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ClientTool, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { invalid, isMissing, maybeList, maybeObject, readList, readObject, readText } from '../../../wire/read.ts';
import {
  allowedChoice,
  readFreeformTool,
  readFunctionTool,
  readGrammar,
  readName,
  ToolSet,
} from '../../../canonical/tools.ts';
import { hasBreakpoint } from '../../../canonical/openai.ts';
import { readWebSearch } from '../../../canonical/web-search.ts';
import type { ChatAllowedTools, ChatRequest, ChatTool, ChatToolChoice } from '../../../wire/chat.ts';

/**
 * Reads the tools of a request, in the current and the deprecated form. Source: OpenAI API reference, "Create chat completion", `tools`, `functions`, `web_search_options`.
 *
 * @throws GatewayError `invalid_request`, or `not_supported` when there are tools, but none that can be served
 */
export function readTools(body: ChatRequest, notes: Notes): Tool[] {
  const tools = new ToolSet();
  let foreign: string | undefined;
  for (const [index, entry] of maybeList(body.tools, 'tools').entries()) {
    const path = `tools[${index}]`;
    const tool: ChatTool = readObject(entry, path);
    const type = readType(tool, `${path}.type`);
    if (type === 'function')
      tools.add(marked(readFunctionTool(readObject(tool[type], `${path}.function`), `${path}.function`), tool));
    else if (type === 'custom')
      tools.add(marked(readCustom(readObject(tool[type], `${path}.custom`), `${path}.custom`), tool));
    else {
      foreign ??= `${path}.type`;
      notes.drop(`tool ${type}`);
    }
  }
  for (const [index, entry] of maybeList(body.functions, 'functions').entries()) {
    tools.add(readFunctionTool(readObject(entry, `functions[${index}]`), `functions[${index}]`));
  }
  const search = maybeObject(body.web_search_options, 'web_search_options');
  if (search !== undefined) tools.add(readWebSearch(search, 'web_search_options', notes, []));
  if (tools.list.length === 0 && foreign !== undefined) throw unsupportedTool(foreign);
  return tools.list;
}

/** OpenRouter and LiteLLM pass Anthropic's mark on, which clients put on the tool or into what it declares. */
function marked(read: ClientTool, tool: ChatTool): ClientTool {
  const isMarked = [tool, tool.function, tool.custom].some((one) => isJsonObject(one) && hasBreakpoint(one));
  return isMarked ? { ...read, isBreakpoint: true } : read;
}

/** Mistral's clients leave the type of functions out. */
function readType({ type, function: declared }: ChatTool | ChatToolChoice, path: string): string {
  return isMissing(type) && isJsonObject(declared) ? 'function' : readText(type, path);
}

function unsupportedTool(param: string): GatewayError {
  return new GatewayError('not_supported', 'None of these tool types is supported.', { param });
}

function readCustom(tool: JsonObject, path: string): ClientTool {
  return readFreeformTool(tool, path, ({ grammar }, formatPath) =>
    readGrammar(readObject(grammar, `${formatPath}.grammar`), `${formatPath}.grammar`),
  );
}

/** @throws GatewayError `invalid_request` */
export function readToolChoice(body: ChatRequest, notes: Notes): ToolChoice | undefined {
  const { tool_choice: choice, function_call: old } = body;
  if (!isMissing(choice)) return readChoice(choice, notes);
  if (isMissing(old)) return undefined;
  if (old === 'auto' || old === 'none') return { type: old };
  if (typeof old === 'string') throw invalid('function_call', 'auto, none, or an object with a name');
  return { type: 'tool', name: readName(readObject(old, 'function_call'), 'function_call') };
}

function readChoice(value: JsonValue | undefined, notes: Notes): ToolChoice {
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value };
  // The name at Mistral and Anthropic.
  if (value === 'any') return { type: 'required' };
  if (typeof value === 'string') throw invalid('tool_choice', 'auto, none, required, or an object');
  const choice: ChatToolChoice = readObject(value, 'tool_choice');
  const type = readType(choice, 'tool_choice.type');
  if (type === 'function' || type === 'custom') return { type: 'tool', name: readMention(choice, type, 'tool_choice') };
  if (type === 'allowed_tools') return readAllowed(choice, notes);
  throw invalid('tool_choice.type', 'function, custom or allowed_tools');
}

function readMention(mention: ChatToolChoice, type: 'function' | 'custom', path: string): string {
  return readName(readObject(mention[type], `${path}.${type}`), `${path}.${type}`);
}

function readAllowed(choice: ChatToolChoice, notes: Notes): ToolChoice {
  const path = 'tool_choice.allowed_tools';
  const { mode, tools }: ChatAllowedTools = readObject(choice.allowed_tools, path);
  const allowed = readList(tools, `${path}.tools`).flatMap((entry, index) => {
    const toolPath = `${path}.tools[${index}]`;
    const tool: ChatToolChoice = readObject(entry, toolPath);
    const type = readType(tool, `${toolPath}.type`);
    if (type === 'function' || type === 'custom') return [readMention(tool, type, toolPath)];
    notes.drop(`allowed tool ${type}`);
    return [];
  });
  return allowedChoice(mode, path, allowed);
}
