import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { startVendors, type VendorGateway } from './fixture.ts';

const claude = 'anthropic/claude-sonnet-4-6';
const others = ['deepseek-anthropic/deepseek-v4', 'zhipu-anthropic/glm-5', 'vllm/qwen3'];

let gateway: VendorGateway;
beforeAll(async () => {
  gateway = await startVendors([claude, 'openai/gpt-4.1', 'groq/llama', 'gemini/gemini-1.5-pro', ...others]);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const messages = [{ role: 'user', content: 'Hi' }];
const look = { name: 'look', input_schema: { type: 'object', properties: {} } };
const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 };
const placeholder = { ...look, name: 'DeferredToolPlaceholder', defer_loading: true };

describe('tools that Anthropic runs', () => {
  it.each(others)('are not offered to %s, and those that clients run become plain ones', async (to) => {
    const tools = [look, search, { type: 'bash_20250124', name: 'bash' }, placeholder];
    const { body, notes } = await gateway.ask(to, 'messages', { max_tokens: 9, messages, tools });
    expect(body['tools']).toEqual([
      look,
      { name: 'bash', description: expect.any(String), input_schema: expect.objectContaining({ type: 'object' }) },
    ]);
    expect(notes).toContain('dropped web_search');
  });

  it('reach Anthropic as they are', async () => {
    const tools = [look, search, { type: 'code_execution_20250825', name: 'code_execution' }, placeholder];
    const { body } = await gateway.ask(claude, 'messages', { max_tokens: 9, messages, tools });
    expect(body['tools']).toEqual(tools);
  });

  it('are refused when one must be called', async () => {
    const asked = { tools: [look, search], tool_choice: { type: 'tool', name: 'web_search' } };
    const { status, path } = await gateway.ask(others[0] ?? '', 'messages', { max_tokens: 9, messages, ...asked });
    expect([status, path]).toEqual([400, '']);
  });

  it('are refused when there is no other', async () => {
    const asked = { max_tokens: 9, messages, tools: [search] };
    const { status, path } = await gateway.ask(others[0] ?? '', 'messages', asked);
    expect([status, path]).toEqual([400, '']);
  });

  it('are listed in the text of a result', async () => {
    const found = { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_reference', tool_name: 'look' }] };
    const history = [
      ...messages,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'find', input: {} }] },
      { role: 'user', content: [found] },
    ];
    const asked = { max_tokens: 9, messages: history, tools: [{ ...look, defer_loading: true }] };
    const { body } = await gateway.ask('vllm/qwen3', 'messages', asked);
    const text = { type: 'text', text: 'The tool look is now available.' };
    expect(body['messages']).toMatchObject([{}, {}, { content: [{ ...found, content: [text] }] }]);
    expect(body['tools']).toEqual([look]);
  });
});

/** A function as Chat has it. */
function nested({ type, ...described }: JsonObject): JsonObject {
  return { type, function: described };
}

describe('a web search of OpenAI', () => {
  const tools = [{ type: 'function', name: 'look', parameters: look.input_schema }, { type: 'web_search' }];

  it('is not offered to a vendor without web search', async () => {
    const { body, notes } = await gateway.ask('groq/llama', 'responses', { input: 'Hi', tools });
    expect(body['tools']).toEqual(tools.slice(0, 1));
    expect(notes).toContain('dropped web_search');
    const asked = { messages, tools: tools.slice(0, 1).map(nested), web_search_options: { a: 1 } };
    const { body: chat } = await gateway.ask('groq/llama', 'chat/completions', asked);
    expect(chat['web_search_options']).toBeUndefined();
  });

  it('is refused when there is no other tool', async () => {
    const asked = { messages, web_search_options: {} };
    const { status, path } = await gateway.ask('groq/llama', 'chat/completions', asked);
    expect([status, path]).toEqual([400, '']);
  });

  it('reaches OpenAI', async () => {
    expect((await gateway.ask('openai/gpt-4.1', 'responses', { input: 'Hi', tools })).body['tools']).toEqual(tools);
  });
});
