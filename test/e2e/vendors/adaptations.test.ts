import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startVendors, type VendorGateway } from './fixture.ts';

const messagesVendors = [
  'deepseek-anthropic/deepseek-v4',
  'zhipu-anthropic/glm-5',
  'minimax-anthropic/MiniMax-M3',
  'minimax-anthropic/MiniMax-M2.7',
  'dashscope-anthropic/qwen3-max',
  'moonshot-anthropic/kimi-k2.5',
  'xai/grok-4',
  'openrouter/z-ai/glm-5',
  'ollama/qwen3',
];
const chatVendors = ['mistral/mistral-large', 'minimax/MiniMax-M3', 'vllm/qwen3'];
const knowing = [
  'openrouter/anthropic/claude-sonnet-4.6',
  'anthropic/claude-sonnet-4-6',
  'openai/gpt-4.1',
  'deepseek/deepseek-v4',
  'xai/grok-4',
  'groq/llama',
];

let gateway: VendorGateway;
beforeAll(async () => {
  gateway = await startVendors([...new Set([...messagesVendors, ...chatVendors, ...knowing])]);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const text = (said: string, more = {}) => ({ type: 'text', text: said, ...more });
const reminder = (said: string) => `<system-reminder>\n${said}\n</system-reminder>`;
const call = { type: 'tool_use', id: 'a', name: 'look', input: {} };
/** Kimi has a form of its own. */
const anyId = expect.any(String);
const result = { type: 'tool_result', tool_use_id: 'a', content: 'done' };
const breakpoint = { cache_control: { type: 'ephemeral' } };

describe('a system message inside a Messages conversation', () => {
  it.each(messagesVendors)('becomes user text in the same place, with its cache breakpoint: %s', async (to) => {
    const messages = [
      { role: 'user', content: [text('Hi')] },
      { role: 'system', content: [text('Be brief.', breakpoint)] },
      { role: 'assistant', content: [call] },
      { role: 'system', content: 'In French.' },
      { role: 'user', content: [result, text('And now?')] },
    ];
    const { body, notes } = await gateway.ask(to, 'messages', { max_tokens: 9, messages });
    expect(body['messages']).toMatchObject([
      { role: 'user', content: [text('Hi'), text(reminder('Be brief.'), breakpoint)] },
      { role: 'assistant' },
      { role: 'user', content: [{ ...result, tool_use_id: anyId }, text(reminder('In French.')), text('And now?')] },
    ]);
    expect(notes).toContain('late system message');
  });

  it('joins the instructions when it comes first', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ];
    const asked = { max_tokens: 9, system: 'You are Bob.', messages };
    const { body } = await gateway.ask('deepseek-anthropic/deepseek-v4', 'messages', asked);
    expect(body).toMatchObject({
      system: [text('You are Bob.'), text('Be brief.')],
      messages: [{ role: 'user', content: 'Hi' }],
    });
  });

  it('stays in place on a route to Anthropic', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Be brief.' },
    ];
    const { body } = await gateway.ask('anthropic/claude-sonnet-4-6', 'messages', { max_tokens: 9, messages });
    expect(body['messages']).toEqual(messages);
  });
});

describe('a system message inside a Chat conversation', () => {
  const tool = { id: 'callaaaa1', type: 'function', function: { name: 'look', arguments: '{}' } };
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [tool, { ...tool, id: 'callaaaa2' }] },
    { role: 'tool', tool_call_id: 'callaaaa1', content: 'one' },
    { role: 'system', content: 'Be brief.' },
    { role: 'tool', tool_call_id: 'callaaaa2', content: 'two' },
    { role: 'user', content: 'And now?' },
  ];

  it.each(chatVendors)('becomes user text after the results of the calls: %s', async (to) => {
    const { body } = await gateway.ask(to, 'chat/completions', { messages });
    expect(body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', content: 'one' },
      { role: 'tool', content: 'two' },
      { role: 'user', content: [text(reminder('Be brief.')), text('And now?')] },
    ]);
  });

  it.each(['openai/gpt-4.1', 'xai/grok-4'])('stays where it is: %s', async (to) => {
    const { body } = await gateway.ask(to, 'chat/completions', { messages });
    expect(body['messages']).toMatchObject(messages.map(({ role }) => ({ role })));
  });

  it.each(['deepseek/deepseek-v4', 'groq/llama'])('follows the results of the calls: %s', async (to) => {
    const { body } = await gateway.ask(to, 'chat/completions', { messages });
    const roles = ['user', 'assistant', 'tool', 'tool', 'system', 'user'];
    expect(body['messages']).toMatchObject(roles.map((role) => ({ role })));
  });
});

it.each(['minimax/MiniMax-M3', 'vllm/qwen3'])('several leading system messages are one at %s', async (to) => {
  const messages = [
    { role: 'system', content: 'One.' },
    { role: 'developer', content: [text('Two.')] },
    { role: 'user', content: 'Hi' },
  ];
  const { body } = await gateway.ask(to, 'chat/completions', { messages });
  expect(body['messages']).toEqual([
    { role: 'system', content: [text('One.'), text('Two.')] },
    { role: 'user', content: 'Hi' },
  ]);
});

describe('adaptive thinking', () => {
  const asked = { max_tokens: 20_000, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } };
  const messages = [{ role: 'user', content: 'Hi' }];
  const others = messagesVendors.filter((to) => !/^(minimax-anthropic.MiniMax-M3|openrouter|ollama)/.test(to));

  it.each(others)('is a budget at %s', async (to) => {
    const { body } = await gateway.ask(to, 'messages', { ...asked, messages });
    expect(body['thinking']).toEqual({ type: 'enabled', budget_tokens: 16_384 });
    expect(body['output_config']).toBeUndefined();
  });

  it.each(['minimax-anthropic/MiniMax-M3', 'anthropic/claude-sonnet-4-6', 'ollama/qwen3', 'vllm/qwen3'])(
    'stays at %s',
    async (to) => {
      expect((await gateway.ask(to, 'messages', { ...asked, messages })).body).toMatchObject(asked);
    },
  );
});

describe('thoughts of another vendor in a tool loop', () => {
  const asked = { max_tokens: 20_000, thinking: { type: 'enabled', budget_tokens: 2_000 } };
  const thoughts = { type: 'thinking', thinking: 'Hm.', signature: 'made elsewhere' };
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [thoughts, call] },
    { role: 'user', content: [result] },
  ];

  it.each(messagesVendors)('stay as text, and the model continues reasoning at %s', async (to) => {
    const { body } = await gateway.ask(to, 'messages', { ...asked, messages });
    const kept = { ...thoughts, signature: '' };
    const thinking = to.startsWith('ollama') ? { type: 'adaptive' } : asked.thinking;
    expect(body).toMatchObject({
      ...asked,
      thinking,
      messages: [{}, { content: [kept, { ...call, id: anyId }] }, {}],
    });
  });

  it('are left out at OpenRouter for Claude, which checks signatures', async () => {
    const { body } = await gateway.ask('openrouter/anthropic/claude-sonnet-4.6', 'messages', { ...asked, messages });
    expect(body['messages']).toMatchObject([{}, { content: [call] }, {}]);
    expect(body['thinking']).toBeUndefined();
  });
});

it.each([
  ['MiniMax-M2.7', false],
  ['MiniMax-M3', true],
])('an image is left out of the result of a tool for a model that sees none: %s', async (model, isSeen) => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ ...result, content: [text('Look:'), image] }] },
  ];
  const { body, status } = await gateway.ask(`minimax-anthropic/${model}`, 'messages', { max_tokens: 9, messages });
  expect(status).toBe(200);
  expect(JSON.stringify(body).includes('iVBORw0KGgo')).toBe(isSeen);
});

it.each(messagesVendors)('strict is removed from tools at %s', async (to) => {
  const tools = [{ name: 'look', input_schema: { type: 'object' }, strict: true }];
  const messages = [{ role: 'user', content: 'Hi' }];
  const { body, notes } = await gateway.ask(to, 'messages', { max_tokens: 9, messages, tools });
  expect(body['tools']).toEqual([{ name: 'look', input_schema: { type: 'object' } }]);
  expect(notes).toContain('dropped strict of tools');
});

it.each(['deepseek-anthropic/deepseek-v4', 'zhipu-anthropic/glm-5'])('a schema is said in words to %s', async (to) => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const output_config = { format: { type: 'json_schema', schema: { type: 'object', properties: { title: {} } } } };
  const { body } = await gateway.ask(to, 'messages', { max_tokens: 9, messages, output_config });
  expect(body['output_config']).toBeUndefined();
  expect(JSON.stringify(body['system'])).toContain('title');
});

it('a freeform tool becomes a function at a vendor without freeform tools', async () => {
  const tools = [{ type: 'custom', name: 'patch', description: 'Patches.' }];
  const { body } = await gateway.ask('groq/llama', 'responses', { input: 'Hi', tools });
  expect(body['tools']).toMatchObject([{ type: 'function', name: 'patch' }]);
  expect((await gateway.ask('openai/gpt-4.1', 'responses', { input: 'Hi', tools })).body['tools']).toEqual(tools);
});
