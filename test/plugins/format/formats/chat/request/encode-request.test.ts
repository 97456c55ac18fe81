import { describe, expect, it } from 'vitest';
import type { ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type {
  Conversation,
  Item,
  Part,
  ReasoningRequest,
} from '../../../../../../plugins/format/canonical/conversation.ts';
import { calls, clientTool, decode, encode, picture, returns, says, text, thinks } from '../fixture.ts';

const hi = says('user', 'Hi');
const messagesOf = (items: Item[], profile: ProfileSettings = {}) => encode({ items }, profile).body['messages'];
const parameters = (settings: ProfileSettings['quirks']): ProfileSettings => ({ quirks: settings });
const grammar = { syntax: 'lark', definition: 'start: "x"' };
const weather = clientTool({ name: 'weather', schema: { type: 'object', properties: {} } });
const patch = clientTool({ name: 'patch', form: 'freeform', description: 'Edits.', grammar });

const file = (mediaType: string, data: string, name?: string): Part => ({
  type: 'file',
  source: { type: 'base64', mediaType, data },
  name,
});

const toolsOf = (wanted: Partial<Conversation>, profile: ProfileSettings = {}) =>
  encode({ items: [hi], ...wanted }, profile).body;

const asked = (reasoning: Partial<ReasoningRequest>, settings: ProfileSettings['quirks']) => {
  const request = { effort: undefined, budget: undefined, wantsText: true, ...reasoning };
  const { body } = encode({ items: [hi], reasoning: request }, parameters(settings));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !['model', 'messages', 'stream'].includes(name)));
};

describe('encoding a Chat request', () => {
  it('a Chat request begins with all instructions as one system message', () => {
    expect(encode({ instructions: ['A', 'B'], items: [hi] }).body).toEqual({
      model: 'there',
      messages: [
        { role: 'system', content: 'A\n\nB' },
        { role: 'user', content: 'Hi' },
      ],
      stream: false,
    });
  });

  it('the system role of a Chat request is developer on routes that call it so', () => {
    const { body } = encode({ instructions: ['A'], items: [hi] }, parameters({ system_role: 'developer' }));
    expect(body['messages']).toMatchObject([{ role: 'developer' }, {}]);
  });

  it('a streamed Chat request asks for usage if the route knows the option', () => {
    expect(encode({ items: [hi] }, {}, { isStream: true }).body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
    const { body } = encode({ items: [hi] }, parameters({ stream_usage: false }), { isStream: true });
    expect(body).not.toHaveProperty('stream_options');
  });

  it("the seed of a Chat request has the vendor's name", () => {
    const { body } = encode({ items: [hi], seed: 5 }, parameters({ seed_name: 'random_seed' }));
    expect([body['seed'], body['random_seed']]).toEqual([undefined, 5]);
  });

  it('a Chat request with tools asks for no reasoning if the route refuses both together', () => {
    const profile = parameters({ responses_for_tools: true });
    const reasoning: ReasoningRequest = { effort: 'high', budget: undefined, wantsText: true };
    const { body, notes } = encode({ items: [hi], tools: [weather], reasoning }, profile);
    expect(body['reasoning_effort']).toBe('none');
    expect(notes).toEqual(['dropped reasoning: not supported together with tools']);
    expect(encode({ items: [hi], reasoning }, profile).body['reasoning_effort']).toBe('high');
  });

  it('a translated Chat request for several answers is refused', () => {
    expect(() => encode({ items: [hi], candidates: 2 })).toThrow(
      expect.objectContaining({ code: 'not_supported', details: { param: 'n' } }),
    );
  });

  it('a Chat request that is decoded and encoded again has the same meaning', () => {
    const body = {
      model: 'there',
      messages: [
        { role: 'system', content: 'A' },
        { role: 'user', content: [{ type: 'text', text: 'Look' }, image('image/png')] },
        { role: 'assistant', content: 'Yes', tool_calls: [call('c1', 'weather', '{"n": 12345678901234567890}')] },
        { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
        { role: 'user', content: 'Thanks' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }],
      tool_choice: 'auto',
      reasoning_effort: 'low',
      temperature: 0.5,
      stop: ['END'],
      stream: false,
    };
    expect(encode(decode(body).conversation).body).toEqual(body);
  });
});

function image(mediaType: string) {
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,iVBO` } };
}

function call(id: string, name: string, input: string) {
  return { id, type: 'function', function: { name, arguments: input } };
}

describe('encoding messages of a Chat request', () => {
  it('late system messages of a Chat request keep their place, or become reminders', () => {
    const items = [hi, says('system', 'Be brief.'), says('user', 'Go')];
    expect(messagesOf(items, parameters({ late_system: true }))).toMatchObject([
      { role: 'user' },
      { role: 'system', content: 'Be brief.' },
      { role: 'user' },
    ]);
    expect(messagesOf(items)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'text', text: '<system-reminder>\nBe brief.\n</system-reminder>' },
          { type: 'text', text: 'Go' },
        ],
      },
    ]);
  });

  it('Chat messages are strings if the route requires it', () => {
    const items: Item[] = [{ type: 'message', role: 'user', parts: [text('A'), text('B')] }];
    expect(messagesOf(items, parameters({ text_content: true }))).toEqual([{ role: 'user', content: 'A\n\nB' }]);
    const called = [hi, calls('c1', 'weather', '{}')];
    expect(messagesOf(called, parameters({ text_content: true }))).toMatchObject([{}, { content: '' }, {}]);
  });

  it('Chat calls of one turn are in one message, directly followed by their results', () => {
    const items = [
      calls('c1', 'a', '{}'),
      says('user', 'Wait'),
      calls('c2', 'b', ''),
      returns('c2', [text('two')]),
      returns('c1', [text('one')]),
    ];
    expect(messagesOf(items)).toEqual([
      { role: 'assistant', content: null, tool_calls: [call('c1', 'a', '{}')] },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'user', content: 'Wait' },
      { role: 'assistant', content: null, tool_calls: [call('c2', 'b', '{}')] },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
    ]);
  });

  it('a failed or empty result is text in a Chat request', () => {
    const items = [
      calls('c1', 'a', '{}'),
      calls('c2', 'b', '{}'),
      returns('c1', [text('no such city')], true),
      returns('c2', []),
    ];
    expect(messagesOf(items)).toMatchObject([{}, { content: 'Error: no such city' }, { content: '(no output)' }]);
  });

  it('images of results follow the whole run of Chat results', () => {
    const items = [
      calls('c1', 'a', '{}'),
      calls('c2', 'b', '{}'),
      returns('c1', [text('here'), picture]),
      returns('c2', [text('two')]),
      says('user', 'And?'),
    ];
    const { body, notes } = encode({ items });
    expect(body['messages']).toEqual([
      expect.objectContaining({ role: 'assistant' }),
      { role: 'tool', tool_call_id: 'c1', content: 'here\n\nMedia from this tool follows in a message.' },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      { role: 'user', content: [image('image/png'), { type: 'text', text: 'And?' }] },
    ]);
    expect(notes).toEqual(['approximated images in tool results as user message']);
  });

  it('files are sent to Chat as data, and text files as text', () => {
    const parts = [file('application/pdf', 'JVBE'), file('text/plain', 'SGkh', 'a.txt')];
    expect(messagesOf([{ type: 'message', role: 'user', parts }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
          { type: 'text', text: 'a.txt:\nHi!' },
        ],
      },
    ]);
  });

  it('media that the Chat model does not support are refused', () => {
    const capabilities = { images: false, audio: false, files: false };
    const parts: Part[] = [
      picture,
      { type: 'audio', data: 'UklG', format: 'wav' },
      { type: 'file', source: { type: 'id', id: 'f', vendor: 'openai' }, name: undefined },
    ];
    for (const part of parts) {
      const items: Item[] = [{ type: 'message', role: 'user', parts: [part] }];
      expect(() => encode({ items }, { capabilities })).toThrow(
        expect.objectContaining({ code: 'unsupported_content' }),
      );
      expect(() => encode({ items })).not.toThrow();
    }
  });

  it('Chat call ids are valid, and stay the same', () => {
    const long = `call_${'x'.repeat(60)}`;
    const items = [calls(long, 'a', '{}'), returns(long, [text('x')])];
    const idOf = (profile: ProfileSettings) => {
      const [said, result] = messagesOf(items, profile) as [{ tool_calls: [{ id: string }] }, { tool_call_id: string }];
      expect(result.tool_call_id).toBe(said.tool_calls[0].id);
      return result.tool_call_id;
    };
    expect(idOf({})).toHaveLength(40);
    expect(idOf(parameters({ tool_call_ids: 'nine_characters' }))).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(idOf({})).toBe(idOf({}));
    expect(messagesOf([calls('functions.a:0', 'a', '{}')])).toMatchObject([
      { tool_calls: [{ id: 'functions.a:0' }] },
      {},
    ]);
  });
});

describe('encoding reasoning of earlier turns as Chat', () => {
  const items = [
    hi,
    thinks('One.'),
    thinks('Two.'),
    calls('c1', 'a', '{}'),
    returns('c1', [text('x')]),
    says('assistant', 'Done'),
  ];
  const thoughts = (settings: ProfileSettings['quirks']) =>
    (messagesOf(items, parameters(settings)) as { role: string; reasoning_content?: string }[])
      .filter(({ role }) => role === 'assistant')
      .map(({ reasoning_content }) => reasoning_content);

  it('Chat reasoning is sent back if the vendor wants it, empty if it is lost', () => {
    expect(thoughts({ replay_reasoning: 'never' })).toEqual([undefined, undefined]);
    expect(thoughts({ replay_reasoning: 'tool_turns' })).toEqual(['One.\n\nTwo.', undefined]);
    expect(thoughts({ replay_reasoning: 'always' })).toEqual(['One.\n\nTwo.', '']);
    expect(encode({ items }, parameters({ replay_reasoning: 'never' })).notes).toEqual([
      'dropped reasoning of earlier turns',
    ]);
  });

  it('Chat reasoning is sent back as far as it is known, if the vendor does not insist on it', () => {
    expect(thoughts({})).toEqual(['One.\n\nTwo.', undefined]);
    expect(encode({ items }).notes).toEqual([]);
  });

  it.each([
    ['reasoning', { content: null, reasoning: 'One.\n\nTwo.' }],
    ['thinking_parts', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'One.\n\nTwo.' }] }] }],
    ['think_tags', { content: '<think>\nOne.\n\nTwo.\n</think>\n\n' }],
    ['text', { content: 'One.\n\nTwo.\n\n' }],
  ] as const)('Chat reasoning is sent back as %s', (replay_as, expected) => {
    const [, called, , done] = messagesOf(items, parameters({ replay_as })) as JsonObject[];
    expect(called).toMatchObject(expected);
    expect(called).not.toHaveProperty('reasoning_content');
    expect(done).toEqual({ role: 'assistant', content: 'Done' });
  });

  it('Chat reasoning is sent back inside the text to models that reason there', () => {
    const profile = parameters({ replay_reasoning: 'tool_turns', inline_thinking: true });
    expect(messagesOf(items, profile)).toMatchObject([
      {},
      { content: '<think>\nOne.\n\nTwo.\n</think>\n\n' },
      {},
      { content: 'Done' },
    ]);
  });

  it('Chat reasoning alone is no message', () => {
    expect(messagesOf([hi, thinks('Hm.')], parameters({ replay_reasoning: 'always' }))).toHaveLength(1);
  });
});

describe('encoding tools of a Chat request', () => {
  it('freeform tools become Chat functions of one string, in the dialogue too', () => {
    const items = [hi, calls('c1', 'patch', '*** Begin', { form: 'freeform' })];
    const { body, notes } = encode({ items, tools: [patch] });
    expect(body['tools']).toEqual([
      {
        type: 'function',
        function: {
          name: 'patch',
          description: 'Edits.\n\nThe input must follow this lark grammar:\nstart: "x"',
          parameters: {
            type: 'object',
            properties: { input: { type: 'string', description: 'The whole input, verbatim.' } },
            required: ['input'],
            additionalProperties: false,
          },
        },
      },
    ]);
    expect(body['messages']).toMatchObject([{}, { tool_calls: [call('c1', 'patch', '{"input":"*** Begin"}')] }, {}]);
    expect(notes).toEqual(['approximated freeform tools as functions']);
  });

  it('freeform tools are custom tools for Chat routes that know them', () => {
    const items = [hi, calls('c1', 'patch', '*** Begin', { form: 'freeform' })];
    const wanted = { items, tools: [patch], toolChoice: { type: 'tool', name: 'patch' } } as const;
    expect(toolsOf(wanted, parameters({ freeform_tools: true }))).toMatchObject({
      tools: [{ type: 'custom', custom: { name: 'patch', format: { type: 'grammar', grammar } } }],
      tool_choice: { type: 'custom', custom: { name: 'patch' } },
      messages: [{}, { tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'patch', input: '*** Begin' } }] }, {}],
    });
  });

  it('grouped and long tool names become valid Chat names', () => {
    const grouped = clientTool({ name: 'read', namespace: 'files' });
    const long = clientTool({ name: 'x'.repeat(90) });
    const toolChoice = { type: 'tool', name: 'read', namespace: 'files' } as const;
    const { body } = encode({
      items: [calls('c1', 'read', '{}', { namespace: 'files' })],
      tools: [grouped, long],
      toolChoice,
    });
    expect(body).toMatchObject({
      tools: [
        { function: { name: 'files__read', parameters: { type: 'object', properties: {} } } },
        { function: { name: expect.stringMatching(/^x{55}_[0-9a-f]{8}$/) as string } },
      ],
      tool_choice: { type: 'function', function: { name: 'files__read' } },
      messages: [{ tool_calls: [{ function: { name: 'files__read' } }] }, {}],
    });
  });

  it('a Chat request has a tool choice only if it has tools', () => {
    const wanted = { toolChoice: { type: 'required' }, parallelToolCalls: false } as const;
    expect(toolsOf(wanted)).not.toHaveProperty('tool_choice');
    expect(toolsOf(wanted)).not.toHaveProperty('parallel_tool_calls');
    expect(toolsOf({ ...wanted, tools: [weather] })).toMatchObject({
      tool_choice: 'required',
      parallel_tool_calls: false,
    });
    expect(toolsOf({ ...wanted, tools: [weather] }, { capabilities: { tools: false } })).not.toHaveProperty('tools');
  });

  it('forced tools are left free if the Chat route refuses force', () => {
    const wanted = { tools: [weather], toolChoice: { type: 'tool', name: 'weather' } } as const;
    const { body, notes } = encode({ ...wanted, items: [hi] }, parameters({ forced_tools: false }));
    expect(body['tool_choice']).toBe('auto');
    expect(notes).toEqual(['approximated forced tool_choice as auto']);
  });

  it('Chat tools that may not be called are left out', () => {
    const tools = [weather, clientTool({ name: 'other' })];
    const { body, notes } = encode({ items: [hi], tools, toolChoice: { type: 'auto', allowed: ['weather'] } });
    expect(body).toMatchObject({ tools: [{ function: { name: 'weather' } }], tool_choice: 'auto' });
    expect(body['tools']).toHaveLength(1);
    expect(notes).toEqual(['approximated allowed tools as the only ones']);
  });

  it('Chat tools are strict only on routes that know it', () => {
    const tools = [clientTool({ name: 'a', strict: true })];
    expect(toolsOf({ tools }, parameters({ strict_tools: true }))).toMatchObject({
      tools: [{ function: { strict: true } }],
    });
    const { body, notes } = encode({ items: [hi], tools });
    expect(JSON.stringify(body)).not.toContain('strict');
    expect(notes).toEqual(['dropped strict of tools']);
  });

  it('hosted tools and unknown switches of a Chat request are noted', () => {
    const wanted = { items: [hi], tools: [weather, { form: 'web_search' }], parallelToolCalls: false } as const;
    const { body, notes } = encode(wanted, parameters({ parallel_switch: false }));
    expect(body['tools']).toHaveLength(1);
    expect(notes).toEqual(['dropped web_search', 'dropped parallel_tool_calls']);
  });
});

describe('requesting reasoning in a Chat request', () => {
  it.each([
    [{ effort: 'high' }, {}, { reasoning_effort: 'high' }],
    [{ budget: 9000 }, {}, { reasoning_effort: 'medium' }],
    [{ effort: 'medium' }, { efforts: ['low', 'high'] }, { reasoning_effort: 'low' }],
    [{ effort: 'high' }, { reasoning: 'thinking' }, { thinking: { type: 'enabled' } }],
    [{ effort: 'none' }, { reasoning: 'thinking' }, { thinking: { type: 'disabled' } }],
    [
      { effort: 'xhigh' },
      { reasoning: 'thinking', efforts: ['low', 'high', 'max'] },
      { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
    ],
    [{ effort: 'low' }, { reasoning: 'enable_thinking' }, { enable_thinking: true, thinking_budget: 2048 }],
    [{ budget: 777 }, { reasoning: 'enable_thinking' }, { enable_thinking: true, thinking_budget: 777 }],
    [{ effort: 'none' }, { reasoning: 'enable_thinking' }, { enable_thinking: false }],
    [{ effort: 'low' }, { reasoning: 'openrouter' }, { reasoning: { effort: 'low' } }],
    [{ budget: 777, wantsText: false }, { reasoning: 'openrouter' }, { reasoning: { max_tokens: 777, exclude: true } }],
    [{ effort: 'none' }, { reasoning: 'thinking_off' }, { thinking: { type: 'disabled' } }],
    [{ effort: 'high' }, { reasoning: 'thinking_off' }, {}],
    [{ effort: 'high' }, { reasoning: 'none' }, {}],
    [{}, {}, {}],
  ] as const)('%j with %j by %j', (reasoning, settings, expected) => {
    expect(asked(reasoning, settings as ProfileSettings['quirks'])).toEqual(expected);
  });

  it('no reasoning is requested from a Chat model without it', () => {
    const reasoning = { effort: 'high', budget: undefined, wantsText: true } as const;
    const { body, notes } = encode({ items: [hi], reasoning }, { capabilities: { reasoning: false } });
    expect(body).not.toHaveProperty('reasoning_effort');
    expect(notes).toEqual(['dropped reasoning']);
  });
});

describe('encoding parameters of a Chat request', () => {
  const output = {
    type: 'json_schema',
    name: 'a b',
    description: undefined,
    schema: { type: 'object' },
    strict: true,
  } as const;

  it('Chat parameters are limited to the accepted range', () => {
    const settings = { max_tokens_name: 'max_completion_tokens', max_output_tokens: 100, stop: 1 } as const;
    const { body, notes } = encode({ items: [hi], maxOutputTokens: 500, stop: ['a', 'b'] }, parameters(settings));
    expect(body).toMatchObject({ max_completion_tokens: 100, stop: ['a'] });
    expect(notes).toEqual(['approximated output token limit as 100', 'approximated stop by cutting the answer']);
  });

  it('sampling parameters are left out for Chat models with fixed sampling', () => {
    const sampling = { temperature: 0.5, topP: 0.5, topK: 4, seed: 7 };
    expect(encode({ items: [hi], ...sampling }).body).toMatchObject({ temperature: 0.5, top_p: 0.5, seed: 7 });
    const { body, notes } = encode({ items: [hi], ...sampling }, parameters({ sampling: false }));
    expect(body).not.toHaveProperty('temperature');
    expect(notes).toEqual(['dropped top_k', 'dropped temperature', 'dropped top_p']);
  });

  it('the end user of a Chat request has at most 64 characters, and is left out if refused', () => {
    const user = `user_${'x'.repeat(200)}`;
    expect(encode({ items: [hi], user }).body['user']).toMatch(/^[0-9a-f]{64}$/);
    expect(encode({ items: [hi], user }, parameters({ end_user: false }))).toMatchObject({ notes: ['dropped user'] });
  });

  it('metadata is left out of a translated Chat request, because it needs a stored answer', () => {
    const { body, notes } = encode({ items: [hi], metadata: { team: 'a' } }, parameters({ freeform_tools: true }));
    expect(body).not.toHaveProperty('metadata');
    expect(notes).toEqual(['dropped metadata']);
  });

  it("parameters of OpenAI's own are sent only to Chat routes that know custom tools", () => {
    const wanted = { items: [hi], verbosity: 'low', cacheKey: 'k', serviceTier: 'flex' };
    const known = { verbosity: 'low', prompt_cache_key: 'k', service_tier: 'flex' };
    expect(encode(wanted, parameters({ freeform_tools: true })).body).toMatchObject(known);
    const { notes } = encode(wanted);
    expect(notes).toEqual(['dropped prompt_cache_key', 'dropped service_tier', 'dropped verbosity']);
  });

  it('the time to keep a cache is sent only to Chat routes that accept it', () => {
    const wanted = { items: [hi], cacheRetention: 'in_memory' };
    expect(encode(wanted, parameters({ cache_retention: ['in_memory'] }))).toMatchObject({
      body: { prompt_cache_retention: 'in_memory' },
      notes: [],
    });
    for (const quirks of [{ freeform_tools: true }, { cache_retention: ['24h' as const] }]) {
      const { body, notes } = encode(wanted, parameters(quirks));
      expect(body).not.toHaveProperty('prompt_cache_retention');
      expect(notes).toEqual(['dropped prompt_cache_retention']);
    }
  });

  it('JSON output is requested from Chat in the strictest way that the model supports', () => {
    expect(encode({ items: [hi], output }).body['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'a_b', schema: { type: 'object' }, strict: true },
    });
    const asObject = encode({ items: [hi], output }, { capabilities: { structured_output: 'object' } });
    expect(asObject.body).toMatchObject({
      messages: [{ role: 'system', content: expect.stringContaining('{"type":"object"}') as string }, {}],
      response_format: { type: 'json_object' },
    });
    const inWords = encode({ items: [hi], output }, { capabilities: { structured_output: 'none' } });
    expect(inWords.body).not.toHaveProperty('response_format');
    expect(inWords.notes).toEqual(['approximated json_schema as instruction']);
  });
});
