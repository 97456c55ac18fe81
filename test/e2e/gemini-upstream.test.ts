import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import type { FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';
import { createGeminiUpstream, ownSignature } from '../support/gemini-upstream.ts';

let upstream: FaultyUpstream;
let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  upstream = await createGeminiUpstream();
  const base = `${upstream.url}/v1beta`;
  const yaml = `${wholePipeline}
upstreams: { google: { vendor: gemini, base_url: "${base}", api_keys: [key-there] } }
models: { test: { routes: [google/gemini-3-there] } }
`;
  gateway = await startGateway({ yaml });
  openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** The contents of the last request whose text contains the mark. */
function sentWith(mark: string): { role: string; parts: JsonObject[] }[] {
  const request = upstream.requests.findLast(({ body }) => body.includes(mark));
  return request?.json<{ contents: { role: string; parts: JsonObject[] }[] }>().contents ?? [];
}

const parameters = { type: 'object', properties: { at: { type: 'string' } } } as const;
const names = ['look', 'wait'] as const;
/** The results of the two calls as the upstream receives them. */
const responses = [{ result: 'blue' }, { error: 'no clock' }];
const responsesOf = (mark: string) =>
  (sentWith(mark)[2]?.parts ?? []).map(({ functionResponse }) => (functionResponse as JsonObject)['response']);
const signatureOf = (mark: string) =>
  sentWith(mark)[1]
    ?.parts.map((part) => part['thoughtSignature'])
    .find((signature) => signature !== undefined);

describe.each([true, false])('a Chat client of a Gemini upstream, streaming: %s', (isStream) => {
  async function ask(messages: OpenAI.ChatCompletionMessageParam[]): Promise<OpenAI.ChatCompletion> {
    const tools = names.map((name) => ({ type: 'function' as const, function: { name, parameters } }));
    const body = { model: 'test', messages, tools };
    return isStream
      ? openai.chat.completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
      : openai.chat.completions.create(body);
  }

  it('calls two tools and gets an answer to their results', async () => {
    const mark = `chat ${isStream}`;
    const question = { role: 'user' as const, content: mark };
    const first = await ask([question]);
    const message = first.choices[0]?.message;
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    expect(message?.content).toBe('Let me look.');
    expect(message?.tool_calls).toMatchObject([
      { id: 'fc_1', function: { name: 'look', arguments: '{"at":"sky"}' } },
      { id: 'fc_2', function: { name: 'wait', arguments: '{}' } },
    ]);
    expect(first.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 });
    const { content = null, tool_calls = [] } = message ?? {};
    const second = await ask([
      question,
      { role: 'assistant', content, tool_calls },
      { role: 'tool', tool_call_id: 'fc_2', content: 'no clock' },
      { role: 'tool', tool_call_id: 'fc_1', content: 'blue' },
    ]);
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Grüße you' } });
    expect(responsesOf(mark)).toEqual([{ result: 'blue' }, { result: 'no clock' }]);
    // Chat clients return no reasoning; the gateway has kept it.
    expect(signatureOf(mark)).toBe(ownSignature);
  });
});

describe.each([true, false])('a Responses client of a Gemini upstream, streaming: %s', (isStream) => {
  async function ask(input: OpenAI.Responses.ResponseInput): Promise<OpenAI.Responses.Response> {
    const tools = names.map((name) => ({
      type: 'function' as const,
      name,
      parameters: { ...parameters },
      strict: false,
    }));
    const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content'];
    const body = { model: 'test', input, tools, include, store: false };
    return isStream ? openai.responses.stream(body).finalResponse() : openai.responses.create(body);
  }

  it('calls two tools and gets an answer to their results', async () => {
    const mark = `responses ${isStream}`;
    const question = { role: 'user' as const, content: mark };
    const first = await ask([question]);
    expect(first.output.map(({ type }) => type)).toEqual([
      'reasoning',
      'message',
      'reasoning',
      'function_call',
      'function_call',
    ]);
    const second = await ask([
      question,
      ...(first.output as OpenAI.Responses.ResponseInput),
      { type: 'function_call_output', call_id: 'fc_1', output: 'blue' },
      { type: 'function_call_output', call_id: 'fc_2', output: 'no clock' },
    ]);
    expect(second.output_text).toBe('Grüße you');
    expect(second.usage).toMatchObject({ input_tokens: 20, output_tokens: 9, total_tokens: 29 });
    expect(signatureOf(mark)).toBe(ownSignature);
  });
});

describe.each([true, false])('a Messages client of a Gemini upstream, streaming: %s', (isStream) => {
  async function ask(messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> {
    const tools = names.map((name) => ({ name, input_schema: parameters }));
    const body = { model: 'test', max_tokens: 2_000, messages, tools };
    return isStream ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body);
  }

  it('calls two tools and gets an answer to their results', async () => {
    const mark = `messages ${isStream}`;
    const question = { role: 'user' as const, content: mark };
    const first = await ask([question]);
    expect(first.stop_reason).toBe('tool_use');
    // It did not ask for thinking; the gateway has kept it.
    expect(first.content).toMatchObject([
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'fc_1', name: 'look', input: { at: 'sky' } },
      { type: 'tool_use', id: 'fc_2', name: 'wait', input: {} },
    ]);
    const second = await ask([
      question,
      { role: 'assistant', content: first.content },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'fc_1', content: 'blue' },
          { type: 'tool_result', tool_use_id: 'fc_2', content: 'no clock', is_error: true },
        ],
      },
    ]);
    expect(second).toMatchObject({ stop_reason: 'end_turn', usage: { input_tokens: 20, output_tokens: 9 } });
    expect(second.content[0]).toMatchObject({ type: 'text', text: 'Grüße you' });
    expect(responsesOf(mark)).toEqual(responses);
    expect(signatureOf(mark)).toBe(ownSignature);
  });
});
