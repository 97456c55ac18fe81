import { isJsonObject, type JsonObject, type JsonValue, listObjects, readMember } from '#core/platform/json.ts';
import { ChatRequestError } from './chat-error.ts';
import { describePicture } from './picture.ts';
import { estimateTokens } from './tokens.ts';

export interface DemoRequest {
  readonly model: string;
  readonly isStream: boolean;
  readonly includesUsage: boolean;
  readonly messages: readonly DemoMessage[]; // without instructions, which the demo ignores
  readonly tools: readonly DemoTool[];
  readonly allowedTools: readonly string[] | undefined; // undefined if all may be called
  readonly toolMode: 'auto' | 'none' | 'required';
  readonly allowsParallelCalls: boolean;
  readonly wantsReasoning: boolean | undefined; // undefined if the request does not say; the prompt then decides
  readonly schema: JsonObject | undefined; // JSON Schema that the answer must satisfy
  readonly maxTokens: number | undefined;
  readonly stops: readonly string[]; // the answer ends before the first one
  readonly inputTokens: number;
}

export interface DemoMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly tool?: string | undefined; // for a tool result, the tool that returned it
}

export interface DemoTool {
  readonly name: string;
  readonly schema: JsonObject; // JSON Schema of the arguments
}

/** Source: OpenAI API reference, "Chat". Throws ChatRequestError for a missing or malformed field. */
export function parseChatRequest(body: JsonObject): DemoRequest {
  const { model, messages, tools, n } = body;
  if (typeof model !== 'string' || model === '') throw new ChatRequestError('`model` must be a string.', 'model');
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isJsonObject))
    throw new ChatRequestError('`messages` must be a list with at least one message.', 'messages');
  if (typeof n === 'number' && n !== 1) throw new ChatRequestError('`n` must be 1.', 'n');
  const effort = body['reasoning_effort'];
  return {
    model,
    isStream: body['stream'] === true,
    includesUsage: readMember(body['stream_options'], 'include_usage') === true,
    messages: readMessages(messages),
    tools: listObjects(tools).flatMap(readTool),
    ...readToolChoice(body['tool_choice']),
    allowsParallelCalls: body['parallel_tool_calls'] !== false,
    wantsReasoning: typeof effort === 'string' ? effort !== 'none' : undefined,
    schema: readSchema(body['response_format']),
    maxTokens: readLimit(body, 'max_completion_tokens') ?? readLimit(body, 'max_tokens'),
    stops: [body['stop']].flat().filter((stop) => typeof stop === 'string' && stop !== '') as string[],
    inputTokens: estimateTokens(messages) + estimateTokens(tools),
  };
}

export function findLastUserText({ messages }: DemoRequest): string {
  return messages.findLast(({ role }) => role === 'user')?.text ?? '';
}

export function findLatestToolResults({ messages }: DemoRequest): readonly DemoMessage[] {
  return messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1);
}

function readMessages(messages: readonly JsonObject[]): DemoMessage[] {
  const calls = messages.flatMap((message) => listObjects(message['tool_calls']));
  const names = new Map(calls.map((call) => [call['id'], readName(call['function'])]));
  return messages.flatMap(({ role, content, tool_call_id: id }): DemoMessage[] => {
    if (role === 'tool') return [{ role, text: joinText(content), tool: names.get(id) }];
    return role === 'user' || role === 'assistant' ? [{ role, text: joinText(content) }] : [];
  });
}

/** An image becomes its description, any other part without text its type. */
function joinText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return listObjects(content)
    .map(({ text, type, image_url: image }) => {
      if (typeof text === 'string') return text;
      const colours = type === 'image_url' ? describePicture(readMember(image, 'url')) : undefined;
      return colours === undefined ? `[${typeof type === 'string' ? type : 'part'}]` : `[picture of ${colours}]`;
    })
    .join('\n');
}

function readTool({ function: definition }: JsonObject): DemoTool[] {
  const name = readName(definition);
  const parameters = readMember(definition, 'parameters');
  return name === '' ? [] : [{ name, schema: isJsonObject(parameters) ? parameters : {} }];
}

function readToolChoice(choice: JsonValue | undefined): Pick<DemoRequest, 'toolMode' | 'allowedTools'> {
  if (choice === 'none' || choice === 'required') return { toolMode: choice, allowedTools: undefined };
  const namedFunction = readMember(choice, 'function');
  if (namedFunction !== undefined) return { toolMode: 'required', allowedTools: [readName(namedFunction)] };
  const allowedChoice = readMember(choice, 'allowed_tools');
  if (allowedChoice === undefined) return { toolMode: 'auto', allowedTools: undefined };
  return {
    toolMode: readMember(allowedChoice, 'mode') === 'required' ? 'required' : 'auto',
    allowedTools: listObjects(readMember(allowedChoice, 'tools')).map((tool) => readName(tool['function'])),
  };
}

function readSchema(format: JsonValue | undefined): JsonObject | undefined {
  const type = readMember(format, 'type');
  if (type === 'json_object') return { type: 'object', properties: { demo: { type: 'string' } } };
  if (type !== 'json_schema') return undefined;
  const schema = readMember(readMember(format, 'json_schema'), 'schema');
  return isJsonObject(schema) ? schema : {};
}

function readLimit(body: JsonObject, name: string): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new ChatRequestError(`\`${name}\` must be a positive integer.`, name);
}

function readName(definition: JsonValue | undefined): string {
  const name = readMember(definition, 'name');
  return typeof name === 'string' ? name : '';
}
