import { describe, expect, it } from 'vitest';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../../plugins/format/canonical/notes.ts';
import { isolateCache } from '../../../../../plugins/format/formats/adaptation/isolate-cache.ts';

function isolated(format: string, body: JsonObject, quirks: ProfileSettings['quirks'] = {}, mark = 'M') {
  const notes = new Notes();
  const settings: ProfileSettings = quirks === undefined ? {} : { quirks };
  return { body: isolateCache(body, format, mark, { profile: mergeProfiles(settings), notes }), notes: notes.entries };
}

const tool = { type: 'function', function: { name: 'read', description: 'Reads.' } };

describe('a prompt whose cache is the account’s own', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'chat',
      { messages: [{ role: 'system', content: 'S' }], tools: [tool, tool] },
      {
        messages: [{ role: 'system', content: '[M]\nS' }],
        tools: [{ ...tool, function: { name: 'read', description: '[M]\nReads.' } }, tool],
      },
    ],
    [
      'chat',
      { messages: [{ role: 'developer', content: [{ type: 'text', text: 'S' }] }] },
      {
        messages: [
          {
            role: 'developer',
            content: [
              { type: 'text', text: '[M]' },
              { type: 'text', text: 'S' },
            ],
          },
        ],
      },
    ],
    [
      'chat',
      { messages: [{ role: 'user', content: 'Hi' }] },
      {
        messages: [
          { role: 'system', content: '[M]' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    ['ollama', { messages: [] }, { messages: [{ role: 'system', content: '[M]' }] }],
    [
      'responses',
      { instructions: 'S', tools: [{ type: 'web_search' }, { type: 'function', name: 'read', description: 'R' }] },
      {
        instructions: '[M]\nS',
        tools: [{ type: 'web_search' }, { type: 'function', name: 'read', description: '[M]\nR' }],
      },
    ],
    ['responses', { input: 'Hi', instructions: null }, { input: 'Hi', instructions: '[M]' }],
    [
      'messages',
      {
        system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral' } }],
        tools: [{ name: 'r', input_schema: {} }],
      },
      {
        system: [
          { type: 'text', text: '[M]' },
          { type: 'text', text: 'S', cache_control: { type: 'ephemeral' } },
        ],
        tools: [{ name: 'r', description: '[M]', input_schema: {} }],
      },
    ],
    ['messages', { messages: [] }, { messages: [], system: '[M]' }],
    [
      'gemini',
      {
        system_instruction: { parts: [{ text: 'S' }] },
        tools: [{ functionDeclarations: [{ name: 'r' }, { name: 's' }] }],
      },
      {
        system_instruction: { parts: [{ text: '[M]' }, { text: 'S' }] },
        tools: [{ functionDeclarations: [{ name: 'r', description: '[M]' }, { name: 's' }] }],
      },
    ],
    ['gemini', {}, { systemInstruction: { parts: [{ text: '[M]' }] } }],
    ['completions', { prompt: 'P' }, { prompt: '[M]\nP' }],
    ['completions', { prompt: ['P', [1, 2]] }, { prompt: ['[M]\nP', [1, 2]] }],
  ])('begins with a mark of it in %s', (format, body, wanted) => {
    expect(isolated(format, body)).toEqual({ body: wanted, notes: ['separated the prompt cache by account'] });
  });

  it('is named by the field that the vendor has for it, and stays as it is', () => {
    const body = { messages: [{ role: 'user', content: 'Hi' }], user_id: 'chosen by the customer' };
    expect(isolated('chat', body, { cache_separator: 'user_id' }).body).toEqual({ ...body, user_id: 'M' });
    expect(isolated('chat', body, { cache_separator: 'cache_salt' }).body).toEqual({ ...body, cache_salt: 'M' });
    const metadata = { metadata: { user_id: 'chosen', more: 1 } };
    expect(isolated('messages', metadata, { cache_separator: 'user_id' }).body).toEqual({
      metadata: { user_id: 'M', more: 1 },
    });
  });

  it('differs from that of another account from its first tool on', () => {
    const body = { tools: [tool], messages: [{ role: 'system', content: 'S' }] };
    const [one, other] = ['A', 'B'].map((mark) => JSON.stringify(isolated('chat', body, {}, mark).body));
    expect(one?.replaceAll('[A]', '[B]')).toBe(other);
    expect(one?.indexOf('[A]')).toBeLessThan(one?.indexOf('Reads.') ?? 0);
  });

  it('is the same object without a mark, and in formats without prompts', () => {
    const body = { input: 'Hi' };
    expect(isolateCache(body, 'chat', undefined, { profile: mergeProfiles({}), notes: new Notes() })).toBe(body);
    expect(isolated('embeddings', body)).toEqual({ body, notes: [] });
  });
});
