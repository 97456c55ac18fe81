import { expect, it } from 'vitest';
import { isSameModel } from '../../../../plugins/upstream/routing/same-model.ts';

type Asked = Parameters<typeof isSameModel>[0];

function isSame(model: string, answered: string, vendor?: string): boolean {
  return isSameModel({ model, upstream: { vendor } } as Asked, answered);
}

it.each([
  ['gpt-6-sol', 'gpt-6-sol'],
  ['gpt-4o', 'gpt-4o-2024-08-06'],
  ['gpt-4', 'gpt-4-0613'],
  ['gpt-4o-2024-08-06', 'gpt-4o'],
  ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'],
  ['claude-3-7-sonnet-latest', 'claude-3-7-sonnet-20250219'],
  ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5-20250929'],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5-20250929'],
  ['gemini-2.5-flash', 'models/gemini-2.5-flash'],
  ['gemini-2.5-flash', 'gemini-2.5-flash-preview-05-20'],
  ['gemini-2.0-flash', 'gemini-2.0-flash-001'],
  ['gemini-flash-latest', 'gemini-3-flash'],
  ['mistral-large-latest', 'mistral-large-2512'],
  ['deepseek-chat', 'deepseek-v3.2'],
  ['deepseek-ai/DeepSeek-V3', 'deepseek-v3'],
  ['accounts/fireworks/models/kimi-k2', 'kimi-k2'],
  ['openai/gpt-4o:free', 'gpt-4o'],
  ['openrouter/auto', 'anthropic/claude-opus-4'],
  ['claude-opus-4-0', 'claude-opus-4-20250514'],
  ['claude-sonnet-4-0', 'claude-sonnet-4-20250514'],
  ['claude-sonnet-latest', 'claude-sonnet-4-6'],
  ['claude-opus-4-1', 'CLAUDE-OPUS-4-1-20250805'],
  ['anthropic/claude-sonnet-4.5', 'anthropic/claude-4.5-sonnet-20250929'],
  ['databricks-claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'],
  ['anthropic.claude-opus-4-1-20250805-v1:0', 'claude-opus-4-1-20250805'],
  ['arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0', 'claude-opus-4-1'],
  ['arn:aws:bedrock:us-east-1:1:application-inference-profile/x1y2z3', 'claude-opus-4-1-20250805'],
  ['grok-4', 'grok-4-0709'],
  ['grok-4-latest', 'grok-4-0709'],
  ['grok-4-fast', 'grok-4-fast-reasoning'],
  ['grok-4-1-fast-latest', 'grok-4-1-fast-reasoning'],
  ['x-ai/grok-4-fast', 'grok-4-fast-reasoning'],
  ['grok-code-fast', 'grok-code-fast-1-0825'],
  ['grok-code-fast-1', 'grok-code-fast-1-0825'],
  ['grok-3-beta', 'grok-3'],
  ['kimi-k2', 'kimi-k2-instruct'],
  ['moonshotai/kimi-k2', 'kimi-k2-0711-preview'],
  ['moonshotai/kimi-k2-0905', 'moonshotai/Kimi-K2-Instruct-0905'],
  ['kimi-latest', 'moonshot-v1-128k'],
  ['gpt-4-turbo-preview', 'gpt-4-0125-preview'],
  ['gpt-4-vision-preview', 'gpt-4-1106-vision-preview'],
  ['gpt-4o-search-preview', 'gpt-4o-search-preview-2025-03-11'],
  ['gpt-3.5-turbo-instruct', 'gpt-3.5-turbo-instruct'],
  ['gpt-5-chat-latest', 'gpt-5-2025-08-07'],
  ['chatgpt-4o-latest', 'gpt-4o-2024-11-20'],
  ['ft:gpt-4o-mini-2024-07-18:acme::x', 'ft:gpt-4o-mini-2024-07-18:acme::x'],
  ['command-r', 'command-r-08-2024'],
  ['jamba-large', 'jamba-large-1.7-2025-07'],
  ['codestral-latest', 'codestral-2508'],
  ['gemini-pro-latest', 'gemini-3-pro-preview'],
  ['gemini-2.5-flash-lite', 'models/gemini-2.5-flash-lite-preview-09-2025'],
  ['publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['glm-4-flash', 'glm-4-flash-250414'],
  ['qwen3-max', 'qwen3-max-2025-09-23'],
  ['@cf/meta/llama-3.1-8b-instruct', 'meta-llama/Meta-Llama-3.1-8B-Instruct'],
  ['accounts/fireworks/models/kimi-k2#accounts/acme/deployments/d1', 'accounts/fireworks/models/kimi-k2'],
  ['ep-20250101120000-abcde', 'doubao-1-5-pro-32k-250115'],
])('routing takes %s and %s for one model', (asked, answered) => {
  expect(isSame(asked, answered)).toBe(true);
});

it.each([
  ['gpt-6-sol', 'gpt-6-mini'],
  ['gpt-4o', 'gpt-4o-mini'],
  ['gpt-4o', 'gpt-4o-mini-2024-07-18'],
  ['gpt-4o-2024-08-06', 'gpt-4o-2024-05-13'],
  ['claude-opus-4-5', 'claude-sonnet-4-5-20250929'],
  ['claude-sonnet-4-5', 'claude-sonnet-4-20250514'],
  ['gemini-2.5-pro', 'gemini-2.5-flash'],
  ['gemini-flash-latest', 'gpt-4o'],
  ['deepseek-chat', 'qwen-plus'],
  ['mistral-large-latest', 'mistral-small-2512'],
  ['claude-opus-4-0', 'claude-opus-4-1-20250805'],
  ['claude-opus-4', 'claude-opus-4-1-20250805'],
  ['claude-3-5-sonnet-latest', 'claude-3-7-sonnet-20250219'],
  ['claude-sonnet-latest', 'claude-haiku-4-5-20251001'],
  ['grok-4-fast', 'grok-4-fast-non-reasoning'],
  ['grok-4', 'grok-4-fast-reasoning'],
  ['grok-code-fast', 'grok-4-fast-reasoning'],
  ['kimi-k2', 'kimi-k2-thinking'],
  ['kimi-k2', 'kimi-k2.5'],
  ['kimi-k2-0905-preview', 'kimi-k2-0711-preview'],
  ['o1', 'o1-preview'],
  ['o1', 'o1-mini-2024-09-12'],
  ['gpt-4-turbo-preview', 'gpt-3.5-turbo-0125'],
  ['gpt-4', 'gpt-4-turbo-2024-04-09'],
  ['gpt-3.5-turbo-instruct', 'gpt-3.5-turbo-0125'],
  ['gpt-5-chat-latest', 'gpt-5-mini-2025-08-07'],
  ['chatgpt-4o-latest', 'gpt-3.5-turbo-0125'],
  ['ft:gpt-4o-mini-2024-07-18:acme::x', 'gpt-4o-mini-2024-07-18'],
  ['ft:gpt-4o-mini-2024-07-18:acme::x', 'ft:gpt-3.5-turbo:acme::y'],
  ['gemini-flash-latest', 'gemini-2.5-flash-lite'],
  ['gemini-1.5-pro-001', 'gemini-1.5-pro-002'],
  ['jamba-large', 'jamba-mini-1.7-2025-07'],
  ['qwen3-32b', 'qwen3-8b'],
  ['qwen3:32b', 'qwen3:8b'],
  ['deepseek-v3.2', 'deepseek-v3.1'],
  ['llama-3.3-70b-instruct', 'llama-3.1-70b-instruct'],
])('routing tells %s and %s apart', (asked, answered) => {
  expect(isSame(asked, answered)).toBe(false);
});

it.each(['azure-openai', 'ollama', 'vllm'])(
  'routing does not judge names that operators choose themselves at %s',
  (vendor) => {
    expect(isSame('my-deployment', 'gpt-4o-2024-08-06', vendor)).toBe(true);
  },
);
