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

/** What the demo understands of a Chat Completions request. @throws BadRequest */
export function readChatPrompt(body: JsonObject): Prompt {
  const messages = readList(body, 'messages');
  if (typeof body['n'] === 'number' && body['n'] !== 1)
    throw new BadRequest('the demo has only one choice to offer', 'n');
  const effort = body['reasoning_effort'];
  return {
    model: readModel(body),
    isStream: body['stream'] === true,
    turns: readTurns(messages),
    tools: objectsIn(body['tools']).flatMap(readTool),
    toolChoice: readToolChoice(body['tool_choice']),
    allowsParallelCalls: body['parallel_tool_calls'] !== false,
    wantsReasoning: typeof effort === 'string' ? effort !== 'none' : undefined,
    schema: readSchema(body['response_format']),
    maxTokens: readLimit(body, 'max_completion_tokens') ?? readLimit(body, 'max_tokens'),
    inputTokens: countTokens(messages as JsonObject[]) + countTokens(body['tools']),
  };
}

function readTurns(messages: readonly JsonObject[]): Turn[] {
  const calls = messages.flatMap((message) => objectsIn(message['tool_calls']));
  const names = new Map(calls.map((call) => [call['id'], textMember(call['function'] ?? call['custom'], 'name')]));
  return messages.flatMap(({ role, content, tool_call_id: id }): Turn[] => {
    if (role === 'tool') return [{ role, text: textOf(content), tool: names.get(id) }];
    return role === 'user' || role === 'assistant' ? [{ role, text: textOf(content) }] : [];
  });
}

function readTool({ type, function: definition, custom }: JsonObject): Tool[] {
  const name = textMember(type === 'custom' ? custom : definition, 'name');
  if (name === '') return [];
  if (type === 'custom') return [{ name, schema: undefined }];
  const parameters = member(definition, 'parameters');
  return [{ name, schema: isJsonObject(parameters) ? parameters : {} }];
}

function readToolChoice(choice: JsonValue | undefined): ToolChoice {
  if (choice === 'none' || choice === 'required') return { mode: choice };
  const type = textMember(choice, 'type');
  if (type === 'function' || type === 'custom')
    return { mode: 'required', names: [textMember(member(choice, type), 'name')] };
  if (type !== 'allowed_tools') return { mode: 'auto' };
  const allowed = member(choice, 'allowed_tools');
  const names = objectsIn(member(allowed, 'tools')).map((tool) =>
    textMember(tool['function'] ?? tool['custom'], 'name'),
  );
  return { mode: member(allowed, 'mode') === 'required' ? 'required' : 'auto', names };
}

function readSchema(format: JsonValue | undefined): JsonObject | undefined {
  const type = textMember(format, 'type');
  if (type === 'json_object') return { type: 'object', properties: { demo: { type: 'string' } } };
  if (type !== 'json_schema') return undefined;
  const schema = member(member(format, 'json_schema'), 'schema');
  return isJsonObject(schema) ? schema : {};
}
