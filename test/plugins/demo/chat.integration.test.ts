import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { DemoFixture, weather } from './fixture.ts';

type Params = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

const demo = new DemoFixture();
const tools: Params['tools'] = [
  { type: 'function', function: { name: 'get_weather', parameters: weather } },
  { type: 'function', function: { name: 'get_time', parameters: { type: 'object', properties: {} } } },
];
const ask = (content: string, more: Partial<Params> = {}): Params => ({
  model: 'chatty',
  messages: [{ role: 'user', content }],
  ...more,
});
const whole = (params: Params) => demo.openai.chat.completions.create(params);

/** The answer folded from the stream by the SDK's own helper. */
async function streamed(params: Params): Promise<OpenAI.Chat.ChatCompletion> {
  const stream = demo.openai.chat.completions.stream({
    ...params,
    stream_options: { include_usage: true },
  } as never);
  return stream.finalChatCompletion();
}

async function messageOf(params: Params) {
  return (await whole(params)).choices[0]!.message;
}

describe('demo, Chat Completions', () => {
  it('the demo says that it is a demo and repeats the prompt', async () => {
    const answer = await whole(ask('What is the capital of France?'));
    expect(answer.choices[0]!.message.content).toMatch(/demo upstream.*“What is the capital of France\?”/);
    expect(answer.choices[0]!.finish_reason).toBe('stop');
    expect(answer.usage!.prompt_tokens).toBeGreaterThan(5);
    expect(answer.usage!.total_tokens).toBe(answer.usage!.prompt_tokens + answer.usage!.completion_tokens);
  });

  it.each<[string, Params]>([
    ['text', ask('hello')],
    ['text cut by the limit', ask('hello', { max_completion_tokens: 7 })],
    ['one tool call', ask('call get_weather for "Jakarta" in fahrenheit', { tools })],
    ['two tool calls', ask('call get_weather and get_time', { tools })],
    ['JSON', ask('x', { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: weather } } })],
  ])('says the same whole and streamed: %s', async (_, params) => {
    const [folded] = (await streamed(params)).choices;
    const [plain] = (await whole(params)).choices;
    expect(folded!.message.content).toBe(plain!.message.content);
    expect(folded!.finish_reason).toBe(plain!.finish_reason);
    expect(callsOf(folded!)).toEqual(callsOf(plain!));
    expect((await streamed(params)).usage).toEqual((await whole(params)).usage);
  });

  it('the demo streams usage only when the request asks for it', async () => {
    const stream = await demo.openai.chat.completions.create({ ...ask('hello'), stream: true });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it('the demo truncates its answer at max_tokens', async () => {
    const answer = await whole(ask('hello', { max_tokens: 5 }));
    expect(answer.choices[0]!.finish_reason).toBe('length');
    expect(answer.usage!.completion_tokens).toBe(5);
  });

  it('the demo calls the tools that the prompt names, with values from the prompt', async () => {
    const { tool_calls: calls, content } = await messageOf(
      ask('call get_weather for Jakarta in Fahrenheit', { tools }),
    );
    expect(content).toBeNull();
    expect(calls).toMatchObject([{ type: 'function', function: { name: 'get_weather' } }]);
    expect(argumentsOf(calls)).toEqual([{ city: 'Jakarta', unit: 'fahrenheit' }]);
  });

  it.each<[string, Partial<Params>, string[]]>([
    ['use the weather tool', {}, ['get_weather']],
    ['call a tool', {}, ['get_weather']],
    ['call get_weather twice', {}, ['get_weather', 'get_weather']],
    ['get_time and get_weather', { parallel_tool_calls: false }, ['get_weather']],
    ['hello', { tool_choice: 'required' }, ['get_weather']],
    ['hello', { tool_choice: { type: 'function', function: { name: 'get_time' } } }, ['get_time']],
    ['get_weather', { tool_choice: 'none' }, []],
    ['what is the weather like?', {}, []],
  ])('chooses tools for “%s” %j', async (content, more, names) => {
    const { tool_calls: calls } = await messageOf(ask(content, { tools, ...more }));
    expect((calls ?? []).map((call) => call.type === 'function' && call.function.name)).toEqual(names);
  });

  it('the demo takes another value of the prompt for each tool call', async () => {
    const { tool_calls: calls } = await messageOf(ask('call get_weather twice, for Jakarta and Bandung', { tools }));
    expect(argumentsOf(calls).map(({ city }) => city)).toEqual(['Jakarta', 'Bandung']);
  });

  it('the demo summarizes tool results instead of calling the tools again', async () => {
    const first = await messageOf(ask('call get_weather', { tools }));
    const answer = await messageOf({
      model: 'chatty',
      tools,
      messages: [
        { role: 'user', content: 'call get_weather' },
        first,
        { role: 'tool', tool_call_id: first.tool_calls![0]!.id, content: '31 degrees, rain' },
      ],
    });
    expect(answer.tool_calls).toBeUndefined();
    expect(answer.content).toMatch(/demo.*get_weather returned: “31 degrees, rain”/);
  });

  it('the demo refuses a required tool that is not in the request', async () => {
    await expect(whole(ask('x', { tool_choice: 'required' }))).rejects.toMatchObject({
      status: 400,
      param: 'tool_choice',
    });
  });

  it.each<[Partial<Params>, string, boolean]>([
    [{ reasoning_effort: 'high' }, 'hello', true],
    [{}, 'think about it', true],
    [{ reasoning_effort: 'none' }, 'think about it', false],
    [{}, 'hello', false],
  ])('the demo given %j and “%s” reasons: %s', async (more, content, reasons) => {
    const answer = await whole(ask(content, more));
    expect('reasoning_content' in answer.choices[0]!.message).toBe(reasons);
    expect(answer.usage!.completion_tokens_details!.reasoning_tokens! > 0).toBe(reasons);
    const stream = await demo.openai.chat.completions.create({ ...ask(content, more), stream: true });
    const deltas = (await Array.fromAsync(stream)).map(
      (chunk) => chunk.choices[0]?.delta as { reasoning_content?: string },
    );
    const text = deltas.map((delta) => delta?.reasoning_content ?? '').join('');
    expect(text).toBe((answer.choices[0]!.message as { reasoning_content?: string }).reasoning_content ?? '');
  });

  it('the demo answers json_object without a schema with some JSON object', async () => {
    const { content } = await messageOf(ask('x', { response_format: { type: 'json_object' } }));
    expect(JSON.parse(content!)).toEqual({ demo: 'demo' });
  });

  it('the demo fails with errors that the OpenAI SDK recognizes', async () => {
    await expect(whole(ask('[[status 429]]'))).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    await expect(streamed(ask('[[error]]'))).rejects.toThrow('as requested');
    await expect(streamed(ask('[[error-midway]]'))).rejects.toThrow('as requested');
    await expect(streamed(ask('[[cut]]'))).rejects.toThrow();
  });
});

function argumentsOf(calls: OpenAI.Chat.ChatCompletionMessageToolCall[] | undefined): Record<string, unknown>[] {
  return (calls ?? []).map((call) => JSON.parse(call.type === 'function' ? call.function.arguments : '') as never);
}

function callsOf({ message }: OpenAI.Chat.ChatCompletion.Choice): object[] {
  return (message.tool_calls ?? []).map((call) => (call.type === 'function' ? { ...call.function } : call));
}
