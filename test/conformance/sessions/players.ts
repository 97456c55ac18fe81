import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { JsonValue } from '#core/platform/json.ts';
import { parseInput, type Result } from '../conversation.ts';
import { type Step, system, tools } from './script.ts';

/** What a client has read of an answer. */
export interface Heard {
  /** Of the answer. */
  readonly id: string;
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: JsonValue }[];
  readonly input: number; // tokens, cached ones included
  readonly output: number; // tokens, reasoning included
}

/** A client with the history of its session, which it keeps as its SDK gives it. */
export type Player = (step: Step) => Promise<Heard>;

export interface Place {
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

/** Official SDKs by their format and how they keep the conversation. */
export const players: Readonly<Record<string, (place: Place) => Player>> = {
  'openai chat': playChat,
  'openai responses': (place) => playResponses(place, false),
  'openai stored responses': (place) => playResponses(place, true),
  'anthropic messages': playMessages,
  'google generateContent': playGemini,
};

const source = (data: string) => ({ type: 'base64', media_type: 'image/png', data }) as const;
const inlineData = (data: string) => ({ inlineData: { mimeType: 'image/png', data } });

/** OpenAI's formats have no mark for a result that is an error. */
function failed({ text, isError }: Result): string {
  return isError === true ? `Error: ${text}` : text;
}

function playChat({ url, key, model }: Place): Player {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: system }];
  return async ({ text, image, results = [], wantsSearch, effort, schema, isStream }) => {
    for (const result of results) messages.push({ role: 'tool', tool_call_id: result.id, content: failed(result) });
    if (text !== undefined)
      messages.push({
        role: 'user',
        content: [
          { type: 'text', text },
          ...(image === undefined
            ? []
            : [{ type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } } as const]),
        ],
      });
    const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model,
      messages,
      tools: tools.map(({ name, description, schema: parameters = {} }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
      ...(wantsSearch === true && { web_search_options: {} }),
      ...(effort && { reasoning_effort: effort }),
      ...(schema && {
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      }),
    };
    const completion = isStream ? await streamed(client, body) : await client.chat.completions.create(body);
    const message = completion.choices[0]?.message as Message;
    messages.push(message);
    return {
      id: completion.id,
      text: message.content ?? '',
      thought: message.reasoning_content ?? '',
      calls: (message.tool_calls ?? []).flatMap((call) =>
        call.type === 'function'
          ? [{ id: call.id, name: call.function.name, input: parseInput(call.function.arguments) }]
          : [],
      ),
      input: completion.usage?.prompt_tokens ?? 0,
      output: completion.usage?.completion_tokens ?? 0,
    };
  };
}

type Message = OpenAI.ChatCompletionMessage & { reasoning_content?: string };

/** The SDK's helper keeps the last piece of members that it does not know. */
async function streamed(
  client: OpenAI,
  body: OpenAI.ChatCompletionCreateParamsNonStreaming,
): Promise<OpenAI.ChatCompletion> {
  const runner = client.chat.completions.stream({ ...body, stream_options: { include_usage: true } } as never);
  let thought = '';
  runner.on('chunk', ({ choices: [choice] }) => {
    const delta = (choice?.delta ?? {}) as { reasoning_content?: string };
    thought += delta.reasoning_content ?? '';
  });
  const completion = await runner.finalChatCompletion();
  const message = completion.choices[0]?.message as Message | undefined;
  if (thought !== '' && message !== undefined) message.reasoning_content = thought;
  return completion;
}

/** @param isStored the gateway keeps the conversation */
function playResponses({ url, key, model }: Place, isStored: boolean): Player {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  let input: OpenAI.Responses.ResponseInputItem[] = [];
  let previous: string | undefined;
  return async ({ text, image, results = [], wantsSearch, effort, schema, isStream }) => {
    if (isStored) input = [];
    for (const result of results) {
      const shown = {
        type: 'input_image',
        image_url: `data:image/png;base64,${result.image}`,
        detail: 'auto',
      } as const;
      const output: OpenAI.Responses.ResponseInputItem.FunctionCallOutput['output'] =
        result.image === undefined ? failed(result) : [{ type: 'input_text', text: result.text }, shown];
      input.push({ type: 'function_call_output', call_id: result.id, output });
    }
    if (text !== undefined)
      input.push({
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text },
          ...(image === undefined
            ? []
            : [{ type: 'input_image', image_url: `data:image/png;base64,${image}`, detail: 'auto' } as const]),
        ],
      });
    const body: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
      model,
      instructions: system,
      input,
      tools: [
        ...tools.map(
          ({ name, description, schema: parameters = {} }) =>
            ({ type: 'function', name, description, parameters, strict: false }) as const,
        ),
        ...(wantsSearch === true ? [{ type: 'web_search' } as const] : []),
      ],
      ...(effort && { reasoning: { effort, summary: 'auto' } }),
      ...(schema && { text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } } }),
      ...(isStored
        ? { previous_response_id: previous ?? null }
        : { store: false, include: ['reasoning.encrypted_content'] }),
    };
    const response = isStream
      ? await client.responses.stream(body as never).finalResponse()
      : await client.responses.create(body);
    previous = response.id;
    input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
    return {
      id: response.id,
      text: response.output_text,
      thought: response.output
        .flatMap((item) => (item.type === 'reasoning' ? item.summary.map((part) => part.text) : []))
        .join(''),
      calls: response.output.flatMap((item) =>
        item.type === 'function_call' ? [{ id: item.call_id, name: item.name, input: parseInput(item.arguments) }] : [],
      ),
      input: response.usage?.input_tokens ?? 0,
      output: response.usage?.output_tokens ?? 0,
    };
  };
}

function playMessages({ url, key, model }: Place): Player {
  const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [];
  return async ({ text, image, results = [], wantsSearch, effort, schema, isStream }) => {
    const content: Anthropic.ContentBlockParam[] = results.map((result) => ({
      type: 'tool_result',
      tool_use_id: result.id,
      is_error: result.isError === true,
      content: [
        { type: 'text', text: result.text },
        ...(result.image === undefined ? [] : [{ type: 'image', source: source(result.image) } as const]),
      ],
    }));
    if (text !== undefined) content.push({ type: 'text', text });
    if (image !== undefined) content.push({ type: 'image', source: source(image) });
    messages.push({ role: 'user', content });
    const body: Anthropic.MessageCreateParamsNonStreaming = {
      model,
      max_tokens: 8_000,
      system,
      messages,
      tools: [
        ...tools.map(({ name, description, schema: input_schema }) => ({
          name,
          description,
          input_schema: input_schema as unknown as Anthropic.Tool.InputSchema,
        })),
        ...(wantsSearch === true ? [{ type: 'web_search_20250305', name: 'web_search' } as const] : []),
      ],
      ...(effort && { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } }),
      ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
    };
    const message = isStream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
    messages.push({ role: 'assistant', content: message.content });
    const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written } = message.usage;
    return {
      id: message.id,
      text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      thought: message.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
      calls: message.content.flatMap((block) =>
        block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input as JsonValue }] : [],
      ),
      input: fresh + (read ?? 0) + (written ?? 0),
      output: message.usage.output_tokens,
    };
  };
}

function playGemini({ url, key, model }: Place): Player {
  type Part = { [name: string]: unknown };
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
  const contents: { role: string; parts: Part[] }[] = [];
  const names = new Map<string, string>();
  return async ({ text, image, results = [], wantsSearch, effort, schema, isStream }) => {
    const parts: Part[] = results.map((result) => ({
      functionResponse: {
        id: result.id,
        name: names.get(result.id),
        response: result.isError === true ? { error: result.text } : { output: result.text },
        ...(result.image !== undefined && { parts: [inlineData(result.image)] }),
      },
    }));
    if (text !== undefined) parts.push({ text });
    if (image !== undefined) parts.push(inlineData(image));
    contents.push({ role: 'user', parts });
    const request = {
      model,
      contents,
      config: {
        systemInstruction: system,
        tools: [
          {
            functionDeclarations: tools.map(({ name, description, schema: parametersJsonSchema }) => ({
              name,
              description,
              parametersJsonSchema,
            })),
          },
          ...(wantsSearch === true ? [{ googleSearch: {} }] : []),
        ],
        ...(effort && { thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } }),
        ...(schema && { responseMimeType: 'application/json', responseJsonSchema: schema }),
      },
    } as Parameters<typeof client.models.generateContent>[0];
    const chunks = isStream
      ? await Array.fromAsync(await client.models.generateContentStream(request))
      : [await client.models.generateContent(request)];
    const given = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    contents.push({ role: 'model', parts: given as Part[] });
    const calls = given.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall]));
    for (const { id = '', name = '' } of calls) names.set(id, name);
    const last = chunks.at(-1);
    const usage = last?.usageMetadata;
    return {
      id: last?.responseId ?? '',
      text: given.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join(''),
      thought: given.map((part) => (part.thought === true ? (part.text ?? '') : '')).join(''),
      calls: calls.map(({ id = '', name = '', args = {} }) => ({ id, name, input: args as JsonValue })),
      input: (usage?.promptTokenCount ?? 0) + (usage?.toolUsePromptTokenCount ?? 0),
      output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    };
  };
}
