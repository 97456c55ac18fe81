import Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { toolResults } from './aimock.ts';
import type { SdkGateway } from './sdk-gateway.ts';

/* The same actions through each format's SDK. */

export interface Surface {
  whole(gateway: SdkGateway, model: string, text: string): Promise<object>;
  folded(gateway: SdkGateway, model: string, text: string): Promise<object>; // streamed, assembled by the SDK's own helper
  /** Asks for the weather, runs the called tools and returns their results. Resolves with the final text. */
  converse(gateway: SdkGateway, model: string): Promise<string>;
}

const schemas = {
  get_weather: {
    type: 'object' as const,
    properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'kelvin'] } },
    required: ['city'],
  },
  list_cities: { type: 'object' as const, properties: {} },
};
const names = Object.keys(schemas) as (keyof typeof schemas)[];

export const chatTools: OpenAI.ChatCompletionTool[] = names.map((name) => ({
  type: 'function',
  function: { name, parameters: schemas[name] },
}));
export const responsesTools: OpenAI.Responses.Tool[] = names.map((name) => ({
  type: 'function',
  name,
  parameters: schemas[name],
  strict: false,
}));
export const messagesTools: Anthropic.Tool[] = names.map((name) => ({ name, input_schema: schemas[name] }));

function getToolResult(name: string): string {
  return toolResults[name as keyof typeof toolResults];
}

const chat: Surface = {
  whole: ({ openai }, model, text) => openai.chat.completions.create(chatRequest(model, text)),
  async folded({ openai }, model, text) {
    const stream = openai.chat.completions.stream({
      ...chatRequest(model, text),
      stream_options: { include_usage: true },
    });
    // The SDK joins the deltas of fields that it knows and keeps only the last of any other, such as DeepSeek's reasoning_content.
    let reasoning = '';
    stream.on('chunk', ({ choices: [choice] }) => {
      reasoning += (choice?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '';
    });
    const completion = await stream.finalChatCompletion();
    const message = completion.choices[0]?.message;
    if (message !== undefined && reasoning !== '') Object.assign(message, { reasoning_content: reasoning });
    return completion;
  },
  async converse({ openai }, model) {
    const request = chatRequest(model, 'weather');
    const first = (await openai.chat.completions.create(request)).choices[0]?.message;
    if (first === undefined) throw new Error('no choice');
    const results = (first.tool_calls ?? []).map((call) => ({
      role: 'tool' as const,
      tool_call_id: call.id,
      content: call.type === 'function' ? getToolResult(call.function.name) : '',
    }));
    const second = { ...request, messages: [...request.messages, first, ...results] };
    return (await openai.chat.completions.create(second)).choices[0]?.message.content ?? '';
  },
};

function chatRequest(model: string, text: string) {
  return { model, messages: [{ role: 'user' as const, content: text }], tools: chatTools };
}

const responses: Surface = {
  whole: ({ openai }, model, text) => openai.responses.create({ model, input: text, tools: responsesTools }),
  folded: ({ openai }, model, text) =>
    openai.responses.stream({ model, input: text, tools: responsesTools }).finalResponse(),
  async converse({ openai }, model) {
    const request = { model, tools: responsesTools };
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'weather' }];
    const { output } = await openai.responses.create({ ...request, input });
    const results = runResponsesCalls(output);
    const second = [...input, ...(output as OpenAI.Responses.ResponseInputItem[]), ...results];
    return (await openai.responses.create({ ...request, input: second })).output_text;
  },
};

export function runResponsesCalls(
  output: OpenAI.Responses.ResponseOutputItem[],
): OpenAI.Responses.ResponseInputItem.FunctionCallOutput[] {
  return output
    .filter((item) => item.type === 'function_call')
    .map(({ call_id, name }) => ({ type: 'function_call_output', call_id, output: getToolResult(name) }));
}

function messagesRequest(model: string, messages: Anthropic.MessageParam[]) {
  return { model, max_tokens: 100, messages, tools: messagesTools, thinking: { type: 'adaptive' as const } };
}

function createUserMessage(text: string): Anthropic.MessageParam {
  return { role: 'user', content: text };
}

export function messagesSurface(sdk: typeof Anthropic): Surface {
  return {
    whole: (gateway, model, text) =>
      gateway.anthropic(sdk).messages.create(messagesRequest(model, [createUserMessage(text)])),
    folded: (gateway, model, text) =>
      gateway
        .anthropic(sdk)
        .messages.stream(messagesRequest(model, [createUserMessage(text)]))
        .finalMessage(),
    async converse(gateway, model) {
      const client = gateway.anthropic(sdk);
      const { content } = await client.messages.create(messagesRequest(model, [createUserMessage('weather')]));
      const results = content
        .filter((block) => block.type === 'tool_use')
        .map(({ id, name }) => ({ type: 'tool_result' as const, tool_use_id: id, content: getToolResult(name) }));
      const turns: Anthropic.MessageParam[] = [
        createUserMessage('weather'),
        { role: 'assistant', content },
        { role: 'user', content: results },
      ];
      const last = await client.messages.create(messagesRequest(model, turns));
      return last.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    },
  };
}

export const surfaces = { chat, responses, messages: messagesSurface(Anthropic) } as const;

const ownIds = /^(?:chatcmpl|resp|msg|rs|fc|req)[-_]/;
/** Opaque reasoning state after the gateway's tag. The mock creates it from random ids. */
const state = /^(dps1[^.]*\.).*$/;
const dates = new Set(['created', 'created_at', 'completed_at']);
const helperMembers = new Set(['parsed', 'parsed_arguments', 'parsed_output', 'output_parsed', '_request_id']);

/**
 * Removes what differs from one answer to the next: ids (except those of calls), dates, the content of states, and what the SDK's helpers
 * add.
 */
export function comparable(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, dropVarying));
}

function dropVarying(key: string, value: unknown): unknown {
  if (dates.has(key) || helperMembers.has(key)) return undefined;
  if (typeof value !== 'string') return value;
  return key === 'id' && ownIds.test(value) ? undefined : value.replace(state, '$1');
}
