import { describe, expect, it } from 'vitest';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { TextFormat } from '../../../../support/formats.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import { adaptRequest } from '../../../../../plugins/format/routes/pass-through/adapt-request.ts';
import { ModelCall } from '../../../../../plugins/format/routes/model-call.ts';
import { vendors } from '../../../../../plugins/upstream/vendors.ts';
import { routeTo, upstreamAt } from '../../../upstream/fixture.ts';
import { modelOf } from '../../catalog/catalog-fixture.ts';
import { exchange, requestOf as streamOf } from '../../invariants/fixture.ts';

const requestOf = (format: TextFormat, body: JsonObject) => ({ ...streamOf(format, body), isStream: false });
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
  it('has the thoughts of every turn where the vendor insists on them, and the empty string where they are lost', () => {
    const said = { role: 'assistant', content: 'hello', reasoning_content: 'hm' };
    const { body } = toVendor('chat', 'deepseek', 'deepseek-v4', { messages: [said, ...toolTurn] });
    const thoughts = (body['messages'] as JsonObject[]).map(({ reasoning_content: text }) => text);
    expect(thoughts).toEqual(['hm', undefined, '', undefined]);
  });

  it('has thoughts in turns with calls only, where these are asked for', () => {
    const messages = [{ role: 'assistant', content: 'hello' }, ...toolTurn];
    const { body } = toVendor('chat', 'moonshot', 'kimi-k2.6', { messages });
    expect(body['messages']).toEqual([messages[0], asks, { ...toolTurn[1], reasoning_content: '' }, toolTurn[2]]);
  });

  it('has its schema in the instructions where only JSON is known', () => {
    const messages = [{ role: 'system', content: 'Be brief.' }, asks];
    const { body, notes } = toVendor('chat', 'deepseek', 'deepseek-v4', { messages, ...wantsSchema });
    expect(body['response_format']).toEqual({ type: 'json_object' });
    expect(body['messages']).toEqual([
      { role: 'system', content: expect.stringMatching(/^Be brief\.\n\nAnswer with one JSON value/) },
      asks,
    ]);
    expect(notes).toEqual(['approximated json_schema as instruction']);
  });

  it('has an instruction of its own where nothing of it is known', () => {
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

  it('says seed as the vendor does', () => {
    const { body } = toVendor('chat', 'mistral', 'mistral-large', { messages: [asks], seed: 5 });
    expect([body['seed'], body['random_seed']]).toEqual([undefined, 5]);
  });

  it('has ids of nine characters where only these are taken, the same for call and result', () => {
    const { body } = toVendor('chat', 'mistral', 'mistral-large', { messages: toolTurn });
    const [, { tool_calls: calls }, { tool_call_id: id }] = body['messages'] as [
      JsonObject,
      { tool_calls: [{ id: string }] },
      { tool_call_id: string },
    ];
    expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(calls[0].id).toBe(id);
  });

  it('has text as a string where lists are refused', () => {
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

  it('thinks adaptively where budgets are refused', () => {
    const { body } = toVendor('messages', 'anthropic', 'claude-opus-5', { messages: [asks], thinking });
    expect(body['thinking']).toMatchObject({ type: 'adaptive' });
    expect(body['output_config']).toEqual({ effort: 'medium' });
  });

  it('has a budget where thinking is not adaptive', () => {
    const adaptive = { thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, max_tokens: 10_000 };
    const { body } = toVendor('messages', 'anthropic', 'claude-sonnet-4-5', { messages: [asks], ...adaptive });
    expect(body['thinking']).toEqual({ type: 'enabled', budget_tokens: 2_048 });
    expect(body).not.toHaveProperty('output_config');
  });

  it('has a budget that leaves room for the answer', () => {
    const greedy = { max_tokens: 32_000, thinking: { type: 'enabled', budget_tokens: 32_000 } };
    const { body, notes } = toVendor('messages', 'anthropic', 'claude-sonnet-4-5', { messages: [asks], ...greedy });
    expect(body['thinking']).toEqual({ type: 'enabled', budget_tokens: 16_000 });
    expect(notes).toEqual(['approximated the budget of thinking as 16000']);
  });

  it('stays as it is where it fits', () => {
    const fitting = { messages: [asks], max_tokens: 10_000, thinking };
    expect(toVendor('messages', 'anthropic', 'claude-sonnet-4-5', fitting).body).toMatchObject(fitting);
    const asIs = { messages: [asks], thinking: { type: 'adaptive' }, output_config: { effort: 'max' } };
    expect(toVendor('messages', 'anthropic', 'claude-opus-5', asIs).body).toMatchObject(asIs);
  });

  it('loses what the model cannot do, and says so', () => {
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
  it('requests neither reasoning nor its state where the model has none', () => {
    const asked = { input: 'hi', reasoning: { effort: 'high' }, include: ['reasoning.encrypted_content'] };
    const { body, notes } = toVendor('responses', 'openai', 'gpt-4.1', asked);
    expect(body).toEqual({ model: 'model-there', input: 'hi' });
    expect(notes).toEqual(['dropped reasoning']);
  });

  it('has its schema in the input where it is not known', () => {
    const text = { verbosity: 'low', format: { type: 'json_schema', name: 'a', schema } };
    const { body } = sent('responses', { input: 'hi', text }, { capabilities: { structured_output: 'object' } });
    expect(body['text']).toEqual({ verbosity: 'low', format: { type: 'json_object' } });
    expect(body['input']).toMatchObject([{ role: 'developer', content: instruction }, { content: 'hi' }]);
  });
});

describe('a Gemini request of a Gemini client', () => {
  it('has its schema in the instructions, and forces no tool, where that is refused', () => {
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

  it.each(shows)('leaves them to the next route: %s', (format, body) => {
    const routes = [
      routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: [format] }), { profile: blind }),
      routeTo(upstreamAt('http://127.0.0.1:2/v1', { formats: ['chat'] })),
    ];
    const model = modelOf('test', [], { routes });
    const modelCall = new ModelCall(exchange, model, requestOf(format, { model: 'test', ...body }));
    expect(routes.map((route) => modelCall.canServe(route))).toEqual([false, true]);
  });

  it('refuses with what the model does not take when there is no other', () => {
    expect(() => sent('chat', shows[0]![1], { capabilities: { images: false } })).toThrow(
      expect.objectContaining({
        code: 'unsupported_content',
        message: 'This model does not accept images.',
      }) as GatewayError,
    );
  });

  it('passes every byte of a request without any', () => {
    const text = '{"model":"test",  "messages":[{"role":"user","content":[{"type":"text","text":"image"}]}]}';
    const route = routeTo(upstreamAt('http://127.0.0.1:1/v1'), { profile: blind });
    const request = { ...requestOf('chat', JSON.parse(text) as JsonObject), text, bytes: Buffer.from(text) };
    expect(String(adaptRequest(request, route).body)).toBe(text.replace('test', 'model-there'));
  });
});

describe('a route of the client’s own format that reads no files', () => {
  it('is told in words what a text file says', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'three' };
    const messages = [{ role: 'user', content: [{ type: 'document', source }] }];
    const { body } = sent('messages', { messages }, { capabilities: { files: false } });
    expect(body['messages']).toEqual([{ role: 'user', content: [{ type: 'text', text: 'three' }] }]);
  });
});
