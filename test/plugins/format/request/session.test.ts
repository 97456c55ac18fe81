import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { conversationPrefixOf } from '../../../../plugins/format/request/session.ts';

const user = (text: string) => ({ role: 'user', content: text });
const assistant = (text: string) => ({ role: 'assistant', content: text });

describe('how a conversation begins', () => {
  const growing: readonly [string, JsonObject, JsonObject][] = [
    [
      'Chat Completions',
      { messages: [{ role: 'system', content: 's' }, user('a')] },
      { messages: [{ role: 'system', content: 's' }, user('a'), assistant('b'), user('c')] },
    ],
    [
      'Messages, with its marks of what is cached',
      { system: 's', messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: {} }] }] },
      { system: 's', messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }, assistant('b'), user('c')] },
    ],
    [
      'Responses',
      { instructions: 's', input: [user('a')] },
      { instructions: 's', input: [user('a'), { type: 'function_call' }, { type: 'function_call_output' }] },
    ],
    [
      'Gemini, without roles',
      { systemInstruction: { parts: [] }, contents: [{ parts: [{ text: 'a' }] }] },
      { systemInstruction: { parts: [] }, contents: [{ parts: [{ text: 'a' }] }, { role: 'model', parts: [] }] },
    ],
  ];
  it.each(growing)('is the same when it has grown in %s', (_format, first, later) => {
    expect(conversationPrefixOf(later)).toBe(conversationPrefixOf(first));
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['the words of the user', { messages: [user('a')] }, { messages: [user('b')] }],
    ['the instructions', { instructions: 'a', input: 'x' }, { instructions: 'b', input: 'x' }],
    ['the words alone', { input: 'a' }, { input: 'b' }],
    ['the prompt of a picture', { prompt: 'a' }, { prompt: 'b' }],
  ])('differs by %s', (_what, one, other) => {
    expect(conversationPrefixOf(one)).not.toBe(conversationPrefixOf(other));
  });

  it('is cut at a length', () => {
    expect(conversationPrefixOf({ input: 'x'.repeat(1_000_000) })).toHaveLength(65_536);
  });
});
