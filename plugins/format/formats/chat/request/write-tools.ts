import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { ClientTool, Conversation, Tool, ToolChoice, ToolForm } from '../../../canonical/conversation.ts';
import { enforceInput } from '../../../canonical/enforce-schema.ts';
import { selectSubset } from '../../../canonical/schema-subsets.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import { describeAsFunction } from '../../../canonical/tools.ts';
import type { ChatRequest, ChatTool, ChatToolChoice } from '../../../wire/chat.ts';

/**
 * Writes a request's tools and their options. Returns an empty object if there are none, because vendors reject an empty list and a choice
 * without tools. Source: OpenAI API reference, "Create chat completion", `tools`.
 */
export function writeTools(conversation: Conversation, target: EncodeTarget): ChatRequest {
  const tools = selectTools(conversation, target);
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => writeTool(tool, target)),
    tool_choice: writeChoice(conversation.toolChoice, tools, target),
    parallel_tool_calls: conversation.parallelToolCalls,
  };
}

function selectTools({ tools, toolChoice }: Conversation, { notes }: EncodeTarget): ClientTool[] {
  if (!tools.every(isClientTool)) notes.drop('web_search');
  const allowedNames = toolChoice?.allowed;
  if (allowedNames !== undefined) notes.approximate('allowed tools as the only ones');
  // Only OpenAI can forbid calls to listed tools, so tools that may not be called are omitted.
  return tools.filter((tool: Tool) => isClientTool(tool)).filter(({ name }) => allowedNames?.includes(name) !== false);
}

/** Returns true if a freeform tool can be sent unchanged. Otherwise it becomes a function. */
export function isSentFreeform(form: ToolForm, { profile }: Pick<EncodeTarget, 'profile'>): boolean {
  return form === 'freeform' && profile.quirks.freeform_tools;
}

function writeTool(tool: ClientTool, target: EncodeTarget): ChatTool {
  const name = target.names.toWire(tool.name, tool.namespace);
  if (isSentFreeform(tool.form, target)) return writeCustom(tool, name);
  const { description, schema: inputSchema } = describeAsFunction(tool, target.notes);
  const { schema, strict } = enforceInput(tool, inputSchema, selectSubset(target.profile), target);
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: schema,
      ...(strict !== undefined && { strict }),
    },
  };
}

function writeCustom({ description, grammar }: ClientTool, name: string): ChatTool {
  const format = grammar === undefined ? { type: 'text' } : { type: 'grammar', grammar: { ...grammar } };
  return { type: 'custom', custom: { name, description, format } };
}

function writeChoice(
  choice: ToolChoice | undefined,
  tools: readonly ClientTool[],
  target: EncodeTarget,
): string | ChatToolChoice | undefined {
  if (choice === undefined) return undefined;
  const { type, name, namespace } = choice;
  if (type !== 'tool') return type;
  if (name === undefined) return 'required';
  const chosen = tools.find((tool) => tool.name === name && tool.namespace === namespace);
  const kind = chosen !== undefined && isSentFreeform(chosen.form, target) ? 'custom' : 'function';
  return { type: kind, [kind]: { name: target.names.toWire(name, namespace) } };
}
