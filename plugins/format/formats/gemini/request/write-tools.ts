import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { ClientTool, Conversation, HostedTool, ToolChoice } from '../../../canonical/conversation.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import { describeAsFunction, wantsEnforcedInput } from '../../../canonical/tools.ts';
import { noteSearchOptions } from '../../../canonical/web-search.ts';
import type {
  GeminiFunctionCallingConfig,
  GeminiFunctionDeclaration,
  GeminiRequest,
  GeminiSchema,
} from '../../../wire/gemini.ts';
import { cleanSchema } from '../schema/clean-schema.ts';

/** Writes a request's tools and tool choice; empty if there are no tools. Source: Gemini API reference, "Tool", "ToolConfig". */
export function writeTools(conversation: Conversation, target: EncodeTarget): GeminiRequest {
  const { capabilities, quirks } = target.profile;
  const { tools, parallelToolCalls, toolChoice } = conversation;
  if (!capabilities.tools) {
    if (tools.length > 0) target.notes.drop('tools');
    return {};
  }
  if (parallelToolCalls === false && tools.length > 0) target.notes.drop('parallel_tool_calls');
  const functions = selectFunctions(conversation);
  const functionDeclarations = functions.map((tool) => writeDeclaration(tool, target));
  const search = tools.find((tool): tool is HostedTool => !isClientTool(tool));
  // Google rejects a search together with functions.
  const hasSearch = quirks.hosted_search && functionDeclarations.length === 0;
  if (search !== undefined && hasSearch) {
    noteSearchOptions(search, [], target.notes);
    return { tools: [{ googleSearch: {} }] };
  }
  if (search !== undefined) target.notes.drop('web_search');
  if (functionDeclarations.length === 0) return {};
  const choice = writeChoice(toolChoice, functions, target);
  return {
    tools: [{ functionDeclarations }],
    ...(choice !== undefined && { toolConfig: { functionCallingConfig: choice } }),
  };
}

function selectFunctions({ tools, toolChoice }: Conversation): ClientTool[] {
  const functions = tools.filter(isClientTool);
  const { type, allowed } = toolChoice ?? {};
  // The format cannot restrict optional calls, so functions that may not be called are omitted.
  return type === 'auto' && allowed !== undefined ? functions.filter(({ name }) => allowed.includes(name)) : functions;
}

function writeDeclaration(tool: ClientTool, target: EncodeTarget): GeminiFunctionDeclaration {
  const { profile, notes, names } = target;
  const { description, schema } = describeAsFunction(tool, notes);
  if (wantsEnforcedInput(tool) && !profile.quirks.strict_tools) notes.drop('strict of tools');
  return {
    name: names.toWire(tool.name, tool.namespace),
    ...(description !== undefined && description !== '' && { description }),
    ...(schema !== undefined && writeParameters(schema, target)),
  };
}

function writeParameters(schema: GeminiSchema, { profile, notes }: EncodeTarget): GeminiFunctionDeclaration {
  const object = schema.type === 'object' ? schema : { properties: {}, ...schema, type: 'object' };
  if (profile.quirks.tool_schema !== 'subset') return { parametersJsonSchema: object };
  const parameters: GeminiSchema = cleanSchema(object, notes);
  // Google rejects the schema of an object without properties.
  return parameters.properties === undefined ? {} : { parameters };
}

function writeChoice(
  choice: ToolChoice | undefined,
  functions: readonly ClientTool[],
  target: EncodeTarget,
): GeminiFunctionCallingConfig | undefined {
  const isStrict = target.profile.quirks.strict_tools && functions.some(wantsEnforcedInput);
  if (choice?.type === 'none') return { mode: 'NONE' };
  if (choice === undefined || choice.type === 'auto') {
    return isStrict ? { mode: 'VALIDATED' } : choice && { mode: 'AUTO' };
  }
  const allowedFunctionNames = listAllowedNames(choice, functions, target);
  return { mode: 'ANY', ...(allowedFunctionNames.length > 0 && { allowedFunctionNames }) };
}

function listAllowedNames(choice: ToolChoice, functions: readonly ClientTool[], { names }: EncodeTarget): string[] {
  const { name, namespace, allowed } = choice;
  if (name !== undefined) return [names.toWire(name, namespace)];
  if (allowed === undefined) return [];
  return functions.filter((tool) => allowed.includes(tool.name)).map((tool) => names.toWire(tool.name, tool.namespace));
}
