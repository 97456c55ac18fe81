import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDemoUpstream } from '../../plugins/demo/server.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';

/*
 * The demo speaks Chat only: what clients of other formats get from it is the gateway's translation.
 */

let demo: Awaited<ReturnType<typeof startDemoUpstream>>;
let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  demo = await startDemoUpstream({ delayFactor: 0 });
  const yaml = `${wholePipeline}
upstreams: { demo: { format: chat, base_url: "${demo.baseUrl}" } }
models:
  demo: { routes: [demo/chatty] }
  demo-failover: { routes: [demo/fail-503, demo/error-event, demo/chatty] }
`;
  gateway = await startGateway({ yaml });
  const client = { apiKey: gateway.key, maxRetries: 0 };
  openai = new OpenAI({ ...client, baseURL: `${gateway.url}/v1` });
  anthropic = new Anthropic({ ...client, baseURL: gateway.url });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await demo[Symbol.asyncDispose]();
});

const weather = {
  type: 'object' as const,
  properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
  required: ['city', 'unit'],
  additionalProperties: false,
};

describe('a Messages client of the demo', () => {
  const tools: Anthropic.Tool[] = [{ name: 'get_weather', input_schema: weather }];
  it.each<[string, string, object]>([
    ['text', 'hello', {}],
    ['truncated text', 'hello', { max_tokens: 7 }],
    ['thinking', 'hello', { max_tokens: 4_000, thinking: { type: 'enabled', budget_tokens: 1_024 } }],
    ['a tool call', 'call get_weather for Jakarta', { tools }],
    ['JSON', 'in fahrenheit', { output_config: { format: { type: 'json_schema', schema: weather } } }],
  ])('gets the same whole and streamed: %s', async (_, content, more) => {
    const whole = await anthropic.messages.create(askMessages(content, more));
    const streamed = await anthropic.messages.stream(askMessages(content, more)).finalMessage();
    expect(essence(streamed.content)).toEqual(essence(whole.content));
    expect(streamed.stop_reason).toBe(whole.stop_reason);
  });

  it('returns tool results and gets a summary', async () => {
    const question = { role: 'user' as const, content: 'call get_weather' };
    const { content, stop_reason: stop } = await anthropic.messages.create(
      askMessages('', { messages: [question], tools }),
    );
    expect(stop).toBe('tool_use');
    const call = content.find((block) => block.type === 'tool_use')!;
    const result = { type: 'tool_result' as const, tool_use_id: call.id, content: 'no sky' };
    const messages = [question, { role: 'assistant' as const, content }, { role: 'user' as const, content: [result] }];
    const answer = await anthropic.messages.create(askMessages('', { messages, tools }));
    expect(JSON.stringify(answer.content)).toContain('get_weather returned: “no sky”');
  });

  it('gets a token count', async () => {
    const { max_tokens: _, ...request } = askMessages('hello '.repeat(400));
    expect((await anthropic.messages.countTokens(request)).input_tokens).toBeGreaterThan(200);
  });

  it('gets the answer of the backup route when the primary routes fail', async () => {
    const answer = await anthropic.messages.create(askMessages('still there?', { model: 'demo-failover' }));
    expect(JSON.stringify(answer.content)).toContain('still there?');
  });

  it('gets errors in the format of Messages', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error' } };
    await expect(anthropic.messages.create(askMessages('[[status 503]]'))).rejects.toMatchObject({
      status: 529,
      error,
    });
  });
});

describe('a Responses client of the demo', () => {
  const tools: OpenAI.Responses.Tool[] = [
    { type: 'function', name: 'get_weather', parameters: weather, strict: true },
    { type: 'custom', name: 'apply_patch' },
  ];
  const format = { type: 'json_schema', name: 'weather', schema: weather };

  it.each<[string, string, object]>([
    ['text', 'hello', {}],
    ['truncated text', 'hello', { max_output_tokens: 20 }],
    ['reasoning', 'hello', { reasoning: { effort: 'low' } }],
    ['tool calls, one of them freeform', 'call get_weather and apply_patch', { tools }],
    ['JSON', 'in fahrenheit', { text: { format } }],
  ])('gets the same whole and streamed: %s', async (_, input, more) => {
    const whole = await openai.responses.create(askResponses(input, more));
    const streamed = await openai.responses.stream(askResponses(input, more)).finalResponse();
    expect(essence(streamed.output)).toEqual(essence(whole.output));
    expect(streamed.status).toBe(whole.status);
  });

  it('returns tool results and gets a summary', async () => {
    const first = await openai.responses.create(askResponses('call get_weather and apply_patch', { tools }));
    expect(first.output.map(({ type }) => type)).toEqual(['function_call', 'custom_tool_call']);
    const results = first.output.map((item) => ({
      type: `${item.type}_output`,
      call_id: (item as { call_id: string }).call_id,
      output: `result of ${item.type}`,
    }));
    const more = { tools, previous_response_id: first.id };
    const answer = await openai.responses.create(askResponses(results as OpenAI.Responses.ResponseInput, more));
    expect(answer.output_text).toContain('get_weather returned: “result of function_call”');
    expect(answer.output_text).toContain('apply_patch returned: “result of custom_tool_call”');
  });

  it('gets errors in the format of Responses', async () => {
    const refusal = { status: 503, type: 'server_error' };
    await expect(openai.responses.create(askResponses('[[status 503]]'))).rejects.toMatchObject(refusal);
  });
});

function askMessages(content: string, more: object = {}): Anthropic.MessageCreateParamsNonStreaming {
  return { model: 'demo', max_tokens: 2_000, messages: [{ role: 'user', content }], ...more };
}

function askResponses(input: OpenAI.Responses.ResponseInput | string, more: object = {}) {
  return { model: 'demo', input, ...more };
}

/** Content without the ids that differ from answer to answer, and without the members that the SDKs add. */
function essence(content: readonly object[]): unknown {
  const added = new Set(['id', 'call_id', 'signature', 'parsed', 'parsed_arguments', 'parsed_output']);
  return JSON.parse(JSON.stringify(content, (name, value: unknown) => (added.has(name) ? undefined : value)));
}
