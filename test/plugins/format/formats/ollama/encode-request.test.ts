import { describe, expect, it } from 'vitest';
import type { ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Conversation, Part } from '../../../../../plugins/format/canonical/conversation.ts';
import { ollama } from '../../../../../plugins/format/formats/ollama/descriptor.ts';
import { calls, clientTool, encodeWith, picture, refusalBy, returns, says, text } from '../../codec-fixture.ts';

/** The body that a route gets, with the notes on it. */
function sent(
  wanted: Partial<Conversation>,
  settings: ProfileSettings = {},
): { body: JsonObject; notes: readonly string[] } {
  return encodeWith(ollama, wanted, { profile: settings });
}

const weather = clientTool({ name: 'weather', schema: { type: 'object', properties: { city: { type: 'string' } } } });
const asks = [says('user', 'Hi')];

describe('a request to Ollama', () => {
  it('a request to Ollama has instructions, images without data URLs, and results by the name of the tool', () => {
    const parts: Part[] = [text('Look'), picture];
    const items = [
      { type: 'message', role: 'user', parts } as const,
      calls('c1', 'weather', '{"city":"Oslo"}'),
      returns('c1', [text('Rain')]),
    ];
    expect(sent({ instructions: ['Be brief.'], items, tools: [weather] }).body['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Look', images: ['iVBO'] },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c1', function: { name: 'weather', arguments: { city: 'Oslo' } } }],
      },
      { role: 'tool', tool_name: 'weather', tool_call_id: 'c1', content: 'Rain' },
    ]);
  });

  it('a request to Ollama gives back the reasoning that came as text', () => {
    const items = [...asks, { type: 'reasoning', text: 'Hm.', state: undefined } as const, says('assistant', 'Hello')];
    expect(sent({ items }).body['messages']).toMatchObject([{}, { content: 'Hello', thinking: 'Hm.' }]);
  });

  it('a request to Ollama has sampling, limit and stop sequences among its options', () => {
    const { body, notes } = sent({
      items: asks,
      temperature: 0.5,
      topK: 3,
      seed: 1,
      maxOutputTokens: 64,
      stop: ['END'],
    });
    expect(body['options']).toEqual({ temperature: 0.5, top_k: 3, seed: 1, num_predict: 64, stop: ['END'] });
    expect(notes).toEqual([]);
  });

  it('a request to Ollama goes by the quirks of the route', () => {
    const quirks = { sampling: false, max_output_tokens: 32, stop: 1 };
    const wanted = { items: asks, temperature: 0.5, maxOutputTokens: 64, stop: ['END', 'STOP'] };
    const { body, notes } = sent(wanted, { quirks });
    expect(body['options']).toEqual({ num_predict: 32, stop: ['END'] });
    expect(notes).toHaveLength(3);
  });

  it.each<[ProfileSettings['quirks'], 'none' | 'minimal' | 'high' | 'max', boolean | string]>([
    [{}, 'high', 'high'],
    [{}, 'minimal', 'low'],
    [{}, 'max', 'high'],
    [{}, 'none', false],
    [{ reasoning: 'enable_thinking' }, 'high', true],
    [{ reasoning: 'enable_thinking' }, 'none', false],
  ])('with the quirks %j and the effort %s thinks %s', (quirks, effort, think) => {
    const reasoning = { effort, budget: undefined, wantsText: true };
    expect(sent({ items: asks, reasoning }, { quirks }).body['think']).toBe(think);
  });

  it('a request to Ollama asks a model that cannot reason for no reasoning', () => {
    const reasoning = { effort: 'high', budget: undefined, wantsText: true } as const;
    const { body, notes } = sent({ items: asks, reasoning }, { capabilities: { reasoning: false } });
    expect([body['think'], notes]).toEqual([undefined, ['dropped reasoning']]);
  });

  it('a request to Ollama asks for JSON by a schema, or for any', () => {
    const output = {
      type: 'json_schema',
      name: 'a',
      description: undefined,
      schema: { type: 'object' },
      strict: true,
    } as const;
    expect(sent({ items: asks, output }).body['format']).toEqual({ type: 'object' });
    expect(sent({ items: [says('user', 'JSON')], output: { type: 'json_object' } }).body['format']).toBe('json');
  });

  it('a request to Ollama leaves out tools that must not be called, and notes a call that it cannot force', () => {
    const items = asks;
    expect(sent({ items, tools: [weather], toolChoice: { type: 'none' } }).body['tools']).toBeUndefined();
    const forced = sent({ items, tools: [weather], toolChoice: { type: 'required' } });
    expect(forced.notes).toEqual(['approximated forced tool_choice as auto']);
    expect(forced.body['tools']).toMatchObject([{ type: 'function', function: { name: 'weather' } }]);
  });

  it.each<[string, Part]>([
    ['image URLs', { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' }, detail: undefined }],
    ['audio', { type: 'audio', data: 'AAAA', format: 'wav' }],
    ['files', { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'AAAA' }, name: 'a.pdf' }],
  ])('refuses %s', (what, part) => {
    const error = refusalBy(() => sent({ items: [{ type: 'message', role: 'user', parts: [part] }] }));
    expect([error.code, error.message]).toEqual(['unsupported_content', expect.stringContaining(what)]);
  });
});
