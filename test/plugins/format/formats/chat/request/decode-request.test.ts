import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { tagState } from '../../../../../../plugins/format/canonical/opaque-state.ts';
import { descriptors } from '../../../../../support/formats.ts';
import { runs } from '../../../../../support/runs.ts';
import { decode, read, refusal } from '../fixture.ts';

const hi: JsonObject = { role: 'user', content: 'Hi' };
const decodeWith = (more: JsonObject) => decode({ model: 'm', messages: [hi], ...more });
const paramOf = (more: JsonObject) => refusal({ model: 'm', messages: [hi], ...more }).details.param;
const paramOfMessage = (message: JsonObject) => refusal({ model: 'm', messages: [message] }).details.param;
const callsWeather = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } };

const reasoningOf = (more: JsonObject) => decodeWith(more).conversation.reasoning;
const output = (format: JsonObject) => decodeWith({ response_format: format }).conversation.output;

describe('decoding messages of a Chat request', () => {
  it('system messages before a Chat dialogue become instructions, later ones stay in their place', () => {
    const { instructions, items } = read(
      { role: 'developer', content: 'A' },
      { role: 'system', content: [{ type: 'text', text: 'B' }] },
      hi,
      { role: 'system', content: 'C' },
    );
    expect(instructions).toEqual(['A', 'B']);
    expect(items).toMatchObject([{ role: 'user' }, { role: 'system', parts: [{ text: 'C' }] }]);
  });

  it('Chat users may send texts, images, audio and files', () => {
    const [message] = read({
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AA\nBB', detail: 'low' } },
        { type: 'image_url', image_url: { url: 'https://a.example/x.png' } },
        { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
        { type: 'file', file: { file_id: 'file-1' } },
      ],
    }).items;
    expect(message).toMatchObject({
      parts: [
        { type: 'text', text: 'Look' },
        { type: 'image', source: { type: 'base64', mediaType: 'image/jpeg', data: 'AABB' }, detail: 'low' },
        { type: 'image', source: { type: 'url', url: 'https://a.example/x.png' } },
        { type: 'audio', data: 'UklG', format: 'wav' },
        { type: 'file', name: 'a.pdf', source: { mediaType: 'application/pdf', data: 'JVBE' } },
        { type: 'file', source: { type: 'id', id: 'file-1' } },
      ],
    });
  });

  it('an assistant message of Chat becomes reasoning, text and calls in this order', () => {
    const { items } = read(hi, {
      role: 'assistant',
      content: 'One moment.',
      refusal: null,
      reasoning_content: 'Hm.',
      tool_calls: [callsWeather, { id: 'c2', type: 'custom', custom: { name: 'patch', input: '*** Begin' } }],
    });
    expect(items.slice(1)).toEqual([
      { type: 'reasoning', text: 'Hm.', state: undefined },
      { type: 'message', role: 'assistant', parts: [{ type: 'text', text: 'One moment.' }] },
      {
        type: 'tool_call',
        id: 'c1',
        name: 'weather',
        namespace: undefined,
        form: 'function',
        input: '{"city":"Rome"}',
      },
      { type: 'tool_call', id: 'c2', name: 'patch', namespace: undefined, form: 'freeform', input: '*** Begin' },
    ]);
  });

  it('Chat messages without text are left out, and calls without arguments get an empty object', () => {
    const call = { id: 'c1', function: { name: 'now', arguments: '' } };
    expect(read(hi, { role: 'assistant', content: null, tool_calls: [call] }).items.slice(1)).toMatchObject([
      { type: 'tool_call', input: '{}' },
    ]);
    expect(read({ role: 'user', content: '' }).items).toEqual([]);
  });

  it('a Chat tool message is a result, as a string or as parts', () => {
    expect(
      read(
        { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'dry' }] },
      ).items,
    ).toMatchObject([
      { type: 'tool_result', id: 'c1', parts: [{ text: 'sunny' }], isError: false },
      { type: 'tool_result', id: 'c2', parts: [{ text: 'dry' }] },
    ]);
  });

  it('deprecated Chat calls and results are matched by name', () => {
    const { items } = read(
      hi,
      { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '{}' } },
      { role: 'function', name: 'weather', content: 'sunny' },
    );
    const [, call, result] = items;
    expect(call).toMatchObject({ type: 'tool_call', name: 'weather', input: '{}' });
    expect(result).toMatchObject({ type: 'tool_result', parts: [{ text: 'sunny' }] });
    expect(result).toHaveProperty('id', call?.type === 'tool_call' ? call.id : '');
  });

  it('Chat messages are refused by the path of their mistake', () => {
    expect(refusal({ model: 'm' }).details.param).toBe('messages');
    expect(refusal({ model: 'm', messages: [] }).details.param).toBe('messages');
    expect(refusal({ model: 'm', messages: ['x'] }).details.param).toBe('messages[0]');
    expect(paramOfMessage({ role: 'robot', content: 'x' })).toBe('messages[0].role');
    expect(paramOfMessage({ role: 'user' })).toBe('messages[0].content');
    expect(paramOfMessage({ role: 'user', content: 7 })).toBe('messages[0].content');
    expect(paramOfMessage({ role: 'user', content: [{ text: 'x' }] })).toBe('messages[0].content[0].type');
    expect(paramOfMessage({ role: 'user', content: [{ type: 'text', text: 1 }] })).toBe('messages[0].content[0].text');
    const image = { type: 'image_url', image_url: { url: 'data:image/png,notbase64' } };
    expect(paramOfMessage({ role: 'user', content: [image] })).toBe('messages[0].content[0].image_url.url');
    expect(paramOfMessage({ role: 'tool', content: 'x' })).toBe('messages[0].tool_call_id');
    const call = { id: 'c', type: 'function', function: { name: 'x', arguments: {} } };
    expect(paramOfMessage({ role: 'assistant', tool_calls: [call] })).toBe(
      'messages[0].tool_calls[0].function.arguments',
    );
  });

  it('unknown parts, calls and names of Chat messages are accepted', () => {
    const { notes } = decode({
      model: 'm',
      messages: [
        { role: 'user', name: 'Ann', content: [{ type: 'hologram' }] },
        { role: 'assistant', tool_calls: [{ type: 'telepathy' }] },
      ],
    });
    expect(notes).toEqual(['dropped name of messages', 'dropped content part hologram', 'dropped tool call telepathy']);
  });
});

describe('decoding reasoning of a Chat request', () => {
  const state = { kind: 'signature', origin: '0a1b2c3d', data: 'sig' } as const;
  const tagged = (data: string, more: JsonObject = {}) => ({
    type: 'reasoning.encrypted',
    data: tagState({ ...state, data }),
    ...more,
  });

  it('Chat reasoning has a state if its details carry our tag', () => {
    const said = { role: 'assistant', content: 'x', reasoning_content: 'Hm.', reasoning_details: [tagged('sig')] };
    expect(read(said).items[0]).toEqual({ type: 'reasoning', text: 'Hm.', state });
  });

  it('Chat reasoning may have a state without text', () => {
    const details = [tagged('sig', { text_length: 0 })];
    expect(read({ role: 'assistant', content: 'x', reasoning_details: details }).items[0]).toMatchObject({
      text: '',
      state,
    });
  });

  it.each([
    ['signature', false],
    ['redacted', true],
    ['encrypted', true],
    ['thought', true],
  ] as const)('a state of kind %s without text and length is valid: %s', (kind, isValid) => {
    const details = [{ type: 'reasoning.encrypted', data: tagState({ ...state, kind }) }];
    const { items } = read({ role: 'assistant', content: 'x', reasoning_details: details });
    expect(items.some((item) => item.type === 'reasoning' && item.state !== undefined)).toBe(isValid);
  });

  it('Chat reasoning keeps its text and loses the state of another upstream', () => {
    const foreign = { type: 'reasoning.encrypted', data: 'EqQBCkYI' };
    const { conversation, notes } = decode({
      model: 'm',
      messages: [{ role: 'assistant', content: 'x', reasoning: 'Hm.', reasoning_details: [foreign] }],
    });
    expect(conversation.items[0]).toEqual({ type: 'reasoning', text: 'Hm.', state: undefined });
    expect(notes).toEqual(['dropped reasoning state of unknown origin']);
  });

  it('Chat reasoning of several thoughts is separated again', () => {
    const details = [tagged('a', { text_length: 3 }), tagged('b', { text_length: 0 }), tagged('c', { text_length: 2 })];
    const said = { role: 'assistant', content: 'x', reasoning_content: 'One\n\nTw', reasoning_details: details };
    expect(read(said).items.slice(0, 3)).toMatchObject([
      { text: 'One', state: { data: 'a' } },
      { text: '', state: { data: 'b' } },
      { text: 'Tw', state: { data: 'c' } },
    ]);
  });

  it('Chat reasoning loses states that no longer match the text', () => {
    const details = [tagged('a', { text_length: 30 }), tagged('b', { text_length: 2 })];
    const said = { role: 'assistant', content: 'x', reasoning_content: 'cut', reasoning_details: details };
    expect(read(said).items[0]).toEqual({ type: 'reasoning', text: 'cut', state: undefined });
  });

  it('the text of Chat reasoning may be in its details', () => {
    const details = [{ type: 'reasoning.text', text: 'A' }, { type: 'reasoning.summary', summary: 'B' }, 7];
    expect(read({ role: 'assistant', content: 'x', reasoning_details: details }).items[0]).toMatchObject({
      text: 'AB',
    });
  });
});

describe('decoding tools of a Chat request', () => {
  it('a Chat tool without a type is a function, wherever it is named', () => {
    const { tools, toolChoice } = decodeWith({
      tools: [{ function: { name: 'a' } }],
      tool_choice: { function: { name: 'a' } },
    }).conversation;
    expect(tools).toMatchObject([{ form: 'function', name: 'a' }]);
    expect(toolChoice).toEqual({ type: 'tool', name: 'a' });
    expect(paramOf({ tools: [{ name: 'a' }] })).toBe('tools[0].type');
  });

  it('Chat tools may be functions, freeform, deprecated functions or a search', () => {
    const { tools } = decodeWith({
      tools: [
        { type: 'function', function: { name: 'a', parameters: { type: 'object' }, strict: true } },
        {
          type: 'custom',
          custom: { name: 'b', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } } },
        },
        { type: 'function', function: { name: 'a', description: 'again' } },
      ],
      functions: [{ name: 'c' }],
      web_search_options: {},
    }).conversation;
    expect(tools).toMatchObject([
      { form: 'function', name: 'a', schema: { type: 'object' }, strict: true },
      { form: 'freeform', name: 'b', grammar: { syntax: 'lark', definition: 'start: "x"' } },
      { form: 'function', name: 'c', schema: undefined },
      { form: 'web_search' },
    ]);
    expect(tools).toHaveLength(4);
  });

  it('Chat tools that no route can run are dropped, unless there are no others', () => {
    const foreign = { type: 'computer' };
    const own = { type: 'function', function: { name: 'a' } };
    expect(decodeWith({ tools: [foreign, own] }).notes).toEqual(['dropped tool computer']);
    expect(refusal({ model: 'm', messages: [hi], tools: [foreign] })).toMatchObject({
      code: 'not_supported',
      details: { param: 'tools[0].type' },
    });
  });

  it.each([
    ['none', { type: 'none' }],
    ['required', { type: 'required' }],
    ['any', { type: 'required' }],
    [
      { type: 'function', function: { name: 'a' } },
      { type: 'tool', name: 'a' },
    ],
    [
      { type: 'custom', custom: { name: 'b' } },
      { type: 'tool', name: 'b' },
    ],
    [
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'a' } }] },
      },
      { type: 'required', allowed: ['a'] },
    ],
  ])('the Chat tool choice %j is decoded', (choice, expected) => {
    expect(decodeWith({ tool_choice: choice }).conversation.toolChoice).toEqual(expected);
  });

  it('deprecated Chat functions are chosen by function_call', () => {
    expect(decodeWith({ function_call: { name: 'a' } }).conversation.toolChoice).toEqual({ type: 'tool', name: 'a' });
    expect(decodeWith({ function_call: 'none' }).conversation.toolChoice).toEqual({ type: 'none' });
  });

  it('Chat tools are refused by the path of their mistake', () => {
    expect(paramOf({ tools: {} })).toBe('tools');
    expect(paramOf({ tools: [{ type: 'function' }] })).toBe('tools[0].function');
    expect(paramOf({ tools: [{ type: 'function', function: { name: '' } }] })).toBe('tools[0].function.name');
    expect(paramOf({ tools: [{ type: 'function', function: { name: 'a', parameters: 'x' } }] })).toBe(
      'tools[0].function.parameters',
    );
    expect(paramOf({ tool_choice: 'maybe' })).toBe('tool_choice');
    expect(paramOf({ tool_choice: { type: 'function' } })).toBe('tool_choice.function');
    expect(paramOf({ functions: [{}] })).toBe('functions[0].name');
  });
});

describe('decoding parameters of a Chat request', () => {
  it('Chat parameters are decoded', () => {
    const { conversation, notes } = decodeWith({
      max_completion_tokens: 10,
      max_tokens: 20,
      temperature: 1.5,
      top_p: 0.9,
      top_k: 40,
      presence_penalty: -1,
      frequency_penalty: 1,
      seed: -5,
      stop: 'END',
      n: 2,
      parallel_tool_calls: false,
      reasoning_effort: 'xhigh',
      verbosity: 'low',
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      service_tier: 'flex',
      stream_options: { include_usage: true },
    });
    expect(notes).toEqual([]);
    expect(conversation).toMatchObject({
      maxOutputTokens: 10,
      temperature: 1.5,
      topP: 0.9,
      topK: 40,
      presencePenalty: -1,
      frequencyPenalty: 1,
      seed: -5,
      stop: ['END'],
      candidates: 2,
      parallelToolCalls: false,
      reasoning: { effort: 'xhigh', wantsText: true },
      verbosity: 'low',
      user: 'u',
      safetyId: 's',
      cacheKey: 'k',
      serviceTier: 'flex',
    });
  });

  it('metadata of a Chat request is decoded', () => {
    expect(decodeWith({ metadata: { team: 'a' } })).toMatchObject({
      conversation: { metadata: { team: 'a' } },
      notes: [],
    });
  });

  it('reasoning is requested from Chat by parameters of other vendors too', () => {
    expect(reasoningOf({ reasoning: { effort: 'high', exclude: true } })).toMatchObject({
      effort: 'high',
      wantsText: false,
    });
    expect(reasoningOf({ reasoning: { max_tokens: 2000 } })).toMatchObject({ budget: 2000 });
    expect(reasoningOf({ thinking: { type: 'disabled' } })).toMatchObject({ effort: 'none' });
    expect(reasoningOf({ thinking: { type: 'enabled', budget_tokens: 99 } })).toMatchObject({ budget: 99 });
  });

  it('JSON output is requested from Chat', () => {
    expect(output({ type: 'text' })).toBeUndefined();
    expect(output({ type: 'json_object' })).toEqual({ type: 'json_object' });
    const schema = { type: 'object' };
    expect(output({ type: 'json_schema', json_schema: { name: 'x', schema, strict: true } })).toMatchObject({
      type: 'json_schema',
      name: 'x',
      schema,
      strict: true,
    });
  });

  it('Chat parameters that no conversation can express are noted', () => {
    const { notes } = decodeWith({ logit_bias: { 5: 1 }, logprobs: true, prediction: {}, brand_new: 1, store: null });
    expect(notes).toEqual(['dropped logit_bias', 'dropped prediction', 'dropped brand_new']);
  });

  it.each([
    ['temperature', 3],
    ['temperature', 'hot'],
    ['top_p', 2],
    ['presence_penalty', -3],
    ['max_tokens', 0],
    ['max_completion_tokens', 1.5],
    ['n', 0],
    ['seed', 0.5],
    ['reasoning_effort', 'huge'],
    ['parallel_tool_calls', 'yes'],
    ['logit_bias', []],
    ['user', 5],
  ])('the Chat parameter %s cannot be %j', (name, value) => {
    expect(refusal({ model: 'm', messages: [hi], [name]: value })).toMatchObject({
      code: 'invalid_request',
      details: { param: name },
    });
  });

  it('nested Chat parameters are refused by their whole path', () => {
    expect(paramOf({ stop: ['a', 5] })).toBe('stop[1]');
    expect(paramOf({ response_format: { type: 'yaml' } })).toBe('response_format.type');
    expect(paramOf({ response_format: { type: 'json_schema' } })).toBe('response_format.json_schema');
  });

  it('a Chat request for audio answers is refused', () => {
    expect(refusal({ model: 'm', messages: [hi], modalities: ['text', 'audio'] }).code).toBe('not_supported');
  });
});

describe('decoding arbitrary Chat requests', () => {
  const names = ['messages', 'tools', 'tool_choice', 'functions', 'response_format', 'stop', 'reasoning', 'thinking'];
  const value = fc.jsonValue({ maxDepth: 4 });
  const message = fc.record({
    role: fc.constantFrom('user', 'assistant', 'tool', 'function', 'system'),
    content: fc.oneof(fc.string(), value),
    name: value,
    tool_call_id: fc.oneof(fc.string(), value),
    tool_calls: fc.oneof(fc.array(fc.record({ type: fc.constantFrom('function', 'custom'), function: value })), value),
    reasoning_content: fc.oneof(fc.string(), value),
    reasoning_details: value,
  });

  it('any Chat body is decoded, or refused with a path', () => {
    const body = fc.oneof(
      fc.dictionary(fc.constantFrom(...names), value),
      fc.record({ messages: fc.array(message), tools: value }),
    );
    fc.assert(
      fc.property(body, (random) => {
        try {
          decode(random as JsonObject);
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          const status = (error as GatewayError).status(descriptors.responses);
          expect(status).toBeGreaterThanOrEqual(400);
          expect(status).toBeLessThan(500);
        }
      }),
      runs(100),
    );
  });
});
