import { describe, expect, it } from 'vitest';
import { mergeProfiles, profileIn } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../../plugins/format/canonical/notes.ts';
import { vendors } from '../../../../../plugins/upstream/vendors.ts';
import { translatable } from '../../../../support/formats.ts';

type FormatName = 'chat' | 'responses' | 'messages';

/** What a server gets for a request of its own format, and the notes about it. */
function adapted(vendor: string, format: FormatName, body: JsonObject) {
  const preset = vendors.find(({ name }) => name === vendor);
  const notes = new Notes();
  const profile = profileIn(format, mergeProfiles(preset ?? {}));
  return { body: translatable[format].text.adapt(body, { profile, notes, origin: 'test' }), notes: notes.entries };
}

const hi = { role: 'user', content: 'hi' };
const named = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const tool = { name: 'look', input_schema: { type: 'object' } };

describe('thinking for a server whose Messages endpoint signs none', () => {
  it.each(['vllm', 'ollama'])('stays adaptive, with its effort: %s', (vendor) => {
    const body = {
      max_tokens: 9_000,
      messages: [hi],
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    };
    expect(adapted(vendor, 'messages', body)).toEqual({ body, notes: [] });
  });

  it.each(['vllm', 'ollama'])('with a budget becomes adaptive, with an effort: %s', (vendor) => {
    const body = { max_tokens: 9_000, messages: [hi], thinking: { type: 'enabled', budget_tokens: 2_048 } };
    expect(adapted(vendor, 'messages', body).body).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: expect.any(String) },
    });
  });

  it('has no effort that Ollama does not know', () => {
    const body = {
      max_tokens: 9_000,
      messages: [hi],
      thinking: { type: 'adaptive' },
      output_config: { effort: 'max' },
    };
    expect(adapted('ollama', 'messages', body)).toMatchObject({ body: { output_config: { effort: 'high' } } });
    expect(adapted('ollama', 'chat', { messages: [hi], reasoning_effort: 'minimal' }).body).toMatchObject({
      reasoning_effort: 'low',
    });
  });
});

it('llama-cpp-python gets a text instead of the null content of a call, and no schema', () => {
  const calls = [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }];
  const called = { role: 'assistant', content: null, function_call: null, tool_calls: calls };
  const schema = { type: 'json_schema', json_schema: { name: 'o', schema: { type: 'object' } } };
  const messages = [hi, called, { role: 'tool', tool_call_id: 'c', content: 'there' }];
  const { body } = adapted('llama-cpp-python', 'chat', { messages, response_format: schema });
  expect(body['messages']).toContainEqual({ role: 'assistant', content: '', tool_calls: calls });
  expect(body['response_format']).toEqual({ type: 'json_object' });
});

it('a call without arguments is written anew for servers that reject it', () => {
  const strict = vendors.filter(({ quirks }) => quirks?.strict_calls).map(({ name }) => name);
  expect(strict).toEqual(
    expect.arrayContaining([
      'ollama',
      'vllm',
      'llama-cpp',
      'llama-cpp-python',
      'mlx-lm',
      'mlx-vlm',
      'transformers-serve',
    ]),
  );
});

it('a late system message stays one at vLLM’s Messages endpoint, and is user text at Ollama’s', () => {
  const body = { max_tokens: 9, messages: [hi, { role: 'system', content: 'Be brief.' }, hi] };
  expect(adapted('vllm', 'messages', body).body).toEqual(body);
  expect(JSON.stringify(adapted('ollama', 'messages', body).body)).toContain('system-reminder');
});

describe('a choice of tools that a server ignores', () => {
  it.each<[string, FormatName, JsonObject]>([
    ['ollama', 'chat', { tools: [named('look')], tool_choice: 'none' }],
    ['ollama', 'responses', { tools: [{ type: 'function', name: 'look', parameters: {} }], tool_choice: 'none' }],
    ['ollama', 'messages', { tools: [tool], tool_choice: { type: 'none' } }],
    ['mlx-lm', 'chat', { tools: [named('look')], tool_choice: 'none' }],
    ['mlx-vlm', 'chat', { tools: [named('look')], tool_choice: 'none' }],
    ['transformers-serve', 'chat', { tools: [named('look')], tool_choice: 'none', parallel_tool_calls: false }],
    ['transformers-serve', 'chat', { functions: [{ name: 'look' }], function_call: 'none' }],
  ])('leaves the tools out when it forbids calls: %s, %s', (vendor, format, members) => {
    const input = format === 'responses' ? { input: 'hi' } : { messages: [hi] };
    expect(adapted(vendor, format, { ...input, ...members })).toEqual({ body: input, notes: [] });
  });

  it.each<[string, FormatName, JsonObject]>([
    ['ollama', 'chat', { tools: [named('look')], tool_choice: 'required' }],
    ['ollama', 'messages', { tools: [tool], tool_choice: { type: 'any' } }],
    ['ollama', 'messages', { tools: [tool], tool_choice: { type: 'tool', name: 'look' } }],
    ['mlx-lm', 'chat', { tools: [named('look')], tool_choice: 'required' }],
    ['transformers-serve', 'chat', { tools: [named('look')], tool_choice: named('look') }],
  ])('is noted when it forces a call: %s, %s', (vendor, format, members) => {
    expect(adapted(vendor, format, { messages: [hi], ...members }).notes).toContain(
      'approximated forced tool_choice as auto',
    );
  });

  it('is required of the named tool alone at llama.cpp, which forces any tool but no certain one', () => {
    const body = { messages: [hi], tools: [named('look'), named('listen')], tool_choice: named('look') };
    const forced = { messages: [hi], tools: [named('look')], tool_choice: 'required' };
    expect(adapted('llama-cpp', 'chat', body)).toEqual({ body: forced, notes: [] });
    const free = { ...body, tool_choice: 'none' };
    expect(adapted('llama-cpp', 'chat', free).body).toEqual(free);
  });
});

describe('transformers serve', () => {
  it('gets no member that it ignores or answers with 422', () => {
    const body = { messages: [hi], max_tokens: 9, logit_bias: {}, n: 1, top_k: 5, logprobs: true, foo: 1 };
    const { body: sent, notes } = adapted('transformers-serve', 'chat', body);
    expect(sent).toEqual({ messages: [hi], max_tokens: 9 });
    expect(notes).toEqual(expect.arrayContaining(['dropped logprobs', 'dropped top_k', 'dropped foo']));
  });

  it('gets no stop sequences, whose text it would leave in the answer', () => {
    expect(adapted('transformers-serve', 'chat', { messages: [hi], stop: ['x'] }).body).toEqual({ messages: [hi] });
  });
});

describe('mlx-lm', () => {
  it('gets neither the members that it ignores nor those that name files and models of its machine', () => {
    const body = { messages: [hi], n: 2, adapters: '/srv/adapter', draft_model: 'draft', top_k: 5, logprobs: true };
    const { body: sent, notes } = adapted('mlx-lm', 'chat', body);
    expect(sent).toEqual({ messages: [hi], top_k: 5, logprobs: true });
    expect(notes).toEqual(expect.arrayContaining(['dropped n', 'dropped adapters', 'dropped draft_model']));
  });

  it('gets no stop sequences, whose letters it would only remove', () => {
    expect(adapted('mlx-lm', 'chat', { messages: [hi], stop: ['x'] }).body).toEqual({ messages: [hi] });
  });
});

describe('LMDeploy', () => {
  it('gets no stop sequences, which it would ignore or cut off with other letters', () => {
    expect(adapted('lmdeploy', 'chat', { messages: [hi], stop: ['x'] }).body).toEqual({ messages: [hi] });
  });

  it('gets only efforts that it knows', () => {
    expect(adapted('lmdeploy', 'chat', { messages: [hi], reasoning_effort: 'xhigh' }).body).toMatchObject({
      reasoning_effort: 'high',
    });
  });
});

describe('mlx-vlm', () => {
  it('gets its limit of tokens under the only name that it reads, and no path on its machine', () => {
    const body = { messages: [hi], max_completion_tokens: 9, adapter_path: '/srv/adapter', reasoning_effort: 'low' };
    const { body: sent, notes } = adapted('mlx-vlm', 'chat', body);
    expect(sent).toEqual({ messages: [hi], max_tokens: 9, reasoning_effort: 'low' });
    expect(notes).toContain('dropped adapter_path');
  });

  it('gets no stop sequences, which it would ignore', () => {
    expect(adapted('mlx-vlm', 'chat', { messages: [hi], stop: ['x'] }).body).toEqual({ messages: [hi] });
  });
});

describe('Dynamo', () => {
  it('gets none of the members of OpenAI’s that its Chat endpoint refuses with 400', () => {
    const refused = { verbosity: 'low', safety_identifier: 's', prompt_cache_retention: '24h' };
    const kept = { messages: [hi], prompt_cache_key: 'k', user: 'u' };
    expect(adapted('dynamo', 'chat', { ...kept, ...refused }).body).toEqual(kept);
  });

  it('gets all of them at its Responses endpoint', () => {
    const body = { input: 'hi', text: { verbosity: 'low' }, safety_identifier: 's', prompt_cache_retention: '24h' };
    expect(adapted('dynamo', 'responses', body)).toEqual({ body, notes: [] });
  });
});
