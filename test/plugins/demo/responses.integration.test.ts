import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { DemoFixture, weather, essence } from './fixture.ts';

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming;

const demo = new DemoFixture();
const tools: NonNullable<Params['tools']> = [
  { type: 'function', name: 'get_weather', parameters: weather, strict: true },
  { type: 'custom', name: 'apply_patch' },
];
const ask = (input: NonNullable<Params['input']>, more: Partial<Params> = {}) =>
  ({ model: 'chatty', input, ...more }) as Params;
const whole = (params: Params) => demo.openai.responses.create(params);
const streamed = (params: Params) => demo.openai.responses.stream(params as never).finalResponse();

describe('responses', () => {
  it('says that it is a demo and repeats what was asked', async () => {
    const response = await whole(ask('What is the capital of France?', { instructions: 'be brief' }));
    expect(response.output_text).toMatch(/demo upstream.*“What is the capital of France\?”/);
    expect(response).toMatchObject({ status: 'completed', instructions: 'be brief', error: null, store: true });
    expect(response.usage!.total_tokens).toBe(response.usage!.input_tokens + response.usage!.output_tokens);
  });

  it.each<[string, Params]>([
    ['text', ask('hello')],
    ['text cut by the limit', ask('hello', { max_output_tokens: 7 })],
    ['reasoning', ask('hello', { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'] })],
    ['reasoning cut by the limit', ask('hello', { reasoning: { effort: 'low' }, max_output_tokens: 3 })],
    ['a tool call', ask('call get_weather for Jakarta', { tools })],
    ['tool calls of both kinds', ask('call get_weather and apply_patch', { tools })],
    ['JSON', ask('x', { text: { format: { type: 'json_schema', name: 'x', schema: weather } } })],
  ])('says the same whole and streamed: %s', async (_, params) => {
    expect(essence(await streamed(params))).toEqual(essence(await whole(params)));
  });

  it('streams events in order, numbered without gaps, named as their type', async () => {
    const body = { ...ask('think, then call get_weather', { tools }), stream: true };
    const text = await (await demo.post('/v1/responses', body)).text();
    const events = text
      .trim()
      .split('\n\n')
      .map((event) => /^event: (.*)\ndata: (.*)$/.exec(event)!)
      .map(([, name, data]) => ({ name, data: JSON.parse(data!) as { type: string; sequence_number: number } }));
    expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.every(({ name, data }) => name === data.type)).toBe(true);
    const kinds = events.map(({ data }) => data.type.replace('response.', ''));
    expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
  });

  it('stops at the limit', async () => {
    const response = await whole(ask('hello', { max_output_tokens: 5 }));
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(response.usage!.output_tokens).toBe(5);
  });

  it('attaches opaque state to its reasoning when it is asked for', async () => {
    const plain = await whole(ask('hello', { reasoning: { effort: 'high' } }));
    expect(plain.output[0]).toMatchObject({ type: 'reasoning', summary: [{ type: 'summary_text' }] });
    expect(plain.output[0]).not.toHaveProperty('encrypted_content');
    const more = { reasoning: { effort: 'high' }, include: ['reasoning.encrypted_content'] } as const;
    const [item] = (await whole(ask('hello', more as never))).output;
    expect((item as { encrypted_content?: string }).encrypted_content).toMatch(/^[\w+/=]{20,}$/);
  });

  it('gives the item and the call ids of their own', async () => {
    const [call] = (await whole(ask('call get_weather for Jakarta', { tools }))).output;
    expect(call).toMatchObject({ type: 'function_call', id: /^fc_/, call_id: /^call_/ });
  });

  it('calls tools of a namespace under their full name', async () => {
    const group = { type: 'namespace', name: 'sky', tools: [tools[0]] };
    const [call] = (await whole(ask('call get_weather', { tools: [group] as never }))).output;
    expect(call).toMatchObject({ name: 'get_weather', namespace: 'sky' });
  });

  it('sums up what tools have returned', async () => {
    const input = [{ role: 'user' as const, content: 'call get_weather and apply_patch' }];
    const first = await whole(ask(input, { tools }));
    const results = first.output.map((item) => ({
      type: item.type === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output',
      call_id: (item as { call_id: string }).call_id,
      output: `done by ${item.type}`,
    }));
    const answer = await whole(
      ask([...input, ...first.output, ...results] as OpenAI.Responses.ResponseInput, { tools }),
    );
    expect(answer.output_text).toContain('get_weather returned: “done by function_call”');
    expect(answer.output_text).toContain('apply_patch returned: “done by custom_tool_call”');
  });

  it('refuses to remember', async () => {
    await expect(whole(ask('x', { previous_response_id: 'resp_1' }))).rejects.toMatchObject({ status: 400 });
  });

  it('raises errors that the SDK knows', async () => {
    await expect(whole(ask('[[status 503]]'))).rejects.toMatchObject({ status: 503, type: 'server_error' });
    expect(await whole(ask('[[error]]'))).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    expect(await streamed(ask('[[error-midway]]'))).toMatchObject({ status: 'failed' });
    await expect(streamed(ask('[[cut]]'))).rejects.toThrow();
  });
});
