import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { ClientTool, Conversation, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import { enforceInput } from '../../../canonical/enforce-schema.ts';
import { selectSubset } from '../../../canonical/schema-subsets.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import { describeAsFunction } from '../../../canonical/tools.ts';
import { writeResponsesSearchTool } from '../../../canonical/web-search.ts';
import type { ResponsesRequest, ResponsesTool, ResponsesToolChoice } from '../../../wire/responses.ts';

/**
 * Writes a request's tools and their options. Without tools, both are omitted, because vendors reject an empty list and a choice without a
 * list.
 */
export function writeTools(conversation: Conversation, target: EncodeTarget): ResponsesRequest {
  const { toolChoice } = conversation;
  const isFiltered = !canListAllowed(conversation, target);
  const allowedNames = isFiltered ? new Set(toolChoice?.allowed) : undefined;
  const tools = conversation.tools.filter((tool) => !isClientTool(tool) || allowedNames?.has(tool.name) !== false);
  const writtenTools = writeToolList(tools, target);
  if (writtenTools.length === 0) return {};
  return {
    tools: writtenTools,
    tool_choice: toolChoice && writeChoice(isFiltered ? { type: toolChoice.type } : toolChoice, conversation, target),
    parallel_tool_calls: conversation.parallelToolCalls,
  };
}

/** A choice cannot name tools in a group; tools that are not allowed are then omitted instead. */
function canListAllowed({ tools, toolChoice }: Conversation, target: EncodeTarget): boolean {
  const allowedNames = toolChoice?.allowed;
  if (allowedNames === undefined || !supportsFreeformTools(target)) return true;
  return !tools.some((tool) => isClientTool(tool) && tool.namespace !== undefined && allowedNames.includes(tool.name));
}

/** Returns true if groups, freeform tools and searches can be sent unchanged. Otherwise all become functions. */
export function supportsFreeformTools({ profile }: Pick<EncodeTarget, 'profile'>): boolean {
  return profile.quirks.freeform_tools;
}

function writeToolList(tools: readonly Tool[], target: EncodeTarget): ResponsesTool[] {
  const writtenTools: ResponsesTool[] = [];
  const groups = new Map<string, ResponsesTool[]>();
  for (const tool of tools) {
    if (!isClientTool(tool)) {
      if (target.profile.quirks.hosted_search) writtenTools.push(writeResponsesSearchTool(tool, target.notes));
      else target.notes.drop('web_search');
    } else if (tool.namespace === undefined || !supportsFreeformTools(target))
      writtenTools.push(writeTool(tool, target));
    else {
      let group = groups.get(tool.namespace);
      if (group === undefined) {
        group = [];
        groups.set(tool.namespace, group);
        writtenTools.push(writeGroup(tool.namespace, group));
      }
      group.push(writeTool(tool, target));
    }
  }
  return writtenTools;
}

function writeGroup(name: string, tools: ResponsesTool[]): ResponsesTool {
  return { type: 'namespace', name, description: `Tools of ${name}`, tools };
}

/** Writes a tool's name, relative to its group if the upstream supports groups. */
export function writeToolName(
  { name, namespace }: Pick<ClientTool, 'name' | 'namespace'>,
  target: EncodeTarget,
): string {
  return target.names.toWire(name, supportsFreeformTools(target) ? undefined : namespace);
}

function writeTool(tool: ClientTool, target: EncodeTarget): ResponsesTool {
  const name = writeToolName(tool, target);
  if (tool.form === 'function' || !supportsFreeformTools(target)) return writeFunction(tool, name, target);
  if (tool.form === 'freeform') return writeCustom(tool, name);
  return {
    type: 'tool_search',
    execution: 'client',
    description: tool.description,
    parameters: tool.schema ?? { type: 'object', properties: {} },
  };
}

function writeFunction(tool: ClientTool, name: string, target: EncodeTarget): ResponsesTool {
  const { description, schema: inputSchema } = describeAsFunction(tool, target.notes);
  // `strict` is always set, because OpenAI rejects ordinary schemas under its default, true.
  const { schema, strict = false } = enforceInput(tool, inputSchema, selectSubset(target.profile), target);
  return { type: 'function', name, description, parameters: schema, strict };
}

function writeCustom({ description, grammar }: ClientTool, name: string): ResponsesTool {
  const format = grammar === undefined ? { type: 'text' } : { type: 'grammar', ...grammar };
  return { type: 'custom', name, description, format };
}

function writeChoice(
  choice: ToolChoice,
  conversation: Conversation,
  target: EncodeTarget,
): string | ResponsesToolChoice {
  const { type, name, allowed } = choice;
  if (type === 'tool' && name !== undefined) return writeNamedChoice(choice, conversation, target);
  if (allowed === undefined || type === 'none') return type === 'tool' ? 'required' : type;
  const tools = conversation.tools.filter(isClientTool).filter((tool) => allowed.includes(tool.name));
  return { type: 'allowed_tools', mode: type, tools: tools.map((tool) => writeToolReference(tool, target)) };
}

function writeNamedChoice(
  { name, namespace }: ToolChoice,
  { tools }: Conversation,
  target: EncodeTarget,
): string | ResponsesToolChoice {
  const chosenTool = tools.find((tool) => isClientTool(tool) && tool.name === name && tool.namespace === namespace);
  if (chosenTool !== undefined && isClientTool(chosenTool)) {
    if (namespace === undefined || !supportsFreeformTools(target)) return writeToolReference(chosenTool, target);
    target.notes.approximate('tool_choice for a tool in a group as required');
    return 'required';
  }
  return { type: 'function', name: target.names.toWire(name ?? '', namespace) };
}

function writeToolReference(tool: ClientTool, target: EncodeTarget): ResponsesToolChoice {
  if (tool.form === 'tool_search' && supportsFreeformTools(target)) return { type: 'tool_search' };
  const type = tool.form === 'freeform' && supportsFreeformTools(target) ? 'custom' : 'function';
  return { type, name: writeToolName(tool, target) };
}
