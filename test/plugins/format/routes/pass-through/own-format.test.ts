import { describe, expect, it } from 'vitest';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { openCall } from '../../../../../plugins/format/routes/model-call.ts';
import type { TextFormat } from '../../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../../upstream/fixture.ts';
import { modelOf } from '../../catalog/catalog-fixture.ts';
import { exchange, requestOf } from '../../invariants/fixture.ts';

const hi = { role: 'user', content: 'Hi' };
const late = { role: 'system', content: 'In French.' };
const reminder = '<system-reminder>\nIn French.\n</system-reminder>';

/** Answers in which the third stop sequence comes after the first word. */
const answers: Partial<Record<TextFormat, JsonObject>> = {
  chat: { choices: [{ index: 0, message: { role: 'assistant', content: 'one c two' }, finish_reason: 'stop' }] },
  messages: {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'one c two' }],
    stop_reason: 'end_turn',
  },
  gemini: { candidates: [{ content: { role: 'model', parts: [{ text: 'one c two' }] }, finishReason: 'STOP' }] },
};

/** A call of a model whose only route speaks the client's format. */
function callOf(format: TextFormat, body: JsonObject, quirks: ProfileSettings['quirks'] = {}) {
  const upstream = upstreamAt('http://127.0.0.1:1/v1', { formats: [format] });
  const route = routeTo(upstream, { profile: mergeProfiles({ quirks }) });
  const request = requestOf(format, { model: 'test', ...body }).with({ isStream: false });
  const call = openCall(exchange, modelOf('test', [], { routes: [route] }), request);
  return { call, route: call.model.routes[0] ?? route };
}

function sent(format: TextFormat, body: JsonObject, quirks: ProfileSettings['quirks'] = {}) {
  const { call, route } = callOf(format, body, quirks);
  const { body: bytes, notes = [] } = call.encode(route);
  return { body: JSON.parse(String(bytes)) as JsonObject, notes };
}

describe('a late system message on a route of the client’s own format', () => {
  it('of Chat is a user’s, joined to what the user says there', () => {
    const { body, notes } = sent('chat', { messages: [{ role: 'system', content: 'Be brief.' }, hi, late, hi] });
    const parts = ['Hi', reminder, 'Hi'].map((text) => ({ type: 'text', text }));
    expect(body['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: parts },
    ]);
    expect(notes).toEqual(['approximated late system message as user message']);
  });

  it('of Chat stands alone after an answer', () => {
    const answer = { role: 'assistant', content: 'Hello' };
    expect(sent('chat', { messages: [hi, answer, late] }).body['messages']).toEqual([
      hi,
      answer,
      { role: 'user', content: reminder },
    ]);
  });

  it('of Responses is a user’s item', () => {
    const { body, notes } = sent('responses', { input: [hi, { type: 'message', ...late }] });
    expect(body['input']).toEqual([hi, { type: 'message', role: 'user', content: reminder }]);
    expect(notes).toEqual(['approximated late system message as user message']);
  });

  it('of Messages is joined to what the user said', () => {
    const { body } = sent('messages', { max_tokens: 9, messages: [hi, late] });
    const parts = ['Hi', reminder].map((text) => ({ type: 'text', text }));
    expect(body['messages']).toEqual([{ role: 'user', content: parts }]);
  });

  it.each<[TextFormat, JsonObject]>([
    ['chat', { messages: [hi, late] }],
    ['responses', { input: [hi, late] }],
    ['messages', { max_tokens: 9, messages: [hi, late] }],
  ])('of %s stays where the route takes it', (format, body) => {
    const { body: bytes, notes } = sent(format, body, { late_system: true });
    expect([bytes['messages'] ?? bytes['input'], notes]).toEqual([[hi, late], []]);
  });
});

describe('strict tools on a route of the client’s own format', () => {
  const schema = { type: 'object', properties: {} };
  const described = { name: 'a', parameters: schema };

  it.each<[TextFormat, JsonObject, JsonObject]>([
    [
      'chat',
      { messages: [hi], tools: [{ type: 'function', function: { ...described, strict: true } }] },
      { type: 'function', function: described },
    ],
    [
      'responses',
      { input: 'Hi', tools: [{ type: 'function', ...described, strict: true }] },
      { type: 'function', ...described, strict: false },
    ],
    [
      'messages',
      { max_tokens: 9, messages: [hi], tools: [{ name: 'a', input_schema: schema, strict: true }] },
      { name: 'a', input_schema: schema },
    ],
  ])('of %s promise nothing where the route does not know the word', (format, body, tool) => {
    const { body: bytes, notes } = sent(format, body);
    expect([bytes['tools'], notes]).toEqual([[tool], ['dropped strict of tools']]);
    expect(sent(format, body, { strict_tools: true })).toMatchObject({ body: { tools: body['tools'] }, notes: [] });
  });
});

describe('a choice of one call at a time on a Messages route of the client’s own format', () => {
  const tools = [{ name: 'a', input_schema: { type: 'object' } }];
  const asks = (type: string) => ({
    max_tokens: 9,
    messages: [hi],
    tools,
    tool_choice: { type, disable_parallel_tool_use: true },
  });

  it.each(['auto', 'any'])('is dropped where the route does not know it: %s', (type) => {
    const { body, notes } = sent('messages', asks(type), { parallel_switch: false });
    expect([body['tool_choice'], notes]).toEqual([{ type }, ['dropped parallel_tool_calls']]);
  });

  it('passes where the route knows it', () => {
    expect(sent('messages', asks('auto'))).toMatchObject({ body: asks('auto'), notes: [] });
  });
});

describe('images in tool results on a route of the client’s own format', () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  const response = { name: 'look', response: { result: 'seen' }, parts: [image] };
  const contents = [
    { role: 'user', parts: [{ text: 'Look.' }] },
    { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: response }] },
  ];

  it('go into a user message where results cannot hold them', () => {
    const { body, notes } = sent('gemini', { contents }, { tool_result_images: false });
    expect(notes).toContain('approximated images in tool results as user message');
    const [, , { parts }] = body['contents'] as [unknown, unknown, { parts: JsonObject[] }];
    expect(parts).toMatchObject([{ functionResponse: { name: 'look' } }, image]);
    expect(parts[0]?.['functionResponse']).not.toHaveProperty('parts');
  });

  it('stay where they are elsewhere', () => {
    expect(sent('gemini', { contents })).toMatchObject({ body: { contents }, notes: [] });
  });
});

describe('ids of calls on a Responses route of the client’s own format', () => {
  const input = [
    { type: 'function_call', call_id: 'call_1', name: 'a', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'done' },
  ];

  it('have nine characters where the vendor requires it, the same for call and result', () => {
    const [call, result] = sent('responses', { input }, { tool_call_ids: 'nine_characters' }).body['input'] as {
      call_id: string;
    }[];
    expect(call?.call_id).toMatch(/^[a-z0-9]{9}$/);
    expect(result?.call_id).toBe(call?.call_id);
  });

  it('are any elsewhere', () => {
    expect(sent('responses', { input }).body['input']).toEqual(input);
  });
});

describe('freeform tools on a route of the client’s own format', () => {
  const custom = { type: 'custom', name: 'patch', description: 'Edits.' };
  const asks = { input: 'Edit it.', tools: [custom] };

  it('are functions where the route knows no others, and their calls come back as they were asked for', () => {
    const { call, route } = callOf('responses', asks);
    const { body, notes } = call.encode(route);
    expect(JSON.parse(String(body))).toMatchObject({ tools: [{ type: 'function', name: 'patch' }] });
    expect(notes).toContain('approximated freeform tools as functions');
    const output = [{ type: 'function_call', call_id: 'c1', name: 'patch', arguments: '{"input":"*** Begin"}' }];
    const reply = { id: 'r', object: 'response', status: 'completed', output };
    const { body: answer } = call.read(route).whole(Buffer.from(JSON.stringify(reply)), 'application/json');
    expect(JSON.parse(answer.toString())).toMatchObject({
      output: [{ type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: '*** Begin' }],
    });
  });

  it('of Chat are functions, too', () => {
    const tools = [{ type: 'custom', custom: { name: 'patch' } }];
    expect(sent('chat', { messages: [hi], tools }).body['tools']).toMatchObject([
      { type: 'function', function: { name: 'patch' } },
    ]);
  });

  it('pass through where the route knows them', () => {
    expect(sent('responses', asks, { freeform_tools: true })).toMatchObject({ body: asks, notes: [] });
  });
});

describe('stop sequences on a route of the client’s own format', () => {
  const stops = ['a', 'b', 'c'];
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];

  it.each<[TextFormat, JsonObject, JsonObject]>([
    ['chat', { messages: [hi], stop: stops }, { stop: ['a', 'b'] }],
    ['messages', { max_tokens: 9, messages: [hi], stop_sequences: stops }, { stop_sequences: ['a', 'b'] }],
    [
      'gemini',
      { contents, generationConfig: { stopSequences: stops } },
      { generationConfig: { stopSequences: ['a', 'b'] } },
    ],
    [
      'gemini',
      { contents, generation_config: { stop_sequences: stops } },
      { generation_config: { stop_sequences: ['a', 'b'] } },
    ],
  ])('of %s are cut to what the route takes, and the gateway looks for the others', (format, body, cut) => {
    const { call, route } = callOf(format, body, { stop: 2 });
    const { body: bytes, notes } = call.encode(route);
    expect(JSON.parse(String(bytes))).toMatchObject(cut);
    expect(notes).toHaveLength(1);
    const { body: answer } = call.read(route).whole(Buffer.from(JSON.stringify(answers[format])), 'application/json');
    expect(answer.toString()).toContain('"one "');
  });

  it('stay as they are where the route takes them', () => {
    const body = { max_tokens: 9, messages: [hi], stop_sequences: stops };
    expect(sent('messages', body)).toMatchObject({ body, notes: [] });
  });
});

describe('thinking on a Messages route of its own format', () => {
  const asks = { max_tokens: 20_000, messages: [hi], thinking: { type: 'adaptive' } };

  it('that is adaptive has a budget where the model knows budgets', () => {
    const { body } = sent('messages', asks, { reasoning: 'budget' });
    expect(body['thinking']).toMatchObject({ type: 'enabled', budget_tokens: expect.any(Number) });
  });

  it('that is adaptive stays where the model adapts', () => {
    expect(sent('messages', asks, { reasoning: 'adaptive' }).body['thinking']).toEqual({ type: 'adaptive' });
  });
});

describe('schemas on a Gemini route that knows only the subset', () => {
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
  const schema = { type: 'object', properties: { a: { type: ['string', 'null'], const: 'b' } }, $schema: 'x' };
  const subset = { type: 'object', properties: { a: { type: 'string', nullable: true, enum: ['b'] } } };
  const quirks = { tool_schema: 'subset' } as const;

  it('of tools and of the answer are written in it', () => {
    const { body } = sent(
      'gemini',
      {
        contents,
        tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: schema }] }],
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
      },
      quirks,
    );
    expect(body['tools']).toEqual([{ functionDeclarations: [{ name: 'f', parameters: subset }] }]);
    expect(body['generationConfig']).toEqual({ responseMimeType: 'application/json', responseSchema: subset });
  });

  it('in snake case are written in it too, and one without properties is left out', () => {
    const empty = { name: 'g', parameters_json_schema: { type: 'object' } };
    const declarations = [{ name: 'f', parameters_json_schema: schema }, empty];
    const { body } = sent('gemini', { contents, tools: [{ function_declarations: declarations }] }, quirks);
    expect(body['tools']).toEqual([{ function_declarations: [{ name: 'f', parameters: subset }, { name: 'g' }] }]);
  });

  it('stay where the route knows JSON Schema', () => {
    const tools = [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: schema }] }];
    expect(sent('gemini', { contents, tools }).body['tools']).toEqual(tools);
  });
});

it('a Google search on a Gemini route without one is left out, or refused when it is all there is', () => {
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
  const functions = { functionDeclarations: [{ name: 'f' }] };
  const { body, notes } = sent('gemini', { contents, tools: [functions, { googleSearch: {} }] });
  expect([body['tools'], notes]).toEqual([[functions], ['dropped googleSearch']]);
  expect(callOf('gemini', { contents, tools: [{ google_search: {} }] }).call.refusal?.code).toBe('not_supported');
  const known = sent('gemini', { contents, tools: [{ googleSearch: {} }] }, { hosted_search: true });
  expect(known.body['tools']).toEqual([{ googleSearch: {} }]);
});

describe('members on a route of the client’s own format', () => {
  it.each<[string, ProfileSettings['quirks'], JsonObject, JsonObject, string[]]>([
    ['are left out by name', { refuses: ['store'] }, { store: true }, {}, ['dropped store']],
    ['are left out in silence when they mean nothing', { refuses: ['store', 'n'] }, { store: false, n: 1 }, {}, []],
    [
      'are left out of objects in lists',
      { refuses: ['tools.function.examples'] },
      { tools: [{ type: 'function', function: { name: 'a', examples: [1] } }] },
      { tools: [{ type: 'function', function: { name: 'a' } }] },
      ['dropped examples of tools.function'],
    ],
    [
      'stay when they are listed',
      { accepts: ['model', 'messages', 'temperature'] },
      { temperature: 0.5, mine: 1, more: null },
      { temperature: 0.5 },
      ['dropped mine'],
    ],
    [
      'are restricted on a listed level only',
      { accepts: ['tools.type', 'tools.function'] },
      { mine: 1, tools: [{ type: 'function', function: { name: 'a' }, mine: 1 }] },
      { mine: 1, tools: [{ type: 'function', function: { name: 'a' } }] },
      ['dropped mine of tools'],
    ],
  ])('%s', (_, quirks, given, kept, notes) => {
    const result = sent('chat', { messages: [hi], ...given }, quirks);
    expect(result).toEqual({ body: { model: 'model-there', messages: [hi], ...kept }, notes });
  });

  it.each([{ refuses: ['stream_options'] }, { accepts: ['model', 'messages', 'stream'] }])(
    'are not added by the gateway where they are refused: %j',
    (quirks) => {
      const upstream = upstreamAt('http://127.0.0.1:1/v1', { formats: ['chat'] });
      const route = routeTo(upstream, { profile: mergeProfiles({ quirks }) });
      const request = requestOf('chat', { model: 'test', messages: [hi], stream: true });
      const call = openCall(exchange, modelOf('test', [], { routes: [route] }), request);
      expect(String(call.encode(route).body)).not.toContain('stream_options');
    },
  );

  it('keep every byte when none is refused', () => {
    const { call, route } = callOf('chat', { messages: [hi], temperature: 0.5 }, { refuses: ['store'] });
    expect(Buffer.isBuffer(call.encode(route).body)).toBe(true);
  });
});

describe('a web search of a Chat client on a route of its own format', () => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
  const asks = { messages: [hi], web_search_options: { search_context_size: 'low' } };

  it('reaches a vendor that runs it', () => {
    const { body, notes } = sent('chat', asks, { hosted_search: true });
    expect(body['web_search_options']).toEqual({ search_context_size: 'low' });
    expect(notes).toEqual([]);
  });

  it('is left out, with a note, if there are other tools and the route cannot run it', () => {
    const { body, notes } = sent('chat', { ...asks, tools });
    expect(body).toEqual({ model: 'model-there', messages: [hi], tools });
    expect(notes).toEqual(['dropped web_search']);
  });

  it('is refused where it is the only tool', () => {
    expect(() => sent('chat', asks)).toThrow('Tools of type "web_search" are not supported');
  });
});

describe('reasoning that a Chat client returns to a vendor that takes it elsewhere', () => {
  const thought = { role: 'assistant', content: 'Done.', reasoning_content: 'Hm.' };
  const asks = { messages: [hi, thought, hi] };

  it.each([
    ['reasoning', { content: 'Done.', reasoning: 'Hm.' }],
    ['think_tags', { content: '<think>\nHm.\n</think>\n\nDone.' }],
    [
      'thinking_parts',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
          { type: 'text', text: 'Done.' },
        ],
      },
    ],
  ] as const)('is sent as %s', (replay_as, expected) => {
    const quirks = { replay_as, refuses: ['messages.reasoning_content'] };
    const { body, notes } = sent('chat', asks, quirks);
    expect((body['messages'] as JsonObject[])[1]).toEqual({ role: 'assistant', ...expected });
    expect(notes).toEqual([]);
  });

  it('stays as it came where the member is taken', () => {
    expect(sent('chat', asks).body['messages']).toEqual(asks.messages);
  });
});

const chatCall = (id: string, input: string) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: input },
});
const calling = (...tool_calls: JsonObject[]) => ({ role: 'assistant', content: null, tool_calls });
const returned = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'seen' });
const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
const used = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'seen' });
const says = (role: string, ...content: JsonObject[]) => ({ role, content });

describe('a broken history on a route of its own format', () => {
  const missing = 'Error: No result: the call was not executed.';

  it.each<[string, JsonObject[], JsonObject[]]>([
    [
      'with empty arguments',
      [hi, calling(chatCall('a', '')), returned('a')],
      [hi, calling(chatCall('a', '{}')), returned('a')],
    ],
    [
      'without a result',
      [hi, calling(chatCall('a', '{}'), chatCall('b', '{}')), returned('b'), hi],
      [
        hi,
        calling(chatCall('a', '{}'), chatCall('b', '{}')),
        { ...returned('a'), content: missing },
        returned('b'),
        hi,
      ],
    ],
    [
      'with a result of no call',
      [hi, returned('x')],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'text', text: 'seen' },
          ],
        },
      ],
    ],
  ])('of Chat %s is completed for a vendor that rejects it', (_what, messages, expected) => {
    expect(sent('chat', { messages }, { strict_calls: true }).body['messages']).toEqual(expected);
    expect(sent('chat', { messages }).body['messages']).toEqual(messages);
  });

  it('of Chat stays as it came when nothing is broken', () => {
    const messages = [hi, calling(chatCall('a', '{"x": 1}'), chatCall('b', '{}')), returned('b'), returned('a'), hi];
    const { call: made, route } = callOf('chat', { messages }, { strict_calls: true });
    expect(Buffer.isBuffer(made.encode(route).body)).toBe(true);
  });

  it.each<[string, JsonObject[], unknown]>([
    [
      'without a result',
      [hi, says('assistant', use('a'), use('b')), says('user', used('b')), hi],
      [
        { type: 'tool_result', tool_use_id: 'a', is_error: true },
        { type: 'tool_result', tool_use_id: 'b' },
        { type: 'text', text: 'Hi' },
      ],
    ],
    [
      'with a result behind text',
      [hi, says('assistant', use('a')), says('user', { type: 'text', text: 'So:' }, used('a'))],
      [
        { type: 'tool_result', tool_use_id: 'a' },
        { type: 'text', text: 'So:' },
      ],
    ],
  ])('of Messages %s is completed for a vendor that rejects it', (_what, messages, expected) => {
    const { body } = sent('messages', { max_tokens: 9, messages }, { strict_calls: true });
    expect((body['messages'] as JsonObject[]).at(-1)?.['content']).toMatchObject(expected as object);
    expect(sent('messages', { max_tokens: 9, messages }).body['messages']).toEqual(messages);
  });
});

describe('reasoning that a Chat client returns to who thinks inside the text', () => {
  const quirks = { replay_reasoning: 'tool_turns', inline_thinking: true } as const;
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
  const answer = { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [call] };
  const result = { role: 'tool', tool_call_id: 'c1', content: 'seen' };
  const answerSent = (changes: JsonObject) => {
    const { body } = sent('chat', { messages: [hi, { ...answer, ...changes }, result] }, quirks);
    return (body['messages'] as JsonObject[])[1];
  };

  it.each([
    ['no text', null, '<think>\nHm.\n</think>\n\n'],
    ['text', 'Let me see.', '<think>\nHm.\n</think>\n\nLet me see.'],
    [
      'parts',
      [{ type: 'text', text: 'Let me see.' }],
      [
        { type: 'text', text: '<think>\nHm.\n</think>\n\n' },
        { type: 'text', text: 'Let me see.' },
      ],
    ],
  ])('goes back there, before %s', (_what, content, expected) => {
    expect(answerSent({ content })).toEqual({ role: 'assistant', content: expected, tool_calls: [call] });
  });

  it('stays where it is when the text has it already', () => {
    const content = '<think>\nHm.\n</think>\n\nLet me see.';
    expect(answerSent({ content, reasoning_content: undefined })).toMatchObject({ content });
  });

  it('is left alone in an answer without calls', () => {
    const plain = { role: 'assistant', content: 'Done.', reasoning_content: 'Hm.' };
    expect(sent('chat', { messages: [hi, plain, hi] }, quirks).body['messages']).toContainEqual(plain);
  });
});

describe('the effort that Groq calls default, on a route of the client’s own format', () => {
  const asked = { messages: [hi], reasoning_effort: 'default' };

  it('passes where the vendor takes it, and is left out elsewhere, which means the same', () => {
    expect(sent('chat', asked, { default_effort: true })).toMatchObject({ body: asked, notes: [] });
    for (const quirks of [{}, { reasoning: 'thinking' }, { reasoning: 'enable_thinking' }] as const) {
      const { body, notes } = sent('chat', asked, quirks);
      expect(body).toEqual({ model: 'model-there', messages: [hi] });
      expect(notes).toEqual([]);
    }
    const responses = sent('responses', { input: 'Hi', reasoning: { effort: 'default' } });
    expect(responses.body).not.toHaveProperty('reasoning.effort');
  });
});
