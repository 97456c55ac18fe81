import { describe, expect, it } from 'vitest';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { Conversation, Item, ReasoningRequest } from '../../../../../../plugins/format/canonical/conversation.ts';
import { Notes } from '../../../../../../plugins/format/canonical/notes.ts';
import { messages } from '../../../../../../plugins/format/formats/messages/descriptor.ts';
import {
  base64,
  block,
  calls,
  clientTool,
  decode,
  encode,
  parameters,
  returns,
  says,
  text,
  thinks,
  used,
} from '../fixture.ts';

const hi = says('user', 'Hi');
const weather = clientTool({ name: 'weather', schema: { type: 'object', properties: {} } });
const grammar = { syntax: 'lark', definition: 'start: "x"' };
const patch = clientTool({ name: 'patch', form: 'freeform', description: 'Edits.', grammar });

const asked = (
  reasoning: Partial<ReasoningRequest>,
  settings: ProfileSettings['quirks'],
  more: Partial<Conversation> = {},
) => {
  const request = { effort: undefined, budget: undefined, wantsText: true, ...reasoning };
  const { body, notes } = encode({ items: [hi], reasoning: request, ...more }, parameters(settings));
  const { thinking, output_config } = body;
  return { thinking, output_config, notes };
};

const thinkingAfter = (items: Item[], reasoning: 'adaptive' | 'budget') =>
  asked({ effort: 'high' }, { reasoning }, { items }).thinking;
const toolsOf = (wanted: Partial<Conversation>, profile: ProfileSettings = {}) => {
  const { body, notes } = encode({ items: [hi], ...wanted }, profile);
  const { tools, tool_choice } = body;
  return { tools, tool_choice, notes };
};
const bodyOf = (wanted: Partial<Conversation>, profile: ProfileSettings = {}) =>
  encode({ items: [hi], ...wanted }, profile);

describe('encoding a Messages request', () => {
  it('a Messages request has a limit, instructions as one text, and user content as blocks', () => {
    expect(encode({ instructions: ['A', ' ', 'B'], items: [hi] }).body).toEqual({
      model: 'claude-there',
      max_tokens: 32_000,
      system: 'A\n\nB',
      messages: [{ role: 'user', content: [block('Hi')] }],
      stream: true,
    });
  });

  it('a Messages request for several answers is refused', () => {
    expect(() => encode({ items: [hi], candidates: 2 })).toThrow(
      expect.objectContaining({ code: 'not_supported', details: { param: 'n' } }),
    );
  });

  it('a Messages request that is decoded and encoded again has the same meaning', () => {
    const body = {
      model: 'claude-there',
      max_tokens: 500,
      system: 'A',
      messages: [
        { role: 'user', content: [block('Look'), { type: 'image', source: base64('image/png', 'iVBORw0KGgo=') }] },
        {
          role: 'assistant',
          content: [block('Two at once.'), used('t1', 'weather', { a: [1, 'x'] }), used('t2', 'now', {})],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't1',
              content: [block('sunny'), { type: 'image', source: base64('image/jpeg', '/9j/4A==') }],
            },
            { type: 'tool_result', tool_use_id: 't2', content: [block('no clock')], is_error: true },
            block('And?'),
          ],
        },
      ],
      tools: [{ name: 'weather', description: 'Tells.', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
      temperature: 0.5,
      top_k: 40,
      stop_sequences: ['END'],
      metadata: { user_id: 'someone' },
      service_tier: 'standard_only',
      stream: true,
    };
    expect(encode(decode(body).conversation)).toEqual({ body, notes: [] });
  });

  it('caching is requested at the top level for endpoints that cache by themselves', () => {
    const marked = { ...block('Hi'), cache_control: { type: 'ephemeral', ttl: '1h' } };
    const { conversation } = decode({ messages: [{ role: 'user', content: [marked] }] });
    expect(JSON.stringify(encode(conversation).body)).not.toContain('cache_control');
    const { body } = encode(conversation, parameters({ automatic_caching: true }));
    expect(body).toMatchObject({ cache_control: { type: 'ephemeral' }, messages: [{ content: [block('Hi')] }] });
  });
});

describe('encoding a request of Claude Code for another upstream', () => {
  const request = {
    max_tokens: 32_000,
    system: [block('x-anthropic-billing-header: cc_version=2.1'), { ...block('You are an agent.'), cache_control: {} }],
    messages: [
      { role: 'user', content: [block('<system-reminder>a</system-reminder>'), block('Fix it.')] },
      { role: 'system', content: [{ ...block('Be quick.'), cache_control: { type: 'ephemeral' } }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '', signature: 'dps1s0a1b2c3d.EqQB' },
          used('t1', 'Read', { path: 'a.png' }),
          used('t2', 'Bash', { command: 'ls' }),
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't2', content: 'no such file', is_error: true },
          {
            type: 'tool_result',
            tool_use_id: 't1',
            content: [{ type: 'image', source: base64('image/png', 'iVBORw0KGgo=') }],
            cache_control: { type: 'ephemeral' },
          },
        ],
      },
    ],
    tools: [
      { name: 'Read', description: 'Reads.', input_schema: { type: 'object' } },
      { name: 'Bash', input_schema: { type: 'object' }, eager_input_streaming: true },
      { name: 'DeferredToolPlaceholder', defer_loading: true, input_schema: { type: 'object' } },
    ],
    metadata: { user_id: '{"device_id":"d","session_id":"s-1"}' },
    thinking: { type: 'adaptive', display: 'omitted' },
    context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
    output_config: { effort: 'high' },
    stream: true,
  };
  const { conversation } = decode(request);
  const adaptive = parameters({ reasoning: 'adaptive', late_system: true });

  it('a request of Claude Code is sent to another Messages upstream with results in the order of their calls', () => {
    const own = { findAcceptedState: (state: { origin: string; data: string } | undefined) => state?.data };
    const { body } = encode(conversation, adaptive, own);
    expect(body).toMatchObject({
      system: 'You are an agent.',
      messages: [
        { role: 'user', content: [{}, block('Fix it.')] },
        { role: 'system', content: [block('Be quick.')] },
        { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature: 'EqQB' }, {}, {}] },
        {
          role: 'user',
          content: [
            { tool_use_id: 't1', content: [{ type: 'image' }] },
            { tool_use_id: 't2', content: [block('no such file')], is_error: true },
          ],
        },
      ],
      tools: [{ name: 'Read' }, { name: 'Bash' }],
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      metadata: request.metadata,
    });
    expect(body['thinking']).not.toHaveProperty('display');
  });

  it('a request of Claude Code loses signatures of other upstreams, but keeps thinking on', () => {
    const { body, notes } = encode(conversation, adaptive);
    expect(JSON.stringify(body)).not.toContain('EqQB');
    expect(body).toMatchObject({ thinking: { type: 'adaptive' } });
    expect(notes).toContain('dropped reasoning of earlier turns');
    expect(notes).not.toContain('dropped reasoning until the end of this tool loop');
  });
});

describe('requesting thinking in a Messages request', () => {
  const adaptive = { reasoning: 'adaptive' } as const;
  const budget = { reasoning: 'budget' } as const;

  it.each([
    [{ effort: 'high' }, adaptive, { type: 'adaptive', display: 'summarized' }, { effort: 'high' }],
    [{ effort: 'high', wantsText: false }, adaptive, { type: 'adaptive' }, { effort: 'high' }],
    [{ effort: 'minimal' }, adaptive, { type: 'adaptive', display: 'summarized' }, { effort: 'low' }],
    [{ budget: 9_000 }, adaptive, { type: 'adaptive', display: 'summarized' }, { effort: 'medium' }],
    [
      { effort: 'max' },
      { ...adaptive, efforts: ['low', 'high'] },
      { type: 'adaptive', display: 'summarized' },
      { effort: 'high' },
    ],
    [{}, adaptive, { type: 'adaptive', display: 'summarized' }, undefined],
    [{ effort: 'none' }, adaptive, { type: 'disabled' }, undefined],
    [{ effort: 'none' }, { ...adaptive, no_thinking: 'between_tools' }, { type: 'between_tools' }, undefined],
    [{ effort: 'none' }, { ...adaptive, no_thinking: 'disabled_to_high' }, { type: 'disabled' }, undefined],
    [{ effort: 'low' }, budget, { type: 'enabled', budget_tokens: 2_048 }, undefined],
    [{ budget: 5_000 }, budget, { type: 'enabled', budget_tokens: 5_000 }, undefined],
    [{ budget: 5 }, budget, { type: 'enabled', budget_tokens: 1_024 }, undefined],
    [{ budget: 40_000 }, budget, { type: 'enabled', budget_tokens: 16_000 }, undefined],
    [{ effort: 'none' }, budget, undefined, undefined],
    [{ effort: 'none' }, { ...budget, signed_thinking: false }, { type: 'disabled' }, undefined],
    [{ budget: 0 }, { ...budget, signed_thinking: false }, { type: 'disabled' }, undefined],
    [{ effort: 'high' }, { reasoning: 'none' }, undefined, undefined],
  ] as const)('%j with %j by %j and %j', (reasoning, settings, thinking, output_config) => {
    expect(asked(reasoning, settings as ProfileSettings['quirks'])).toMatchObject({ thinking, output_config });
  });

  it('no thinking becomes the least where a model cannot be told to stop thinking', () => {
    const always: ProfileSettings['quirks'] = { ...adaptive, efforts: ['low', 'high', 'max'] };
    const notes = ['approximated reasoning effort as low'];
    const least = { thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, notes };
    expect(asked({ effort: 'none', wantsText: false }, always)).toEqual(least);
    const profile = mergeProfiles(parameters(always));
    const own = new Notes();
    const body = {
      model: 'm',
      max_tokens: 9_000,
      messages: [{ role: 'user', content: 'Hi' }],
      thinking: { type: 'disabled' },
    };
    const adapted = messages.text.adapt(body, { profile, notes: own, origin: 'x' });
    expect({ ...adapted, notes: own.entries }).toMatchObject(least);
    const obedient = { profile: mergeProfiles(parameters(adaptive)), notes: own, origin: 'x' };
    expect(messages.text.adapt(body, obedient)).toMatchObject({ thinking: { type: 'disabled' } });
  });

  it('no thinking that cannot be requested has a note, unless the model does not think at all', () => {
    expect(asked({ effort: 'none' }, { reasoning: 'none' }).notes).toEqual(['dropped reasoning effort none']);
    const still = { reasoning: { effort: 'none', budget: undefined, wantsText: false } } as const;
    expect(encode({ items: [hi], ...still }, { capabilities: { reasoning: false } }).notes).toEqual([]);
  });

  it('a call can be forced and sampling stays where thinking is turned off', () => {
    const wanted: Partial<Conversation> = {
      items: [hi],
      tools: [weather],
      toolChoice: { type: 'required' },
      reasoning: { effort: 'none', budget: undefined, wantsText: false },
      temperature: 0.5,
    };
    const { body, notes } = encode(wanted, parameters(adaptive));
    expect(body).toMatchObject({ thinking: { type: 'disabled' }, tool_choice: { type: 'any' }, temperature: 0.5 });
    expect(notes).toEqual([]);
  });

  it('thinking is requested only if the answer has room for it', () => {
    expect(asked({ effort: 'high' }, budget, { maxOutputTokens: 1_500 })).toEqual({
      thinking: undefined,
      output_config: undefined,
      notes: ['dropped reasoning: the answer has no room for it'],
    });
  });

  it('thinking is not requested for a prefilled answer, nor by budget in a tool loop without own thinking', () => {
    const loop = [hi, calls('c1', 'a', '{}'), returns('c1', [text('x')])];
    const own = [hi, thinks('Hm.', 'EqQB'), ...loop.slice(1)];
    const foreign = [hi, thinks('Hm.', 'EqQB', 'other'), ...loop.slice(1)];
    const begun = [hi, says('assistant', 'It')];
    const over = [...loop, says('assistant', 'Done'), hi];
    for (const items of [begun, loop, foreign]) expect(thinkingAfter(items, 'budget')).toBeUndefined();
    for (const items of [own, over]) expect(thinkingAfter(items, 'budget')).toMatchObject({ type: 'enabled' });
    expect(thinkingAfter(begun, 'adaptive')).toBeUndefined();
    for (const items of [loop, foreign, own, over]) {
      expect(thinkingAfter(items, 'adaptive')).toMatchObject({ type: 'adaptive' });
    }
  });

  it('thinking is requested without the parameters that a model refuses beside it', () => {
    const wanted: Partial<Conversation> = {
      items: [hi],
      tools: [weather],
      toolChoice: { type: 'required' },
      reasoning: { effort: 'high', budget: undefined, wantsText: false },
      temperature: 0.5,
      topP: 0.5,
      topK: 4,
    };
    const { body, notes } = encode(wanted, parameters(adaptive));
    expect(body).toMatchObject({ thinking: {}, tool_choice: { type: 'auto' } });
    for (const name of ['temperature', 'top_p', 'top_k']) expect(body).not.toHaveProperty(name);
    expect(notes).toEqual([
      'approximated forced tool_choice as auto',
      'dropped temperature',
      'dropped top_p',
      'dropped top_k',
    ]);
    const still = encode(wanted, { ...parameters(adaptive), capabilities: { reasoning: false } });
    expect(still.body).toMatchObject({ temperature: 0.5, top_k: 4, tool_choice: { type: 'any' } });
    expect(still.notes).toContain('dropped reasoning');
  });
});

describe('encoding tools of a Messages request', () => {
  it('freeform tools become Messages tools of one string', () => {
    expect(toolsOf({ tools: [patch] })).toMatchObject({
      tools: [
        {
          name: 'patch',
          description: 'Edits.\n\nThe input must follow this lark grammar:\nstart: "x"',
          input_schema: { properties: { input: { type: 'string' } }, required: ['input'] },
        },
      ],
      notes: ['approximated freeform tools as functions'],
    });
  });

  it('input of a Messages tool is always an object', () => {
    const tools = [clientTool({ name: 'a' }), clientTool({ name: 'b', schema: { description: 'any' } })];
    expect(toolsOf({ tools }).tools).toEqual([
      { name: 'a', input_schema: { type: 'object', properties: {} } },
      { name: 'b', input_schema: { type: 'object', properties: {}, description: 'any' } },
    ]);
  });

  it('grouped and long tool names become valid Messages names', () => {
    const tools = [clientTool({ name: 'read', namespace: 'files' }), clientTool({ name: 'x'.repeat(150) })];
    const toolChoice = { type: 'tool', name: 'read', namespace: 'files' } as const;
    const items = [hi, calls('c1', 'read', '{}', { namespace: 'files' })];
    const { body } = encode({ items, tools, toolChoice });
    expect(body).toMatchObject({
      tools: [{ name: 'files__read' }, { name: expect.stringMatching(/^x{119}_[0-9a-f]{8}$/) as string }],
      tool_choice: { type: 'tool', name: 'files__read' },
      messages: [{}, { content: [{ name: 'files__read' }] }, {}],
    });
  });

  it('tool choices are written in the words of Messages', () => {
    const choiceOf = (type: 'auto' | 'required' | 'none', parallelToolCalls?: boolean) =>
      toolsOf({ tools: [weather], toolChoice: { type }, parallelToolCalls }).tool_choice;
    expect(choiceOf('auto')).toEqual({ type: 'auto' });
    expect(choiceOf('required')).toEqual({ type: 'any' });
    expect(choiceOf('none', false)).toEqual({ type: 'none' });
    expect(choiceOf('required', false)).toEqual({ type: 'any', disable_parallel_tool_use: true });
    expect(toolsOf({ tools: [weather], parallelToolCalls: false }).tool_choice).toEqual({
      type: 'auto',
      disable_parallel_tool_use: true,
    });
    expect(toolsOf({ toolChoice: { type: 'required' } })).toEqual({
      tools: undefined,
      tool_choice: undefined,
      notes: [],
    });
  });

  it('forced and single calls are left out if the Messages route refuses them', () => {
    const wanted: Partial<Conversation> = {
      tools: [weather],
      toolChoice: { type: 'tool', name: 'weather' },
      parallelToolCalls: false,
    };
    expect(toolsOf(wanted, parameters({ forced_tools: false, parallel_switch: false }))).toMatchObject({
      tool_choice: { type: 'auto' },
      notes: ['dropped parallel_tool_calls', 'approximated forced tool_choice as auto'],
    });
  });

  it('Messages tools that may not be called are left out', () => {
    const tools = [weather, clientTool({ name: 'other' })];
    const { tools: written } = toolsOf({ tools, toolChoice: { type: 'auto', allowed: ['weather'] } });
    expect(written).toMatchObject([{ name: 'weather' }]);
    expect(written).toHaveLength(1);
  });

  it('strict tools and searches are sent only to Messages routes that know them', () => {
    const tools = [clientTool({ name: 'a', strict: true }), { form: 'web_search' } as const];
    expect(toolsOf({ tools }, parameters({ strict_tools: true, hosted_search: true })).tools).toMatchObject([
      { name: 'a', strict: true },
      { type: 'web_search_20250305', name: 'web_search' },
    ]);
    const { tools: plain, notes } = toolsOf({ tools });
    expect(plain).toEqual([{ name: 'a', input_schema: { type: 'object', properties: {} } }]);
    expect(notes).toEqual(['dropped web_search', 'dropped strict of tools']);
  });

  it('tools of earlier calls are declared to Messages, and cannot be called', () => {
    const { tools, tool_choice } = toolsOf({ items: [hi, calls('c1', 'a', '{}'), calls('c2', 'a', '{}')] });
    expect(tools).toMatchObject([{ name: 'a', input_schema: { type: 'object' } }]);
    expect(tools).toHaveLength(1);
    expect(tool_choice).toEqual({ type: 'none' });
  });

  it('tools are left out for Messages models without tools', () => {
    expect(toolsOf({ tools: [weather] }, { capabilities: { tools: false } })).toEqual({
      tools: undefined,
      tool_choice: undefined,
      notes: ['dropped tools'],
    });
  });
});

describe('encoding the output format of a Messages request', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: ['object', 'null'], properties: {} }, b: { type: 'array', items: { type: 'object' } } },
  };
  const output = { type: 'json_schema', name: 'a', description: undefined, schema, strict: true } as const;

  it('an output schema for Messages forbids additional properties', () => {
    const { body, notes } = encode({ items: [hi], output });
    expect(body['output_config']).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            a: { type: ['object', 'null'], properties: {}, additionalProperties: false },
            b: { type: 'array', items: { type: 'object', additionalProperties: false } },
          },
          additionalProperties: false,
        },
      },
    });
    expect(notes).toEqual(['approximated additionalProperties as false']);
  });

  it('JSON output is requested by an instruction if the Messages route has no parameter', () => {
    const inWords = encode(
      { instructions: ['A'], items: [hi], output },
      { capabilities: { structured_output: 'none' } },
    );
    expect(inWords.body).not.toHaveProperty('output_config');
    expect(inWords.body['system']).toMatch(/^A\n\n.*"type":"object"/s);
    const object = encode({ items: [hi], output: { type: 'json_object' } });
    expect(object.body['system']).toContain('JSON object');
    expect([inWords.notes, object.notes]).toEqual([
      ['approximated json_schema as instruction'],
      ['approximated json_object as instruction'],
    ]);
  });
});

describe('encoding parameters of a Messages request', () => {
  it('Messages parameters are limited to the accepted range', () => {
    const { body, notes } = bodyOf(
      { maxOutputTokens: 500, stop: ['a', ' ', 'b'] },
      parameters({ max_output_tokens: 100, stop: 1 }),
    );
    expect(body).toMatchObject({ max_tokens: 100, stop_sequences: ['a'] });
    expect(notes).toEqual(['approximated output token limit as 100', 'approximated stop by cutting the answer']);
    expect(bodyOf({}, parameters({ max_output_tokens: 64_000 })).body['max_tokens']).toBe(64_000);
    expect(bodyOf({ stop: ['\n'] })).toMatchObject({ notes: ['approximated stop by cutting the answer'] });
  });

  it.each([
    [{ temperature: 1.7 }, { temperature: 1 }, ['approximated temperature as 1']],
    [{ temperature: 0.5, topP: 0.9 }, { temperature: 0.5 }, ['dropped top_p']],
    [{ temperature: 1, topP: 0.9 }, { top_p: 0.9 }, []],
    [{ topP: 1 }, {}, []],
    [{ topK: 4 }, { top_k: 4 }, []],
    [{ seed: 7, presencePenalty: 0, frequencyPenalty: 1 }, {}, ['dropped frequency_penalty', 'dropped seed']],
  ])('the sampling parameters %j are sent to Messages as %j', (sampling, expected, noted) => {
    const { body, notes } = bodyOf(sampling);
    const { temperature, top_p, top_k } = body;
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(expected);
    expect(notes).toEqual(noted);
  });

  it('sampling parameters are left out for Messages models with fixed sampling', () => {
    const { body, notes } = bodyOf({ temperature: 0.5, topK: 4 }, parameters({ sampling: false }));
    expect(body).not.toHaveProperty('temperature');
    expect(notes).toEqual(['dropped temperature', 'dropped top_k']);
  });

  it('the Messages end user is hashed if it looks like a person', () => {
    expect(bodyOf({ user: 'someone' }).body['metadata']).toEqual({ user_id: 'someone' });
    for (const user of ['a@b.example', '+49 170 1234567', 'x'.repeat(257)]) {
      expect(bodyOf({ user }).body['metadata']).toEqual({ user_id: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
    }
    expect(bodyOf({ user: 'someone' }, parameters({ end_user: false }))).toMatchObject({ notes: ['dropped metadata'] });
  });

  it('the Messages end user is the user, else the user_id of the metadata, and other metadata is dropped', () => {
    expect(bodyOf({ metadata: { user_id: 'u' } })).toMatchObject({ body: { metadata: { user_id: 'u' } }, notes: [] });
    expect(bodyOf({ metadata: { user_id: 'u', team: 'a' } })).toMatchObject({
      body: { metadata: { user_id: 'u' } },
      notes: ['dropped metadata'],
    });
    expect(bodyOf({ user: 'someone', metadata: { user_id: 'u' } })).toMatchObject({
      body: { metadata: { user_id: 'someone' } },
      notes: ['dropped metadata'],
    });
  });

  it('parameters that Messages cannot express are noted', () => {
    expect(bodyOf({ verbosity: 'low', cacheKey: 'k', serviceTier: 'flex' }).notes).toEqual([
      'dropped verbosity',
      'dropped prompt_cache_key',
      'dropped service_tier',
    ]);
    expect(bodyOf({ serviceTier: 'auto' }).body['service_tier']).toBe('auto');
  });
});
