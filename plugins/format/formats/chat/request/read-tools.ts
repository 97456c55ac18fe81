import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject } from '#core/platform/json.ts';
import type { ClientTool, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { hasBreakpoint } from '../../../canonical/openai.ts';
import { readAllowedChoice, readFreeformTool, readFunctionTool, readName, ToolSet } from '../../../canonical/tools.ts';
import { readWebSearch } from '../../../canonical/web-search.ts';
import type { ChatAllowedTools, ChatRequest, ChatTool, ChatToolChoice } from '../../../wire/chat.ts';
import { invalidValue, type BodyObject } from '../../../wire/read.ts';

/**
 * Reads a request's tools, in the current and the deprecated form. Source: OpenAI API reference, "Create chat completion", `tools`,
 * `functions`, `web_search_options`.
 *
 * @throws GatewayError `invalid_request`, or `not_supported` if there are tools but none can be served
 */
export function readTools(body: BodyObject<ChatRequest>, notes: Notes): Tool[] {
  const tools = new ToolSet();
  let unsupportedTypePath: string | undefined;
  for (const tool of body.objects<ChatTool>('tools')) {
    const type = readType(tool);
    if (type === 'function') tools.add(readBreakpoint(readFunctionTool(tool.object(type)), tool.value));
    else if (type === 'custom') tools.add(readBreakpoint(readFreeformTool(tool.object(type), 'grammar'), tool.value));
    else {
      unsupportedTypePath ??= tool.pathOf('type');
      notes.drop(`tool ${type}`);
    }
  }
  for (const declaration of body.objects('functions')) tools.add(readFunctionTool(declaration));
  const search = body.maybeObject('web_search_options');
  if (search !== undefined) tools.add(readWebSearch(search, notes, []));
  if (tools.list.length === 0 && unsupportedTypePath !== undefined)
    throw new GatewayError('not_supported', 'None of these tool types is supported.', { param: unsupportedTypePath });
  return tools.list;
}

/** Clients of OpenRouter and LiteLLM put Anthropic's cache breakpoint on the tool or into its declaration. */
function readBreakpoint(clientTool: ClientTool, tool: ChatTool): ClientTool {
  const isMarked = [tool, tool.function, tool.custom].some((holder) => isJsonObject(holder) && hasBreakpoint(holder));
  return isMarked ? { ...clientTool, isBreakpoint: true } : clientTool;
}

function readType(tool: BodyObject<ChatTool> | BodyObject<ChatToolChoice>): string {
  // Mistral's clients omit the type of functions.
  return tool.isMissing('type') && isJsonObject(tool.value.function) ? 'function' : tool.text('type');
}

/** @throws GatewayError `invalid_request` */
export function readToolChoice(body: BodyObject<ChatRequest>, notes: Notes): ToolChoice | undefined {
  if (!body.isMissing('tool_choice')) return readChoice(body, notes);
  if (body.isMissing('function_call')) return undefined;
  const { function_call: deprecated } = body.value;
  if (deprecated === 'auto' || deprecated === 'none') return { type: deprecated };
  if (typeof deprecated === 'string') throw invalidValue('function_call', 'auto, none, or an object with a name');
  return { type: 'tool', name: readName(body.object('function_call')) };
}

function readChoice(body: BodyObject<ChatRequest>, notes: Notes): ToolChoice {
  const { tool_choice: value } = body.value;
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value };
  // Mistral's and Anthropic's name for `required`.
  if (value === 'any') return { type: 'required' };
  if (typeof value === 'string') throw invalidValue('tool_choice', 'auto, none, required, or an object');
  const choice = body.object<ChatToolChoice>('tool_choice');
  const type = readType(choice);
  if (type === 'function' || type === 'custom') return { type: 'tool', name: readName(choice.object(type)) };
  if (type === 'allowed_tools') return readAllowed(choice.object('allowed_tools'), notes);
  throw invalidValue(choice.pathOf('type'), 'function, custom or allowed_tools');
}

function readAllowed(choice: BodyObject<ChatAllowedTools>, notes: Notes): ToolChoice {
  // Throws if the list is missing, but it may be empty.
  choice.list('tools');
  const allowedNames: string[] = [];
  for (const tool of choice.objects<ChatToolChoice>('tools')) {
    const type = readType(tool);
    if (type === 'function' || type === 'custom') allowedNames.push(readName(tool.object(type)));
    else notes.drop(`allowed tool ${type}`);
  }
  return readAllowedChoice(choice, allowedNames);
}
