import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { DemoFixture, weather, essence } from './fixture.ts';

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

async function message(params: Params) {
  return (await whole(params)).choices[0]!.message;
}

describe('chat', () => {
  it('says that it is a demo and repeats what was asked', async () => {
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
    ['a freeform tool call', ask('run patch', { tools: [{ type: 'custom', custom: { name: 'patch' } }] })],
  ])('says the same whole and streamed: %s', async (_, params) => {
    const folded = essence(await streamed(params)) as OpenAI.Chat.ChatCompletion;
    const plain = essence(await whole(params)) as OpenAI.Chat.ChatCompletion;
    expect(folded.choices[0]!.message.content).toBe(plain.choices[0]!.message.content);
    expect(folded.choices[0]!.finish_reason).toBe(plain.choices[0]!.finish_reason);
    expect(folded.choices[0]!.message.tool_calls).toEqual(plain.choices[0]!.message.tool_calls);
    expect(folded.usage).toEqual(plain.usage);
    expect(folded.id).toBe(plain.id);
  });

  it('sends usage in a stream only when it is asked for', async () => {
    const stream = await demo.openai.chat.completions.create({ ...ask('hello'), stream: true });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it('stops at the limit', async () => {
    const answer = await whole(ask('hello', { max_tokens: 5 }));
    expect(answer.choices[0]!.finish_reason).toBe('length');
    expect(answer.usage!.completion_tokens).toBe(5);
  });

  it('calls the tools that are named, with values of the text', async () => {
    const { tool_calls: calls, content } = await message(ask('call get_weather for Jakarta in Fahrenheit', { tools }));
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
    const { tool_calls: calls } = await message(ask(content, { tools, ...more }));
    expect((calls ?? []).map((call) => call.type === 'function' && call.function.name)).toEqual(names);
  });

  it('takes another value of the text for each call', async () => {
    const { tool_calls: calls } = await message(ask('call get_weather twice, for Jakarta and Bandung', { tools }));
    expect(argumentsOf(calls).map(({ city }) => city)).toEqual(['Jakarta', 'Bandung']);
  });

  it('sums up what tools have returned instead of calling them again', async () => {
    const first = await message(ask('call get_weather', { tools }));
    const answer = await message({
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

  it('refuses a tool choice that cannot be met', async () => {
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
  ])('reasons when asked to: %j “%s”', async (more, content, reasons) => {
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

  it('answers with a JSON object when only that is asked for', async () => {
    const { content } = await message(ask('x', { response_format: { type: 'json_object' } }));
    expect(JSON.parse(content!)).toEqual({ demo: 'demo' });
  });

  it('raises errors that the SDK knows', async () => {
    await expect(whole(ask('[[status 429]]'))).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    await expect(streamed(ask('[[error]]'))).rejects.toThrow('asked to');
    await expect(streamed(ask('[[error-midway]]'))).rejects.toThrow('asked to');
    await expect(streamed(ask('[[cut]]'))).rejects.toThrow();
  });
});

function argumentsOf(calls: OpenAI.Chat.ChatCompletionMessageToolCall[] | undefined): Record<string, unknown>[] {
  return (calls ?? []).map((call) => JSON.parse(call.type === 'function' ? call.function.arguments : '') as never);
}
