import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import {
  BadRequest,
  member,
  objectsIn,
  type Prompt,
  readLimit,
  readList,
  readModel,
  textMember,
  textOf,
  type Tool,
  type ToolChoice,
  type Turn,
} from './prompt.ts';
import { countTokens } from './tokens.ts';

/** What the demo understands of a Responses request. @throws BadRequest */
export function readResponsesPrompt(body: JsonObject): Prompt {
  const { input } = body;
  if (body['previous_response_id'] !== undefined && body['previous_response_id'] !== null)
    throw new BadRequest('the demo remembers nothing; send the conversation as input', 'previous_response_id');
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : readList(body, 'input');
  const effort = member(body['reasoning'], 'effort');
  return {
    model: readModel(body),
    isStream: body['stream'] === true,
    turns: readTurns(items),
    tools: objectsIn(body['tools']).flatMap(readTools),
    toolChoice: readToolChoice(body['tool_choice']),
    allowsParallelCalls: body['parallel_tool_calls'] !== false,
    wantsReasoning: typeof effort === 'string' ? effort !== 'none' : undefined,
    schema: readSchema(member(body['text'], 'format')),
    maxTokens: readLimit(body, 'max_output_tokens'),
    inputTokens: countTokens([...items]) + countTokens(body['instructions']) + countTokens(body['tools']),
  };
}

function readTurns(items: readonly JsonObject[]): Turn[] {
  const calls = items.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call');
  const names = new Map(calls.map((call) => [call['call_id'], textMember(call, 'name')]));
  return items.flatMap(({ type, role, content, output, call_id: id }): Turn[] => {
    if (type === 'function_call_output' || type === 'custom_tool_call_output')
      return [{ role: 'tool', text: textOf(output), tool: names.get(id) }];
    if (type === 'function_call' || type === 'custom_tool_call') return [{ role: 'assistant', text: '' }];
    return role === 'user' || role === 'assistant' ? [{ role, text: textOf(content) }] : [];
  });
}

/** Hosted tools are left out: the demo runs nothing. */
function readTools({ type, name, parameters, tools }: JsonObject): Tool[] {
  if (typeof name !== 'string') return [];
  if (type === 'namespace')
    return objectsIn(tools)
      .flatMap(readTools)
      .map((tool) => ({ ...tool, namespace: name }));
  if (type === 'custom') return [{ name, schema: undefined }];
  return type === 'function' ? [{ name, schema: isJsonObject(parameters) ? parameters : {} }] : [];
}

function readToolChoice(choice: JsonValue | undefined): ToolChoice {
  if (choice === 'none' || choice === 'required') return { mode: choice };
  const type = textMember(choice, 'type');
  if (type === 'function' || type === 'custom') return { mode: 'required', names: [textMember(choice, 'name')] };
  if (type !== 'allowed_tools') return { mode: 'auto' };
  const names = objectsIn(member(choice, 'tools')).map((tool) => textMember(tool, 'name'));
  return { mode: member(choice, 'mode') === 'required' ? 'required' : 'auto', names };
}

function readSchema(format: JsonValue | undefined): JsonObject | undefined {
  const type = textMember(format, 'type');
  if (type === 'json_object') return { type: 'object', properties: { demo: { type: 'string' } } };
  if (type !== 'json_schema') return undefined;
  const schema = member(format, 'schema');
  return isJsonObject(schema) ? schema : {};
}
