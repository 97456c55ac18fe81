import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import {
  member,
  objectsIn,
  type Prompt,
  readList,
  readModel,
  textMember,
  textOf,
  type Tool,
  type ToolChoice,
  type Turn,
} from './prompt.ts';
import { countTokens } from './tokens.ts';

/** What the demo understands of a Messages request. @throws BadRequest */
export function readMessagesPrompt(body: JsonObject, maxTokens: number | undefined): Prompt {
  const messages = readList(body, 'messages');
  const thinking = textMember(body['thinking'], 'type');
  const format = member(body['output_config'], 'format') ?? body['output_format'];
  return {
    model: readModel(body),
    isStream: body['stream'] === true,
    turns: readTurns(messages),
    tools: objectsIn(body['tools']).flatMap(readTool),
    toolChoice: readToolChoice(body['tool_choice']),
    allowsParallelCalls: member(body['tool_choice'], 'disable_parallel_tool_use') !== true,
    wantsReasoning: thinking === '' ? undefined : thinking !== 'disabled',
    schema: textMember(format, 'type') === 'json_schema' ? asSchema(member(format, 'schema')) : undefined,
    maxTokens,
    inputTokens: countTokens([...messages]) + countTokens(body['system']) + countTokens(body['tools']),
  };
}

function readTurns(messages: readonly JsonObject[]): Turn[] {
  const blocks = messages.flatMap(({ content }) => objectsIn(content));
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  const names = new Map(calls.map((call) => [call['id'], textMember(call, 'name')]));
  return messages.flatMap(({ role, content }): Turn[] => {
    if (role === 'assistant') return [{ role, text: textOf(content) }];
    return role === 'user' ? readUserTurns(content, names) : [];
  });
}

/** Results of tools stand in a user's message; what the user adds to them comes first here, so that they stay last. */
function readUserTurns(content: JsonValue | undefined, names: ReadonlyMap<JsonValue | undefined, string>): Turn[] {
  if (typeof content === 'string') return [{ role: 'user', text: content }];
  const blocks = objectsIn(content);
  const text = textOf(blocks.filter(({ type }) => type !== 'tool_result'));
  const results = blocks.filter(({ type }) => type === 'tool_result');
  return [
    ...(text === '' ? [] : [{ role: 'user', text } as const]),
    ...results.map((result): Turn => ({
      role: 'tool',
      text: textOf(result['content']),
      tool: names.get(result['tool_use_id']),
      isError: result['is_error'] === true,
    })),
  ];
}

/** Only tools of the client: the others have no schema of their own. */
function readTool({ name, input_schema: schema }: JsonObject): Tool[] {
  return typeof name === 'string' && isJsonObject(schema) ? [{ name, schema }] : [];
}

function readToolChoice(choice: JsonValue | undefined): ToolChoice {
  const type = textMember(choice, 'type');
  if (type === 'none') return { mode: 'none' };
  if (type === 'any') return { mode: 'required' };
  return type === 'tool' ? { mode: 'required', names: [textMember(choice, 'name')] } : { mode: 'auto' };
}

function asSchema(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
