import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { DemoFixture, weather, essence } from './fixture.ts';

type Params = Anthropic.MessageCreateParamsNonStreaming;

const demo = new DemoFixture();
const tools: Anthropic.Tool[] = [
  { name: 'get_weather', input_schema: weather as unknown as Anthropic.Tool.InputSchema },
  { name: 'get_time', input_schema: { type: 'object', properties: {} } },
];
const ask = (content: string, more: Partial<Params> = {}): Params => ({
  model: 'chatty',
  max_tokens: 2_000,
  messages: [{ role: 'user', content }],
  ...more,
});
const thinking = { type: 'enabled', budget_tokens: 1_024 } as const;

/** Both majors that are in use; the older one sends `x-api-key` and another version. */
const clients = [
  ['1.x', () => demo.anthropic],
  ['0.x', () => demo.oldAnthropic as unknown as Anthropic],
] as const;

describe.each(clients)('messages, SDK %s', (_, client) => {
  const whole = (params: Params) => client().messages.create(params);
  const streamed = (params: Params) => client().messages.stream(params).finalMessage();

  it('says that it is a demo and repeats what was asked', async () => {
    const message = await whole(ask('What is the capital of France?'));
    expect(message.content).toMatchObject([{ type: 'text' }]);
    expect((message.content[0] as Anthropic.TextBlock).text).toMatch(/demo upstream.*capital of France/);
    expect(message).toMatchObject({ role: 'assistant', model: 'chatty', stop_reason: 'end_turn' });
    expect(message.usage.input_tokens).toBeGreaterThan(5);
  });

  it.each<[string, Params]>([
    ['text', ask('hello')],
    ['text cut by the limit', ask('hello', { max_tokens: 7 })],
    ['thinking', ask('hello', { thinking })],
    ['hidden thinking', ask('hello', { thinking: { type: 'adaptive', display: 'omitted' } as never })],
    ['a tool call', ask('call get_weather for Jakarta', { tools })],
    ['two tool calls after thinking', ask('think, then call get_weather and get_time', { tools })],
  ])('says the same whole and streamed: %s', async (__, params) => {
    expect(essence(await streamed(params))).toEqual(essence(await whole(params)));
  });

  it('raises errors that the SDK knows', async () => {
    await expect(whole(ask('[[status 529]]'))).rejects.toMatchObject({ status: 529 });
    await expect(streamed(ask('[[error]]'))).rejects.toThrow('asked to');
    await expect(streamed(ask('[[error-midway]]'))).rejects.toThrow('asked to');
    await expect(streamed(ask('[[cut]]'))).rejects.toThrow();
  });
});

describe('messages', () => {
  const whole = (params: Params) => demo.anthropic.messages.create(params);

  it('stops at the limit', async () => {
    const message = await whole(ask('hello', { max_tokens: 5 }));
    expect(message).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 5 } });
  });

  it('needs a limit', async () => {
    const { max_tokens: _, ...body } = ask('hello');
    const answer = await demo.post('/v1/messages', body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  });

  it.each<[string, Partial<Params>, boolean]>([
    ['hello', { thinking }, true],
    ['please think', {}, true],
    ['please think', { thinking: { type: 'disabled' } }, false],
    ['hello', {}, false],
  ])('thinks when asked to: “%s” %j', async (content, more, thinks) => {
    const { content: blocks } = await whole(ask(content, more));
    expect(blocks[0]).toMatchObject(thinks ? { type: 'thinking', signature: /^[\w+/=]{20,}$/ } : { type: 'text' });
  });

  it.each<[string, Partial<Params>, string[]]>([
    ['hello', { tool_choice: { type: 'any' } }, ['get_weather']],
    ['hello', { tool_choice: { type: 'tool', name: 'get_time' } }, ['get_time']],
    ['get_weather, get_time', { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }, ['get_weather']],
    ['get_weather', { tool_choice: { type: 'none' } }, []],
    ['<system-reminder>use get_weather</system-reminder> hello', {}, []],
  ])('chooses tools for “%s” %j', async (content, more, names) => {
    const message = await whole(ask(content, { tools, ...more }));
    const calls = message.content.filter((block) => block.type === 'tool_use');
    expect(calls.map(({ name }) => name)).toEqual(names);
    expect(message.stop_reason).toBe(names.length > 0 ? 'tool_use' : 'end_turn');
  });

  it('sums up what tools have returned, whatever else the turn says', async () => {
    const first = await whole(ask('call get_weather', { tools }));
    const call = first.content.find((block) => block.type === 'tool_use')!;
    const answer = await whole({
      ...ask('', { tools }),
      messages: [
        { role: 'user', content: 'call get_weather' },
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: call.id, content: [{ type: 'text', text: 'no sky' }], is_error: true },
            { type: 'text', text: 'go on' },
          ],
        },
      ],
    });
    expect(answer.stop_reason).toBe('end_turn');
    expect((answer.content[0] as Anthropic.TextBlock).text).toContain('get_weather failed with: “no sky”');
  });

  it('answers with JSON that satisfies a schema', async () => {
    const format = { type: 'json_schema', schema: weather } as const;
    const message = await whole(ask('in fahrenheit', { output_config: { format } } as never));
    expect(JSON.parse((message.content[0] as Anthropic.TextBlock).text)).toEqual({ city: 'demo', unit: 'fahrenheit' });
  });

  it('counts tokens', async () => {
    const { max_tokens: _, ...few } = ask('hello');
    const { max_tokens: __, ...many } = ask('hello '.repeat(400), { tools });
    const count = async (params: typeof few) => (await demo.anthropic.messages.countTokens(params)).input_tokens;
    expect(await count(few)).toBeGreaterThan(0);
    expect(await count(many)).toBeGreaterThan((await count(few)) + 600);
  });
});
