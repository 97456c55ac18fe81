import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startVendors, type VendorGateway } from './fixture.ts';

const mistral = 'mistral/mistral-large';
const groq = 'groq/llama-3.3-70b';
const groqReasoning = 'groq/qwen3-32b';
const cerebras = 'cerebras/gpt-oss-120b';

let gateway: VendorGateway;
beforeAll(async () => {
  gateway = await startVendors([
    mistral,
    groq,
    groqReasoning,
    cerebras,
    'gemini-openai/gemini-3-flash',
    'zhipu/glm-5',
    'xai/grok-4',
    'xai/grok-4-fast-non-reasoning',
    'deepseek/deepseek-reasoner',
    'deepseek/deepseek-v4',
    'openai/gpt-4.1',
    'openrouter/z-ai/glm-5',
    'anthropic/claude-sonnet-4-6',
  ]);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const hi = { role: 'user', content: 'Hi' };
const history = [
  { ...hi, name: 'ann' },
  { role: 'assistant', content: 'Hello', reasoning_content: 'Greet.', reasoning_details: [{ type: 'reasoning.text' }] },
  hi,
];
const plain = [hi, { role: 'assistant', content: 'Hello' }, hi];
const inParts = {
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Greet.' }] },
    { type: 'text', text: 'Hello' },
  ],
};

describe('history of another vendor', () => {
  it('has no members that a model of Groq without reasoning refuses, and the client gets a note', async () => {
    const { status, body, notes } = await gateway.ask(groq, 'chat/completions', { messages: history });
    expect([status, body['messages']]).toEqual([200, plain]);
    expect(notes).toContain('dropped name of messages');
    expect(notes).toContain('dropped reasoning_content of messages');
  });

  it('has no members that Mistral refuses, and its thoughts are where Mistral takes them', async () => {
    const { status, body, notes } = await gateway.ask(mistral, 'chat/completions', { messages: history });
    expect([status, body['messages']]).toEqual([200, [hi, inParts, hi]]);
    expect(notes).toContain('dropped name of messages');
  });

  it('has its thoughts in tags for a model of Groq that reasons', async () => {
    const { status, body } = await gateway.ask(groqReasoning, 'chat/completions', { messages: history });
    const content = '<think>\nGreet.\n</think>\n\nHello';
    expect([status, body['messages']]).toEqual([200, [hi, { role: 'assistant', content }, hi]]);
  });

  it.each([cerebras, 'deepseek/deepseek-reasoner'])('has no thoughts for %s', async (to) => {
    const { body } = await gateway.ask(to, 'chat/completions', { messages: history.slice(1) });
    expect(JSON.stringify(body['messages'])).not.toContain('reasoning_content');
  });

  it('that an OpenAI client sends back as it came has no empty members for Groq', async () => {
    const empty = { refusal: null, annotations: [], audio: null, function_call: null };
    const messages = [hi, { role: 'assistant', content: 'Hello', ...empty }, hi];
    const { body, notes } = await gateway.ask(groq, 'chat/completions', { messages });
    expect([body['messages'], notes]).toEqual([plain, undefined]);
  });

  it('is unchanged for a vendor that accepts it', async () => {
    const { body, notes } = await gateway.ask('deepseek/deepseek-v4', 'chat/completions', { messages: history });
    expect(body['messages']).toEqual(history);
    expect(notes).toBeUndefined();
  });
});

describe('parameters that a vendor refuses', () => {
  it('are left out for Mistral without a note where they equal the default', async () => {
    const { body, notes } = await gateway.ask(mistral, 'chat/completions', {
      messages: [hi],
      store: false,
      service_tier: 'auto',
      logprobs: false,
      max_completion_tokens: 9,
      presence_penalty: 0,
    });
    expect(body).toEqual({ model: 'mistral-large', messages: [hi], max_tokens: 9, presence_penalty: 0 });
    expect(notes).toBeUndefined();
  });

  it('are left out for Mistral with a note where they differ from the default', async () => {
    const asked = { messages: [hi], verbosity: 'low', logit_bias: { 5: 1 }, safe_prompt: true };
    const { body, notes } = await gateway.ask(mistral, 'chat/completions', asked);
    expect(body).toEqual({ model: 'mistral-large', messages: [hi], safe_prompt: true });
    expect(notes).toContain('dropped verbosity');
    expect(notes).toContain('dropped logit_bias');
  });

  it('leave no trace in tool calls for Mistral', async () => {
    const call = { id: 'callaaaa1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const messages = [
      hi,
      { role: 'assistant', content: null, refusal: null, tool_calls: [{ ...call, name: null, extra_content: {} }] },
      { role: 'tool', tool_call_id: 'callaaaa1', content: 'done' },
    ];
    const { body, notes } = await gateway.ask(mistral, 'chat/completions', { messages });
    expect(body['messages']).toEqual([hi, { role: 'assistant', content: null, tool_calls: [call] }, messages[2]]);
    expect(notes).toBeUndefined();
  });

  it.each([
    ['zero', 0, undefined],
    ['any', 0.5, 'presence_penalty'],
  ])('are penalties, %s, for models of xAI that reason', async (_, value, noted) => {
    const asked = { messages: [hi], presence_penalty: value, frequency_penalty: 0 };
    const { body, notes } = await gateway.ask('xai/grok-4', 'chat/completions', asked);
    expect(body).toEqual({ model: 'grok-4', messages: [hi] });
    expect(notes?.includes(`dropped ${noted}`)).toBe(noted === undefined ? undefined : true);
  });

  it('include no penalties for models of xAI that do not reason', async () => {
    const asked = { messages: [hi], presence_penalty: 0, frequency_penalty: 0 };
    const { body } = await gateway.ask('xai/grok-4-fast-non-reasoning', 'chat/completions', asked);
    expect(body).toMatchObject(asked);
  });

  it.each(['gemini-openai/gemini-3-flash', cerebras, 'zhipu/glm-5'])('are penalties of zero for %s', async (to) => {
    const asked = { messages: [hi], presence_penalty: 0, frequency_penalty: 0 };
    const { body, notes } = await gateway.ask(to, 'chat/completions', asked);
    expect(Object.keys(body).toSorted()).toEqual(['messages', 'model']);
    expect(notes).toBeUndefined();
  });

  it('include only those specific to OpenAI for Google', async () => {
    const asked = { messages: [hi], store: false, metadata: { a: 'b' } };
    const { body, notes } = await gateway.ask('gemini-openai/gemini-3-flash', 'chat/completions', asked);
    expect([body, notes]).toEqual([{ model: 'gemini-3-flash', messages: [hi] }, 'dropped metadata']);
  });

  it('include none for OpenAI', async () => {
    const asked = { messages: history, store: false, presence_penalty: 0, unknown_member: { a: 1 } };
    const { body, notes } = await gateway.ask('openai/gpt-4.1', 'chat/completions', asked);
    expect(body).toMatchObject(asked);
    expect(notes).toBeUndefined();
  });
});

it('a request in another format has no members that Mistral refuses', async () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Greet.', signature: '' },
        { type: 'text', text: 'Hello' },
      ],
    },
    { role: 'user', content: 'And now?' },
  ];
  const { body } = await gateway.ask(mistral, 'messages', { max_tokens: 9, messages, metadata: { user_id: 'ann' } });
  expect(Object.keys(body).toSorted()).toEqual(['max_tokens', 'messages', 'model', 'stream']);
  expect(body['messages']).toEqual([hi, inParts, { role: 'user', content: 'And now?' }]);
});

describe('members that name other models', () => {
  it('never reach OpenRouter, which would serve them in place of the one that was permitted', async () => {
    const others = {
      models: ['z-ai/glm-5', 'openai/gpt-6'],
      route: 'fallback',
      preset: 'dear',
      provider: { sort: 'price' },
    };
    const { body, notes } = await gateway.ask('openrouter/z-ai/glm-5', 'chat/completions', {
      messages: [hi],
      ...others,
    });
    expect(body).toEqual({ model: 'z-ai/glm-5', messages: [hi], provider: { sort: 'price' } });
    expect(notes).toContain('dropped models');
  });
});
