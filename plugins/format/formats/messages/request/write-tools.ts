import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { ClientTool, Conversation, HostedTool, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import { enforceInput } from '../../../canonical/enforce-schema.ts';
import { selectSubset } from '../../../canonical/schema-subsets.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import { describeAsFunction } from '../../../canonical/tools.ts';
import { writeMessagesSearchTool } from '../../../canonical/web-search.ts';
import type { MessagesRequest, MessagesTool, MessagesToolChoice } from '../../../wire/messages.ts';
import { writeCacheControl, findLastBreakpoint, supportsBreakpoints } from './cache-breakpoints.ts';

const searchName = 'web_search';

/** Returns an empty object if there are neither tools nor calls. Source: Anthropic API reference, "Messages", tools. */
export function writeTools(conversation: Conversation, target: EncodeTarget, isThinking: boolean): MessagesRequest {
  const { capabilities } = target.profile;
  if (!capabilities.tools && conversation.tools.length > 0) target.notes.drop('tools');
  const tools = capabilities.tools ? writeToolList(selectAllowedTools(conversation), conversation, target) : [];
  if (tools.length === 0) return declareCalledTools(conversation, target);
  return { tools, tool_choice: writeChoice(conversation, target, isThinking) };
}

function selectAllowedTools({ tools, toolChoice }: Conversation): Tool[] {
  const allowedNames = toolChoice?.allowed;
  // The format cannot restrict a choice to some of the tools, so the others are omitted.
  return tools.filter((tool) => allowedNames === undefined || !isClientTool(tool) || allowedNames.includes(tool.name));
}

function writeToolList(tools: readonly Tool[], conversation: Conversation, target: EncodeTarget): MessagesTool[] {
  const markedTool = supportsBreakpoints(target.profile) ? findLastBreakpoint(tools) : undefined;
  const clientTools = tools.filter(isClientTool).map((tool) => ({
    ...writeTool(tool, target),
    ...(tool === markedTool && { cache_control: writeCacheControl(conversation) }),
  }));
  const search = tools.find((tool): tool is HostedTool => !isClientTool(tool));
  if (search === undefined) return clientTools;
  const canSearch = target.profile.quirks.hosted_search && clientTools.every(({ name }) => name !== searchName);
  if (canSearch) return [...clientTools, writeMessagesSearchTool(search, target.notes)];
  target.notes.drop(searchName);
  return clientTools;
}

function writeTool(tool: ClientTool, target: EncodeTarget): MessagesTool {
  const { description, schema: inputSchema } = describeAsFunction(tool, target.notes);
  const { schema, strict } = enforceInput(tool, inputSchema, selectSubset(target.profile, 'anthropic'), target);
  return {
    name: target.names.toWire(tool.name, tool.namespace),
    ...(description !== undefined && description !== '' && { description }),
    input_schema: schema,
    ...(strict === true && { strict }),
  };
}

/** Anthropic rejects earlier calls without tools, so their tools are declared. The model may not call them again. */
function declareCalledTools({ items }: Conversation, { names, profile }: EncodeTarget): MessagesRequest {
  if (!profile.capabilities.tools) return {};
  const calls = items.filter((item) => item.type === 'tool_call');
  const calledNames = new Set(calls.map(({ name, namespace }) => names.toWire(name, namespace)));
  if (calledNames.size === 0) return {};
  const description = 'No longer available.';
  return {
    tools: [...calledNames].map((name) => ({ name, description, input_schema: { type: 'object', properties: {} } })),
    tool_choice: { type: 'none' },
  };
}

function writeChoice(
  conversation: Conversation,
  target: EncodeTarget,
  isThinking: boolean,
): MessagesToolChoice | undefined {
  const { toolChoice, parallelToolCalls } = conversation;
  const choice = toolChoice && writeChoiceType(toolChoice, target, isThinking);
  if (parallelToolCalls !== false || choice?.type === 'none') return choice;
  return { type: 'auto', ...choice, disable_parallel_tool_use: true };
}

function writeChoiceType(
  { type, name, namespace }: ToolChoice,
  target: EncodeTarget,
  isThinking: boolean,
): MessagesToolChoice {
  const isForced = type === 'required' || type === 'tool';
  if (!isForced) return { type };
  // Anthropic rejects a forced call together with thinking.
  if (isThinking) {
    target.notes.approximate('forced tool_choice as auto');
    return { type: 'auto' };
  }
  return name === undefined ? { type: 'any' } : { type: 'tool', name: target.names.toWire(name, namespace) };
}
