import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import type { Conversation, Item, Part, Tool } from '../../../../../../plugins/format/canonical/conversation.ts';
import { calls, clientTool, decode, encode, picture as plainPicture, returns, says, text } from '../fixture.ts';

const picture = { ...plainPicture, detail: 'original' } as const;
const native = { quirks: { freeform_tools: true } };
const inputOf = (items: Item[], profile = {}) => encode({ items }, profile).body['input'];

describe('encoding a Responses request', () => {
  it('a Responses request is not stored, and asks for encrypted reasoning', () => {
    expect(encode({ instructions: ['A', 'B'], items: [says('user', 'Hi')] }).body).toEqual({
      model: 'gpt-there',
      instructions: 'A\n\nB',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
      include: ['reasoning.encrypted_content'],
      store: false,
      stream: true,
    });
  });

  it('a Responses request asks for no encrypted reasoning if the model has none', () => {
    expect(encode({}, { capabilities: { reasoning: false } }).body).not.toHaveProperty('include');
  });

  it('assistant text becomes output text of a Responses request', () => {
    const refused: Part = { type: 'refusal', text: 'No.' };
    expect(inputOf([{ type: 'message', role: 'assistant', parts: [text('Yes.'), refused] }])).toEqual([
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'Yes.', annotations: [] },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
    ]);
  });

  it('late instructions keep their place in a Responses request if the upstream accepts them', () => {
    const items = [says('user', 'Hi'), says('system', 'In French.')];
    expect(inputOf(items, { quirks: { late_system: true } })).toMatchObject([{}, { role: 'developer' }]);
    expect(inputOf(items)).toMatchObject([
      {},
      { role: 'user', content: [{ text: '<system-reminder>\nIn French.\n</system-reminder>' }] },
    ]);
  });

  it('media that the Responses model does not support are refused', () => {
    const capabilities = { images: false, audio: false, files: false };
    const sound: Part = { type: 'audio', data: 'UklG', format: 'wav' };
    const paper: Part = { type: 'file', source: { type: 'id', id: 'f', vendor: 'openai' }, name: undefined };
    for (const part of [picture, sound, paper]) {
      const items: Item[] = [{ type: 'message', role: 'user', parts: [part] }];
      expect(() => encode({ items }, { capabilities })).toThrow(
        expect.objectContaining({ code: 'unsupported_content' }),
      );
      expect(() => encode({ items })).not.toThrow();
    }
    expect(() => encode({ candidates: 2 })).toThrow(expect.objectContaining({ details: { param: 'n' } }));
  });

  it('images and documents are sent to Responses', () => {
    const paper: Part = {
      type: 'file',
      source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBE' },
      name: undefined,
    };
    expect(inputOf([{ type: 'message', role: 'user', parts: [picture, paper] }])).toMatchObject([
      {
        content: [
          { type: 'input_image', image_url: 'data:image/png;base64,iVBO', detail: 'original' },
          { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBE' },
        ],
      },
    ]);
  });
});

describe('encoding calls of a Responses request', () => {
  it('Responses results follow their calls in order, with errors as text', () => {
    expect(
      inputOf([
        calls('a', 'f', ' '),
        calls('b', 'g', '{"x":1}'),
        says('user', 'wait'),
        returns('b', [text('broken')], true),
        returns('a', []),
      ]),
    ).toEqual([
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      { type: 'function_call', call_id: 'b', name: 'g', arguments: '{"x":1}' },
      { type: 'function_call_output', call_id: 'a', output: '' },
      { type: 'function_call_output', call_id: 'b', output: 'Error: broken' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'wait' }] },
    ]);
  });

  it('images stay in Responses results, or follow the last result in a user message', () => {
    const items = [calls('a', 'f', '{}'), calls('b', 'f', '{}'), returns('a', [picture]), returns('b', [text('ok')])];
    expect(inputOf(items)).toMatchObject([{}, {}, { output: [{ type: 'input_image' }] }, { output: 'ok' }]);
    expect(inputOf(items, { quirks: { tool_result_images: false } })).toMatchObject([
      {},
      {},
      { type: 'function_call_output', call_id: 'a', output: expect.stringContaining('follows') },
      { type: 'function_call_output', call_id: 'b', output: 'ok' },
      { role: 'user', content: [{ type: 'input_image' }] },
    ]);
  });

  it('freeform calls become Responses functions of one string, unless the upstream has freeform tools', () => {
    const items = [calls('a', 'patch', 'raw "text"', { form: 'freeform' }), returns('a', [text('ok')])];
    expect(inputOf(items)).toEqual([
      { type: 'function_call', call_id: 'a', name: 'patch', arguments: '{"input":"raw \\"text\\""}' },
      { type: 'function_call_output', call_id: 'a', output: 'ok' },
    ]);
    expect(inputOf(items, native)).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: 'raw "text"' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'ok' },
    ]);
  });

  it('search calls become Responses functions, unless the upstream has searches', () => {
    const items = [calls('a', 'tool_search', '{"query":"x"}', { form: 'tool_search' }), returns('a', [text('found')])];
    expect(inputOf(items)).toMatchObject([
      { type: 'function_call', name: 'tool_search', arguments: '{"query":"x"}' },
      { type: 'function_call_output', output: 'found' },
    ]);
    expect(inputOf(items, native)).toMatchObject([
      { type: 'tool_search_call', call_id: 'a', execution: 'client', arguments: { query: 'x' } },
      { type: 'tool_search_output', call_id: 'a' },
    ]);
  });

  it('ids that Responses refuses are replaced, the same for call and result', () => {
    const long = 'x'.repeat(100);
    const items = [calls(long, 'f', '{}'), returns(long, [])];
    const [call, result] = inputOf(items) as { call_id: string }[];
    expect(call?.call_id).toHaveLength(64);
    expect(result?.call_id).toBe(call?.call_id);
    const [nine] = inputOf(items, { quirks: { tool_call_ids: 'nine_characters' } }) as { call_id: string }[];
    expect(nine?.call_id).toMatch(/^[a-z0-9]{9}$/);
  });
});

describe('encoding encrypted reasoning of a Responses request', () => {
  const thought: Item = {
    type: 'reasoning',
    text: 'Hm.',
    state: { kind: 'encrypted', origin: '0123abcd', data: 'rs_1:gA:A' },
  };
  const answered = [thought, calls('a', 'f', '{}'), returns('a', [])];

  it('encrypted Responses reasoning is sent to the upstream that made it, before its message or call', () => {
    expect(inputOf(answered)).toMatchObject([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: 'gA:A',
      },
      { type: 'function_call' },
      {},
    ]);
  });

  it('encrypted Responses reasoning is sent to no other upstream', () => {
    const { body, notes } = encode({ items: answered }, {}, { findAcceptedState: () => undefined });
    expect(body['input']).toHaveLength(2);
    expect(JSON.stringify(body)).not.toContain('gA:A');
    expect(notes).toEqual(['dropped reasoning of earlier turns']);
  });

  it('reasoning state of other kinds is not sent to Responses', () => {
    const signed: Item = { ...thought, state: { kind: 'signature', origin: '0123abcd', data: 'EqQB' } };
    expect(inputOf([signed, says('assistant', 'Yes')])).toHaveLength(1);
  });

  it('encrypted Responses reasoning without a following item is left out', () => {
    expect(inputOf([thought, says('user', 'Stop')])).toMatchObject([{ role: 'user' }]);
    expect(inputOf([thought])).toEqual([]);
    expect(inputOf([thought, thought, says('assistant', 'Yes')])).toHaveLength(3);
  });
});

describe('encoding tools of a Responses request', () => {
  const tools: Tool[] = [
    clientTool({ name: 'f', strict: true, schema: { type: 'object' } }),
    clientTool({ name: 'g', namespace: 'ns' }),
    clientTool({ name: 'h', namespace: 'ns' }),
    clientTool({ name: 'patch', form: 'freeform', grammar: { syntax: 'lark', definition: 'start: "x"' } }),
    clientTool({ name: 'tool_search', form: 'tool_search' }),
    { form: 'web_search' },
  ];

  it('Responses functions always state whether they are strict', () => {
    const { body, notes } = encode({ tools });
    expect(body['tools']).toMatchObject([
      { type: 'function', name: 'f', parameters: { type: 'object' }, strict: false },
      { type: 'function', name: 'ns__g', parameters: { type: 'object', properties: {} }, strict: false },
      { type: 'function', name: 'ns__h' },
      { type: 'function', name: 'patch', parameters: { required: ['input'] } },
      { type: 'function', name: 'tool_search' },
    ]);
    expect(notes).toEqual([
      'approximated freeform tools as functions',
      'dropped web_search',
      'dropped strict of tools',
    ]);
  });

  it('groups, freeform tools and searches are sent as such to Responses upstreams that know them', () => {
    const quirks = { freeform_tools: true, strict_tools: true, hosted_search: true };
    expect(encode({ tools }, { quirks }).body['tools']).toMatchObject([
      { type: 'function', name: 'f', strict: true },
      {
        type: 'namespace',
        name: 'ns',
        tools: [
          { type: 'function', name: 'g' },
          { type: 'function', name: 'h' },
        ],
      },
      { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
      { type: 'tool_search', execution: 'client' },
      { type: 'web_search' },
    ]);
  });

  it('a Responses request without tools has no members about tools', () => {
    const none = { toolChoice: { type: 'auto' }, parallelToolCalls: true } as const;
    expect(Object.keys(encode(none).body).filter((name) => name.includes('tool'))).toEqual([]);
  });

  it('a Responses request is refused if its only tool is a search that the route cannot run', () => {
    const onlySearch = { tools: [{ form: 'web_search' }] } as const;
    expect(() => encode(onlySearch)).toThrow(expect.objectContaining({ details: { param: 'tools' } }));
  });

  it.each<[Conversation['toolChoice'], object, unknown]>([
    [{ type: 'required' }, {}, 'required'],
    [{ type: 'required' }, { forced_tools: false }, 'auto'],
    [{ type: 'none' }, { forced_tools: false }, 'none'],
    [{ type: 'tool', name: 'f' }, {}, { type: 'function', name: 'f' }],
    [{ type: 'tool', name: 'g', namespace: 'ns' }, {}, { type: 'function', name: 'ns__g' }],
    [{ type: 'tool', name: 'g', namespace: 'ns' }, { freeform_tools: true }, 'required'],
    [{ type: 'tool', name: 'patch' }, { freeform_tools: true }, { type: 'custom', name: 'patch' }],
    [{ type: 'tool', name: 'patch' }, {}, { type: 'function', name: 'patch' }],
    [
      { type: 'auto', allowed: ['f', 'patch'] },
      { freeform_tools: true },
      {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'custom', name: 'patch' },
        ],
      },
    ],
  ])('the tool choice %j with the quirks %j is written for Responses', (toolChoice, quirks, expected) => {
    expect(encode({ tools, toolChoice }, { quirks }).body['tool_choice']).toEqual(expected);
  });

  it('grouped tools that are not allowed are left out of a Responses request', () => {
    const { body } = encode({ tools, toolChoice: { type: 'auto', allowed: ['g'] } }, native);
    expect(body).toMatchObject({ tool_choice: 'auto', tools: [{ type: 'namespace', tools: [{ name: 'g' }] }] });
    expect(body['tools']).toHaveLength(1);
  });

  it('parallel calls are turned off if the Responses upstream has the parameter', () => {
    expect(encode({ tools, parallelToolCalls: false }).body['parallel_tool_calls']).toBe(false);
    const { body, notes } = encode({ tools, parallelToolCalls: false }, { quirks: { parallel_switch: false } });
    expect(body).not.toHaveProperty('parallel_tool_calls');
    expect(notes).toContain('dropped parallel_tool_calls');
  });
});

describe('encoding settings of a Responses request', () => {
  it('a Responses request asks for the nearest effort, and for a summary if the text is wanted', () => {
    const reasoning = { effort: 'max', budget: undefined, wantsText: true } as const;
    const { body, notes } = encode({ reasoning }, { quirks: { efforts: ['low', 'medium', 'high'] } });
    expect(body['reasoning']).toEqual({ effort: 'high', summary: 'auto' });
    expect(notes).toEqual(['approximated reasoning effort as high']);
    expect(encode({ reasoning: { ...reasoning, effort: undefined, budget: 8_000 } }).body['reasoning']).toMatchObject({
      effort: 'medium',
    });
    expect(encode({ reasoning }, { quirks: { reasoning: 'none' } }).body).not.toHaveProperty('reasoning');
  });

  it.each([
    [1, {}, 16],
    [100, {}, 100],
    [128_000, { max_output_tokens: 32_000 }, 32_000],
  ])('a limit of %d tokens is brought within the bounds of Responses', (maxOutputTokens, quirks, expected) => {
    expect(encode({ maxOutputTokens }, { quirks }).body['max_output_tokens']).toBe(expected);
  });

  it('settings that Responses cannot express are noted', () => {
    const sampling = { temperature: 1, topP: 0.5, topK: 4, seed: 7, presencePenalty: 1, frequencyPenalty: 0 };
    const { body, notes } = encode({ ...sampling, stop: ['x'], serviceTier: 'standard_only' });
    expect(body).toMatchObject({ temperature: 1, top_p: 0.5 });
    expect(notes).toEqual([
      'approximated stop by cutting the answer',
      'dropped top_k',
      'dropped presence_penalty',
      'dropped seed',
      'dropped service_tier',
    ]);
    expect(encode(sampling, { quirks: { sampling: false } }).body).not.toHaveProperty('temperature');
  });

  it.each<['24h' | 'in_memory', ('24h' | 'in_memory')[] | undefined, boolean]>([
    ['24h', ['in_memory', '24h'], true],
    ['in_memory', ['in_memory', '24h'], true],
    ['in_memory', ['24h'], false],
    ['24h', undefined, false],
  ])('of times to keep a cache, %s among %j is sent to Responses: %s', (cacheRetention, taken, isSent) => {
    const { body, notes } = encode({ cacheRetention }, { quirks: taken && { cache_retention: taken } });
    expect(body['prompt_cache_retention']).toBe(isSent ? cacheRetention : undefined);
    expect(notes).toEqual(isSent ? [] : ['dropped prompt_cache_retention']);
  });

  it('long users and cache keys are shortened for Responses, always in the same way', () => {
    const user = 'u'.repeat(200);
    const { body } = encode({ user, cacheKey: 'k' });
    expect(body['user']).toMatch(/^[0-9a-f]{64}$/);
    expect(body['prompt_cache_key']).toBe('k');
    expect(encode({ user }).body['user']).toBe(body['user']);
    expect(encode({ user }, { quirks: { end_user: false } }).body).not.toHaveProperty('user');
  });

  it('metadata within the published limits is sent to Responses', () => {
    const metadata = { team: 'a', run: '7' };
    expect(encode({ metadata })).toMatchObject({ body: { metadata }, notes: [] });
  });

  it.each<[string, JsonObject]>([
    ['values that are no text', { tags: ['a'] }],
    ['long values', { a: 'x'.repeat(513) }],
    ['long names', { ['x'.repeat(65)]: 'a' }],
    ['too many members', Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`m${index}`, 'a']))],
  ])('a Responses request leaves out metadata with %s', (_what, metadata) => {
    const { body, notes } = encode({ metadata });
    expect(body).not.toHaveProperty('metadata');
    expect(notes).toEqual(['dropped metadata']);
  });

  const output = { type: 'json_schema', name: 'a b', description: undefined, schema: { type: 'object' } } as const;

  it('JSON output by schema has a valid name in a Responses request', () => {
    expect(encode({ output: { ...output, strict: undefined }, verbosity: 'low' }).body['text']).toEqual({
      verbosity: 'low',
      format: { type: 'json_schema', name: 'a_b', schema: { type: 'object' }, strict: false },
    });
  });

  it.each([
    ['object', { format: { type: 'json_object' } }],
    ['none', undefined],
  ] as const)('put the schema into words where the model knows %s', (structured_output, expected) => {
    const { body, notes } = encode({ output: { ...output, strict: true } }, { capabilities: { structured_output } });
    expect(body['text']).toEqual(expected);
    expect(body['input']).toMatchObject([
      { role: 'developer', content: [{ text: expect.stringContaining('Schema') }] },
    ]);
    expect(notes).toEqual(['approximated json_schema as instruction']);
  });

  it('a Responses request for json_object has the word JSON in its input', () => {
    const wanted = { output: { type: 'json_object' } as const, instructions: ['Answer in JSON'] };
    expect(encode({ ...wanted, items: [says('user', 'Hi')] }).body['input']).toHaveLength(2);
    expect(encode({ ...wanted, items: [says('user', 'as json')] }).body['input']).toHaveLength(1);
  });
});

describe('passing a Responses conversation through a translation', () => {
  it('a conversation of a Responses client reaches a Responses upstream with the same items', () => {
    const input = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'function_call', call_id: 'a', name: 'g', namespace: 'ns', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: 'raw' },
      { type: 'function_call_output', call_id: 'a', output: 'ok' },
      { type: 'custom_tool_call_output', call_id: 'b', output: 'ok' },
    ];
    expect(encode(decode({ input }).conversation, native).body['input']).toEqual(input);
  });
});
