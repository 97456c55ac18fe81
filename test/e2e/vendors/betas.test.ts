import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startVendors, type VendorGateway } from './fixture.ts';

const others = [
  'deepseek-anthropic/deepseek-v4',
  'zhipu-anthropic/glm-5',
  'minimax-anthropic/MiniMax-M3',
  'vllm/qwen3',
];
const openai = ['openai/gpt-4.1', 'azure-openai/gpt-4.1'];

let gateway: VendorGateway;
beforeAll(async () => {
  gateway = await startVendors(['anthropic/claude-sonnet-4-6', 'xai/grok-4', ...others, ...openai]);
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** What Claude Code sends. */
const claudeCode = {
  'anthropic-version': '2026-10-21',
  'anthropic-beta': 'context-management-2025-06-27',
  'x-app': 'cli',
  'x-claude-code-session-id': 's1',
};
const privately = {
  cookie: 'a=b',
  'x-stainless-os': 'Linux',
  'user-agent': 'claude-cli/2',
  'openai-organization': 'o1',
};
const managed = {
  max_tokens: 9,
  messages: [{ role: 'user', content: 'Hi' }],
  context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
};
/** What Codex sends. */
const codex = {
  'openai-beta': 'responses=1',
  'x-codex-turn-metadata': '{}',
  'session-id': 's1',
  'x-client-request-id': 'r1',
};

describe('betas of Anthropic', () => {
  it('reach Anthropic, and the client’s own headers do not', async () => {
    const { body, headers } = await gateway.ask('anthropic/claude-sonnet-4-6', 'messages', managed, {
      ...claudeCode,
      ...privately,
    });
    expect(headers).toMatchObject(claudeCode);
    expect(headers).not.toMatchObject({ cookie: 'a=b' });
    for (const name of Object.keys(privately))
      expect([name, headers[name]]).not.toEqual([name, privately[name as 'cookie']]);
    expect(body).toMatchObject(managed);
  });

  it.each(others)('do not reach %s', async (to) => {
    const { body, headers, notes } = await gateway.ask(to, 'messages', managed, claudeCode);
    expect(headers['anthropic-version']).toBe('2023-06-01');
    for (const name of ['anthropic-beta', 'x-app', 'x-claude-code-session-id']) expect(headers[name]).toBeUndefined();
    expect(body['context_management']).toBeUndefined();
    expect(notes).toContain('dropped context_management');
  });
});

describe('Claude Code’s billing header', () => {
  const header = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2' };
  const system = [header, { type: 'text', text: 'Be brief.' }];

  it.each(others)('does not reach %s, whose prompt cache it would defeat', async (to) => {
    const { body } = await gateway.ask(to, 'messages', { ...managed, system });
    expect(body['system']).toEqual(system.slice(1));
    expect((await gateway.ask(to, 'messages', { ...managed, system: [header] })).body['system']).toBeUndefined();
  });

  it('reaches Anthropic', async () => {
    const { body } = await gateway.ask('anthropic/claude-sonnet-4-6', 'messages', { ...managed, system });
    expect(body['system']).toEqual(system);
  });
});

describe('betas of OpenAI', () => {
  it.each(openai)('reach %s', async (to) => {
    const { headers } = await gateway.ask(to, 'responses', { input: 'Hi', client_metadata: { a: '1' } }, codex);
    expect(headers).toMatchObject(codex);
  });

  it('do not reach another vendor', async () => {
    const { body, headers } = await gateway.ask(
      'xai/grok-4',
      'responses',
      { input: [{ role: 'user', content: 'Hi', internal_chat_message_metadata_passthrough: {} }], client_metadata: {} },
      codex,
    );
    for (const name of Object.keys(codex)) expect(headers[name]).toBeUndefined();
    expect(body['client_metadata']).toBeUndefined();
    expect(body['input']).toEqual([{ role: 'user', content: 'Hi' }]);
  });
});

it('Azure gets its key in api-key', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const { headers, path } = await gateway.ask('azure-openai/gpt-4.1', 'chat/completions', { messages });
  expect(headers).toMatchObject({ 'api-key': 'k' });
  expect(headers.authorization).toBeUndefined();
  expect(path).toBe('/azure-openai/chat/completions');
});
