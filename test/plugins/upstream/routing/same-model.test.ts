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
])('takes %s and %s for one model', (asked, answered) => {
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
])('tells %s and %s apart', (asked, answered) => {
  expect(isSame(asked, answered)).toBe(false);
});

it.each(['azure-openai', 'ollama', 'vllm'])('does not judge names that operators choose themselves at %s', (vendor) => {
  expect(isSame('my-deployment', 'gpt-4o-2024-08-06', vendor)).toBe(true);
});
