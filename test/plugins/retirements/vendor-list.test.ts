import { expect, it } from 'vitest';
import { findListedModel, findLatestOfFamily, parseList } from '../../../plugins/retirements/vendor-list.ts';

it.each([
  ['openai', { id: 'gpt-5', created: 1, shutdown_date: '2026-12-11' }, '2026-12-11', undefined],
  ['openai', { id: 'gpt-6-sol', created: 2, shutdown_date: null }, undefined, undefined],
  ['openrouter', { id: 'minimax/minimax-m2', expiration_date: '2026-11-05' }, '2026-11-05', undefined],
  [
    'mistral',
    { id: 'old', deprecation: '2026-12-31T12:00:00Z', deprecation_replacement_model: 'mistral-medium-2611' },
    '2026-12-31',
    'mistral-medium-2611',
  ],
  ['groq', { id: 'x', shutdown_date: '2026-12-11' }, undefined, undefined],
  ['openai', { id: 'x', shutdown_date: '2026-13-99' }, undefined, undefined],
  ['openai', { id: 'x', shutdown_date: '0001-01-01T00:00:00Z' }, undefined, undefined],
  ['mistral', { id: 'x', deprecation: '2026-12-31', deprecation_replacement_model: 'a\0b' }, '2026-12-31', undefined],
])('%s says in its list when a model ends (%#)', (preset, entry, endsOn, successor) => {
  const { models } = parseList({ object: 'list', data: [entry] }, preset);
  expect(models).toEqual([expect.objectContaining({ id: entry.id, endsOn, successor })]);
});

it('models are found in lists of Gemini and Ollama, by their names', () => {
  const gemini = parseList({ models: [{ name: 'models/gemini-3.8-flash' }] }, 'gemini');
  expect(findListedModel(gemini, 'gemini-3.8-flash')).toBeDefined();
  const ollama = parseList({ models: [{ name: 'llama3:latest' }] }, 'ollama-native');
  expect([findListedModel(ollama, 'llama3')?.id, findListedModel(ollama, 'llama')]).toEqual([
    'llama3:latest',
    undefined,
  ]);
});

it('a list that has another page, or is no list, misses nothing', () => {
  expect(parseList({ data: [], has_more: true }, 'anthropic').isComplete).toBe(false);
  expect(parseList({ models: [], nextPageToken: 'x' }, 'gemini').isComplete).toBe(false);
  expect(parseList({ data: 'none' }, 'openai')).toEqual({ models: [], isComplete: true });
  expect(parseList({ data: [null, 1, { id: 2 }, { created: 3 }] }, 'openai').models).toEqual([]);
});

it('the latest model of the family is suggested, not one that ends, is older, or of another family', () => {
  const list = parseList(
    {
      data: [
        { id: 'claude-sonnet-4-5-20250929', created_at: '2025-09-29T00:00:00Z' },
        { id: 'claude-sonnet-4-20250514', created_at: '2025-05-14T00:00:00Z' },
        { id: 'claude-sonnet-4-6', created_at: '2026-02-17T00:00:00Z' },
        { id: 'claude-sonnet-5', created_at: '2026-08-01T00:00:00Z' },
        { id: 'claude-opus-5', created_at: '2026-09-01T00:00:00Z' },
      ],
    },
    'anthropic',
  );
  expect(findLatestOfFamily(list, 'claude-sonnet-4-5-20250929')).toBe('claude-sonnet-5');
  expect(findLatestOfFamily(list, 'claude-sonnet-5')).toBeUndefined();
  expect(findLatestOfFamily(list, 'claude-haiku-4-5')).toBeUndefined();
  const ending = parseList({ data: [{ id: 'gpt-9', created: 9, shutdown_date: '2030-01-01' }] }, 'openai');
  expect(findLatestOfFamily(ending, 'gpt-5')).toBeUndefined();
});
