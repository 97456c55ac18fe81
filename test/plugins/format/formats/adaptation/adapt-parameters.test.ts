import { describe, expect, it } from 'vitest';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { ModelCall } from '../../../../../plugins/format/routes/model-call.ts';
import { adaptRequest } from '../../../../../plugins/format/routes/pass-through/adapt-request.ts';
import { vendors } from '../../../../../plugins/upstream/vendors.ts';
import type { TextFormat } from '../../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../../upstream/fixture.ts';
import { modelOf } from '../../catalog/catalog-fixture.ts';
import { exchange, requestOf as streamOf } from '../../invariants/fixture.ts';

const requestOf = (format: TextFormat, body: JsonObject, text?: string) =>
  streamOf(format, body, text).with({ isStream: false });
/** What gateway.yaml makes of a vendor and a model's name. */
function profilesOf(vendor: string, model: string): ProfileSettings[] {
  const preset = vendors.find(({ name }) => name === vendor);
  const matching = (preset?.models ?? []).filter(({ match }) =>
    new RegExp(`^${match.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(model),
  );
  return [preset ?? {}, ...matching];
}
function sent(format: TextFormat, body: JsonObject, ...profile: readonly ProfileSettings[]) {
  const route = routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: [format] }), {
    profile: mergeProfiles(...profile),
  });
  const asked = { model: 'test', ...(format === 'messages' && { max_tokens: 1_000 }), ...body };
  const { body: bytes, notes = [] } = adaptRequest(requestOf(format, asked), route);
  return { body: JSON.parse(String(bytes)) as JsonObject, notes };
}
const toVendor = (format: TextFormat, vendor: string, model: string, body: JsonObject) =>
  sent(format, body, ...profilesOf(vendor, model));
const asks = { role: 'user', content: 'hi' };
const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
const toolTurn: JsonObject[] = [
  asks,
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_1', content: 'there' },
];
const schema = { type: 'object', properties: { a: { type: 'string' } } };
const wantsSchema = { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } };
const instruction = expect.stringContaining(JSON.stringify(schema));

describe('a Chat request of a Chat client', () => {
  it('a Chat request has the reasoning of every turn where the vendor requires it, and the empty string where it is lost', () => {
    const said = { role: 'assistant', content: 'hello', reasoning_content: 'hm' };
    const { body } = toVendor('chat', 'deepseek', 'deepseek-v4', { messages: [said, ...toolTurn] });
    const thoughts = (body['messages'] as JsonObject[]).map(({ reasoning_content: text }) => text);
    expect(thoughts).toEqual(['hm', undefined, '', undefined]);
  });

  it('a Chat request has reasoning only in turns with calls, where the vendor requires it there', () => {
    const messages = [{ role: 'assistant', content: 'hello' }, ...toolTurn];
    const { body } = toVendor('chat', 'moonshot', 'kimi-k2.6', { messages });
    expect(body['messages']).toMatchObject([messages[0], asks, { reasoning_content: '' }, { role: 'tool' }]);
  });

  it('a Chat request has its schema in the instructions where the vendor supports only JSON objects', () => {
    const messages = [{ role: 'system', content: 'Be brief.' }, asks];
    const { body, notes } = toVendor('chat', 'deepseek', 'deepseek-v4', { messages, ...wantsSchema });
    expect(body['response_format']).toEqual({ type: 'json_object' });
    expect(body['messages']).toEqual([
      { role: 'system', content: expect.stringMatching(/^Be brief\.\n\nAnswer with one JSON value/) },
      asks,
    ]);
    expect(notes).toEqual(['approximated json_schema as instruction']);
  });

  it('a Chat request has an instruction for JSON where the vendor supports no output format', () => {
    const { body } = sent(
      'chat',
      { messages: [asks], ...wantsSchema },
      { capabilities: { structured_output: 'none' } },
    );
    expect(body).not.toHaveProperty('response_format');
    expect(body['messages']).toEqual([{ role: 'system', content: instruction }, asks]);
  });

  it.each<[JsonObject, unknown]>([
    [{ tool_choice: 'required' }, 'auto'],
    [{ tool_choice: { type: 'function', function: { name: 'look' } } }, 'auto'],
    [{ tool_choice: 'none' }, 'none'],
    [
      { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [] } } },
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } },
    ],
  ])('forces no tool where that is refused: %j', (choice, wanted) => {
    const { body } = toVendor('chat', 'moonshot', 'kimi-k2.6', { messages: [asks], ...choice });
    expect(body['tool_choice']).toEqual(wanted);
  });

  it('a Chat request names the seed as the vendor does', () => {
    const { body } = toVendor('chat', 'mistral', 'mistral-large', { messages: [asks], seed: 5 });
    expect([body['seed'], body['random_seed']]).toEqual([undefined, 5]);
  });

  it('a Chat request has call ids of nine characters where the vendor requires them, the same for call and result', () => {
    const { body } = toVendor('chat', 'mistral', 'mistral-large', { messages: toolTurn });
    const [, { tool_calls: calls }, { tool_call_id: id }] = body['messages'] as [
      JsonObject,
      { tool_calls: [{ id: string }] },
      { tool_call_id: string },
    ];
    expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(calls[0].id).toBe(id);
  });

  it('a Chat request has text as a string where lists of parts are refused', () => {
    const parts = { role: 'user', content: ['one', 'two'].map((text) => ({ type: 'text', text })) };
    const { body } = toVendor('chat', 'deepseek', 'deepseek-v4', { messages: [parts] });
    expect(body['messages']).toEqual([{ role: 'user', content: 'one\n\ntwo' }]);
  });

  it.each<[string, string, JsonObject, JsonObject]>([
    [
      'deepseek',
      'deepseek-v4',
      { reasoning_effort: 'medium' },
      { thinking: { type: 'enabled' }, reasoning_effort: 'low' },
    ],
    ['deepseek', 'deepseek-v4', { reasoning_effort: 'high' }, { reasoning_effort: 'high' }],
    ['zhipu', 'glm-5', { reasoning_effort: 'high' }, { thinking: { type: 'enabled' } }],
    ['zhipu', 'glm-5', { thinking: { type: 'disabled' } }, { thinking: { type: 'disabled' } }],
    ['mistral', 'magistral', { reasoning_effort: 'none' }, { reasoning_effort: 'none' }],
    ['openai', 'gpt-4.1', { reasoning_effort: 'high' }, {}],
    ['openai', 'gpt-5.6', { reasoning_effort: 'high' }, { reasoning_effort: 'high' }],
    ['openai', 'gpt-5.6', { reasoning_effort: 'high', tools: [call] }, { reasoning_effort: 'none', tools: [call] }],
    ['openai', 'gpt-5.6', { tools: [call] }, { reasoning_effort: 'none', tools: [call] }],
  ])('asks %s/%s to think in its own words: %j', (vendor, model, asked, wanted) => {
    const { body } = toVendor('chat', vendor, model, { messages: [asks], ...asked });
    const { model: _, messages: __, ...rest } = body;
    expect(rest).toEqual(wanted);
  });
});

describe('a Messages request of a Messages client', () => {
  const thinking = { type: 'enabled', budget_tokens: 5_000 };

  it('a Messages request has adaptive thinking where budgets are refused', () => {
    const { body } = toVendor('messages', 'anthropic', 'claude-opus-5', { messages: [asks], thinking });
    expect(body['thinking']).toMatchObject({ type: 'adaptive' });
    expect(body['output_config']).toEqual({ effort: 'medium' });
  });

  it('a Messages request has a budget where adaptive thinking is not supported', () => {
    const adaptive = { thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, max_tokens: 10_000 };
    const { body } = toVendor('messages', 'anthropic', 'claude-sonnet-4-5', { messages: [asks], ...adaptive });
    expect(body['thinking']).toEqual({ type: 'enabled', budget_tokens: 2_048 });
    expect(body).not.toHaveProperty('output_config');
  });

  it('a Messages request has a thinking budget that leaves room for the answer', () => {
    const greedy = { max_tokens: 32_000, thinking: { type: 'enabled', budget_tokens: 32_000 } };
    const { body, notes } = toVendor('messages', 'anthropic', 'claude-sonnet-4-5', { messages: [asks], ...greedy });
    expect(body['thinking']).toEqual({ type: 'enabled', budget_tokens: 16_000 });
    expect(notes).toEqual(['approximated thinking budget as 16000']);
  });

  it('a Messages request that the route accepts is unchanged', () => {
    const fitting = { messages: [asks], max_tokens: 10_000, thinking };
    expect(toVendor('messages', 'anthropic', 'claude-sonnet-4-5', fitting).body).toMatchObject(fitting);
    const asIs = { messages: [asks], thinking: { type: 'adaptive' }, output_config: { effort: 'max' } };
    expect(toVendor('messages', 'anthropic', 'claude-opus-5', asIs).body).toMatchObject(asIs);
  });

  it('a Messages request loses what the model does not support, with notes', () => {
    const profile: ProfileSettings = {
      capabilities: { tools: false, images: false, reasoning: false, structured_output: 'none' },
    };
    const asked = {
      messages: [asks],
      system: [{ type: 'text', text: 'Be brief.' }],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      tool_choice: { type: 'auto' },
      thinking,
      output_config: { format: { type: 'json_schema', schema } },
    };
    const { body, notes } = sent('messages', asked, profile);
    expect(body).toEqual({
      model: 'model-there',
      max_tokens: 1_000,
      messages: [asks],
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: instruction },
      ],
    });
    expect(notes).toEqual(['dropped tools', 'dropped reasoning', 'approximated json_schema as instruction']);
  });
});

describe('a Responses request of a Responses client', () => {
  it('a Responses request asks for neither reasoning nor its state where the model has none', () => {
    const asked = { input: 'hi', reasoning: { effort: 'high' }, include: ['reasoning.encrypted_content'] };
    const { body, notes } = toVendor('responses', 'openai', 'gpt-4.1', asked);
    expect(body).toEqual({ model: 'model-there', input: 'hi' });
    expect(notes).toEqual(['dropped reasoning']);
  });

  it('a Responses request has its schema in the input where schemas are not supported', () => {
    const text = { verbosity: 'low', format: { type: 'json_schema', name: 'a', schema } };
    const { body } = sent('responses', { input: 'hi', text }, { capabilities: { structured_output: 'object' } });
    expect(body['text']).toEqual({ verbosity: 'low', format: { type: 'json_object' } });
    expect(body['input']).toMatchObject([{ role: 'developer', content: instruction }, { content: 'hi' }]);
  });
});

describe('a Gemini request of a Gemini client', () => {
  it('a Gemini request has its schema in the instructions, and forces no tool, where that is refused', () => {
    const asked = {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generation_config: { response_mime_type: 'application/json', responseJsonSchema: schema },
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    };
    const profile: ProfileSettings = {
      capabilities: { structured_output: 'object' },
      quirks: { forced_tools: false },
    };
    const { body } = sent('gemini', asked, profile);
    expect(body).toMatchObject({
      systemInstruction: { parts: [{ text: instruction }] },
      generation_config: { response_mime_type: 'application/json' },
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    });
    expect(body['generation_config']).not.toHaveProperty('responseJsonSchema');
  });
});

const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const shows: readonly [TextFormat, JsonObject][] = [
  ['chat', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.b/c.png' } }] }] }],
  ['responses', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://a.b/c.png' }] }] }],
  ['messages', { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'image', source: png }] }] }],
  [
    'messages',
    {
      max_tokens: 9,
      messages: [
        asks,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source: png }] }],
        },
      ],
    },
  ],
  [
    'gemini',
    { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] }] },
  ],
];

describe('a route of the client’s own format that sees no images', () => {
  const blind = mergeProfiles({ capabilities: { images: false } });

  it.each(shows)('a route without image support leaves images to the next route: %s', (format, body) => {
    const routes = [
      routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: [format] }), { profile: blind }),
      routeTo(upstreamAt('http://127.0.0.1:2/v1', { formats: ['chat'] })),
    ];
    const model = modelOf('test', [], { routes });
    const modelCall = new ModelCall(exchange, model, requestOf(format, { model: 'test', ...body }));
    expect(routes.map((route) => modelCall.canServe(route))).toEqual([false, true]);
  });

  it('a route without image support refuses images if it is the only one', () => {
    expect(() => sent('chat', shows[0]![1], { capabilities: { images: false } })).toThrow(
      expect.objectContaining({
        code: 'unsupported_content',
        message: 'This model does not accept images.',
      }) as GatewayError,
    );
  });

  it('a route without image support passes every byte of a request without images', () => {
    const text = '{"model":"test",  "messages":[{"role":"user","content":[{"type":"text","text":"image"}]}]}';
    const route = routeTo(upstreamAt('http://127.0.0.1:1/v1'), { profile: blind });
    const request = requestOf('chat', JSON.parse(text) as JsonObject, text);
    expect(String(adaptRequest(request, route).body)).toBe(text.replace('test', 'model-there'));
  });
});

describe('a route of the client’s own format that reads no files', () => {
  it('a route without file support gets the content of a text file as text', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'three' };
    const messages = [{ role: 'user', content: [{ type: 'document', source }] }];
    const { body } = sent('messages', { messages }, { capabilities: { files: false } });
    expect(body['messages']).toEqual([{ role: 'user', content: [{ type: 'text', text: 'three' }] }]);
  });
});

describe('members that only OpenRouter knows', () => {
  const asked = {
    messages: [asks],
    provider: { order: ['x'] },
    plugins: [{ id: 'web' }],
    models: ['dear/model'],
    fallbacks: ['dear/model'],
    transforms: ['middle-out'],
  };

  it.each([
    ['openai', 'gpt-6'],
    ['azure-openai', 'gpt-6'],
    ['groq', 'llama-4'],
    ['cerebras', 'qwen-3'],
    ['gemini-openai', 'gemini-3-flash'],
    ['mistral', 'mistral-large'],
  ])('are left out with notes where they are refused: %s', (vendor, model) => {
    const { body, notes } = toVendor('chat', vendor, model, asked);
    expect(Object.keys(body).toSorted()).toEqual(['messages', 'model']);
    expect(notes.toSorted()).toEqual(
      ['fallbacks', 'models', 'plugins', 'provider', 'transforms'].map((name) => `dropped ${name}`),
    );
  });

  it.each([
    ['openrouter', 'qwen/qwen4'],
    ['none', 'any'],
  ])('pass elsewhere, but for those that name further models: %s', (vendor, model) => {
    const { body, notes } = toVendor('chat', vendor, model, asked);
    expect(body).toMatchObject({ provider: asked.provider, plugins: asked.plugins, transforms: asked.transforms });
    expect(Object.keys(body)).not.toContain('models');
    expect(notes.toSorted()).toEqual(['dropped fallbacks', 'dropped models']);
  });

  it('are left out of Responses requests too', () => {
    const { messages: _, ...others } = asked;
    const { body, notes } = toVendor('responses', 'openai', 'gpt-6', { input: 'hi', ...others });
    expect(Object.keys(body).toSorted()).toEqual(['input', 'model']);
    expect(notes).toHaveLength(5);
  });
});

describe('stop sequences', () => {
  const stops = ['a', 'b'];
  const asked: Readonly<Record<string, readonly [TextFormat, JsonObject, (body: JsonObject) => JsonObject]>> = {
    Chat: ['chat', { messages: [asks], stop: stops, temperature: 0.5 }, (body) => body],
    Messages: ['messages', { messages: [asks], stop_sequences: stops, temperature: 0.5 }, (body) => body],
    Gemini: [
      'gemini',
      { contents: [], generationConfig: { stopSequences: stops, temperature: 0.5 } },
      ({ generationConfig }) => generationConfig as JsonObject,
    ],
  };

  it.each(Object.entries(asked))('of %s keep their place where a route takes fewer', (_, [format, request, holder]) => {
    const { body } = sent(format, request, { quirks: { stop: 1 } });
    const { body: whole } = sent(format, request);
    expect(Object.keys(holder(body))).toEqual(Object.keys(holder(whole)));
    expect(JSON.stringify(holder(body))).toContain('["a"]');
  });
});
