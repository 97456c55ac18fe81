import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { Notes } from '../../../../../../plugins/format/canonical/notes.ts';
import { messagesCodec } from '../../../../../../plugins/format/formats/messages/codec.ts';
import { descriptors } from '../../../../../support/formats.ts';
import { runs } from '../../../../../support/runs.ts';
import { decode, hello, refusal, text } from '../fixture.ts';

const itemsOf = (...messages: JsonValue[]) => decode({ messages }).conversation.items;
const partsOf = (...content: JsonValue[]) => {
  const [item] = itemsOf({ role: 'user', content });
  return item !== undefined && 'parts' in item ? item.parts : [];
};
const answer = (...content: JsonValue[]): JsonObject => ({ role: 'assistant', content });
const resultOf = (members: JsonObject) =>
  itemsOf({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', ...members }] })[0];
const toolsOf = (...tools: JsonValue[]) => decode({ tools });
const parallel = (flag: JsonObject) =>
  decode({ tool_choice: { type: 'auto', ...flag } }).conversation.parallelToolCalls;
const choose = (type: string) => ({ tools: [{ type, name: 'it' }], tool_choice: { type: 'tool', name: 'it' } });
const reasoningOf = (body: JsonObject) => decode(body).conversation.reasoning;
const user = (...content: JsonValue[]): JsonObject => ({ messages: [{ role: 'user', content }] });

describe('decoding instructions of a Messages request', () => {
  it('Messages instructions may be a string or text blocks', () => {
    expect(decode({ system: 'Be brief.' }).conversation.instructions).toEqual(['Be brief.']);
    const system = ['A', 'B'].map((value) => ({ type: 'text', text: value, cache_control: { type: 'ephemeral' } }));
    expect(decode({ system }).conversation.instructions).toEqual(['A', 'B']);
  });

  it('the billing header of Claude Code is removed from Messages instructions', () => {
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1' },
      { type: 'text', text: 'Be brief.' },
    ];
    expect(decode({ system })).toMatchObject({ conversation: { instructions: ['Be brief.'] }, notes: [] });
  });

  it('a system message within a Messages dialogue stays in its place', () => {
    const late = { role: 'system', content: [{ type: 'text', text: 'In French.' }] };
    expect(itemsOf(hello, late)).toEqual([
      { type: 'message', role: 'user', parts: [text('Hi')] },
      { type: 'message', role: 'system', parts: [text('In French.')] },
    ]);
  });

  it('system messages before a Messages dialogue become instructions', () => {
    const { conversation } = decode({ system: 'A', messages: [{ role: 'system', content: 'B' }, hello] });
    expect(conversation.instructions).toEqual(['A', 'B']);
    expect(conversation.items).toHaveLength(1);
  });
});

describe('decoding content of a Messages user', () => {
  it('Messages images are decoded from all three sources', () => {
    const sources = [
      { type: 'base64', media_type: 'image/jpg', data: 'iV\nBO' },
      { type: 'url', url: 'https://a.example/b.png' },
      { type: 'file', file_id: 'file_1' },
    ];
    expect(partsOf(...sources.map((source) => ({ type: 'image', source })))).toEqual([
      { type: 'image', source: { type: 'base64', mediaType: 'image/jpeg', data: 'iVBO' }, detail: undefined },
      { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' }, detail: undefined },
      { type: 'image', source: { type: 'id', id: 'file_1', vendor: 'anthropic' }, detail: undefined },
    ]);
  });

  it('Messages documents become files, and plain text documents become text', () => {
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBE' };
    const plain = { type: 'text', media_type: 'text/plain', data: 'Words' };
    const content = { type: 'content', content: [{ type: 'text', text: 'More' }] };
    expect(
      partsOf(
        { type: 'document', source: pdf, title: 'Report' },
        { type: 'document', source: plain, title: 'Letter' },
        { type: 'document', source: content },
      ),
    ).toEqual([
      { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBE' }, name: 'Report' },
      text('Letter\n\nWords'),
      text('More'),
    ]);
  });

  it('Messages search results become text', () => {
    const found = {
      type: 'search_result',
      source: 'https://a.example',
      title: 'A',
      content: [{ type: 'text', text: 'B' }],
    };
    expect(partsOf(found)).toEqual([text('A\nhttps://a.example'), text('B')]);
  });

  it('empty texts and unknown blocks of a Messages user are left out', () => {
    const { conversation, notes } = decode({
      messages: [{ role: 'user', content: [{ type: 'text', text: '' }, { type: 'hologram' }] }, hello],
    });
    expect(conversation.items).toHaveLength(1);
    expect(notes).toEqual(['dropped content block hologram']);
  });
});

describe('decoding earlier answers of a Messages request', () => {
  it('an earlier Messages answer is decoded into reasoning, text and calls in their order', () => {
    const items = itemsOf(
      hello,
      answer(
        { type: 'thinking', thinking: 'Hm.', signature: 'dps1s4fa61b0c.Eq==' },
        { type: 'redacted_thinking', data: 'dps1x4fa61b0c.Zz' },
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_use', id: 'toolu_1', name: 'ls', input: { path: '/' }, cache_control: { type: 'ephemeral' } },
      ),
    );
    expect(items.slice(1)).toEqual([
      { type: 'reasoning', text: 'Hm.', state: { kind: 'signature', origin: '4fa61b0c', data: 'Eq==' } },
      { type: 'reasoning', text: '', state: { kind: 'redacted', origin: '4fa61b0c', data: 'Zz' } },
      { type: 'message', role: 'assistant', parts: [text('Let me see.')] },
      expect.objectContaining({
        type: 'tool_call',
        id: 'toolu_1',
        name: 'ls',
        form: 'function',
        input: '{"path":"/"}',
      }),
    ]);
  });

  it('Messages thinking without our tag has no state', () => {
    const items = itemsOf(
      hello,
      answer({ type: 'thinking', thinking: 'Hm.', signature: 'EqQBCk' }, { type: 'thinking', thinking: 'So.' }),
    );
    expect(items.slice(1)).toEqual([
      { type: 'reasoning', text: 'Hm.', state: undefined },
      { type: 'reasoning', text: 'So.', state: undefined },
    ]);
  });

  it('redacted Messages thinking of unknown origin is dropped', () => {
    const { conversation, notes } = decode({
      messages: [
        hello,
        answer({ type: 'redacted_thinking', data: 'foreign' }, { type: 'thinking', thinking: '', signature: '' }),
      ],
    });
    expect(conversation.items).toHaveLength(1);
    expect(notes).toEqual(['dropped reasoning of unknown origin']);
  });

  it("results of Anthropic's own tools are dropped from a Messages request, and noted", () => {
    const { conversation, notes } = decode({
      messages: [
        hello,
        answer(
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'a' } },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          { type: 'text', text: 'Found.' },
        ),
      ],
    });
    expect(conversation.items.slice(1)).toEqual([{ type: 'message', role: 'assistant', parts: [text('Found.')] }]);
    expect(notes).toEqual(['dropped content block server_tool_use', 'dropped content block web_search_tool_result']);
  });
});

describe('decoding results of a Messages request', () => {
  it('a Messages result may be text, images, or empty', () => {
    expect(resultOf({ content: 'ok' })).toEqual({ type: 'tool_result', id: 't1', parts: [text('ok')], isError: false });
    expect(resultOf({ is_error: true })).toEqual({ type: 'tool_result', id: 't1', parts: [], isError: true });
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } };
    expect(resultOf({ content: [{ type: 'text', text: 'a' }, picture] })).toMatchObject({
      parts: [{}, { type: 'image' }],
    });
  });

  it('a Messages result that loads tools names them as text', () => {
    expect(resultOf({ content: [{ type: 'tool_reference', tool_name: 'WebFetch' }] })).toMatchObject({
      parts: [text('The tool WebFetch is now available.')],
    });
  });

  it('a Messages result is separate from the text beside it', () => {
    const content = [
      { type: 'text', text: 'first' },
      { type: 'tool_result', tool_use_id: 't1', content: 'ok' },
      { type: 'text', text: 'then' },
    ];
    expect(itemsOf({ role: 'user', content }).map(({ type }) => type)).toEqual(['message', 'tool_result', 'message']);
  });
});

describe('decoding tools of a Messages request', () => {
  it('Messages tools become functions', () => {
    const input_schema = { type: 'object', properties: {} };
    const tool = { name: 'ls', description: 'Lists.', input_schema, strict: true, eager_input_streaming: true };
    expect(toolsOf(tool, { ...tool, type: 'custom', name: 'cat' }).conversation.tools).toMatchObject([
      { form: 'function', name: 'ls', description: 'Lists.', schema: input_schema, strict: 'fitting' },
      { name: 'cat' },
    ]);
  });

  it.each(['bash_20250124', 'text_editor_20250728', 'memory_20250818'])(
    'Messages tools of the type %s become functions with a schema',
    (type) => {
      const [tool] = toolsOf({ type, name: 'it' }).conversation.tools;
      expect(tool).toMatchObject({
        form: 'function',
        name: 'it',
        schema: { type: 'object', properties: { command: {} } },
      });
      expect(tool).not.toHaveProperty('type');
    },
  );

  it('Messages web search tools become one web search', () => {
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 8, allowed_domains: ['a.example'] };
    expect(toolsOf(search, { ...search, type: 'web_search_20260209' }).conversation.tools).toEqual([
      { form: 'web_search', options: { maxUses: 8, allowedDomains: ['a.example'] } },
    ]);
  });

  it('Messages tools that only Anthropic can run are left out', () => {
    expect(toolsOf({ type: 'code_execution_20250825', name: 'code_execution' })).toMatchObject({
      conversation: { tools: [] },
      notes: ['dropped tool code_execution_20250825'],
    });
  });

  it('Messages tools that are loaded later count, and their stand-in does not', () => {
    const tools = ['DeferredToolPlaceholder', 'WebFetch'].map((name) => ({
      name,
      defer_loading: true,
      input_schema: { type: 'object' },
    }));
    expect(toolsOf(...tools).conversation.tools).toMatchObject([{ name: 'WebFetch' }]);
  });

  it('of two Messages tools with one name, the first counts', () => {
    expect(toolsOf({ name: 'a', description: '1' }, { name: 'a', description: '2' }).conversation.tools).toMatchObject([
      { description: '1' },
    ]);
  });

  it.each([
    [{ type: 'auto' }, { type: 'auto' }],
    [{ type: 'any' }, { type: 'required' }],
    [{ type: 'none' }, { type: 'none' }],
    [
      { type: 'tool', name: 'ls' },
      { type: 'tool', name: 'ls' },
    ],
  ])('the Messages tool choice %j is decoded', (tool_choice, toolChoice) => {
    expect(decode({ tool_choice, tools: [{ name: 'ls' }] }).conversation.toolChoice).toEqual(toolChoice);
  });

  it('Messages clients can turn parallel calls off', () => {
    expect(parallel({ disable_parallel_tool_use: true })).toBe(false);
    expect(parallel({ disable_parallel_tool_use: false })).toBe(true);
    expect(parallel({})).toBe(undefined);
  });

  it('a forced Messages web search is offered, and other forced tools of the vendor are refused', () => {
    expect(decode(choose('web_search_20250305'))).toMatchObject({
      conversation: { toolChoice: { type: 'auto' } },
      notes: ['approximated tool_choice web_search as auto'],
    });
    expect(refusal(choose('code_execution_20250825'))).toMatchObject({
      code: 'not_supported',
      details: { param: 'tool_choice' },
    });
  });
});

describe('decoding thinking of a Messages request', () => {
  it.each([
    [{ thinking: { type: 'enabled', budget_tokens: 32_000 } }, { effort: undefined, budget: 32_000, wantsText: true }],
    [
      { thinking: { type: 'adaptive', display: 'omitted' } },
      { effort: undefined, budget: undefined, wantsText: false },
    ],
    [
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
      { effort: 'xhigh', budget: undefined, wantsText: true },
    ],
    [{ thinking: { type: 'between_tools' } }, { effort: undefined, budget: undefined, wantsText: true }],
    [
      { thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
      { effort: 'none', budget: undefined, wantsText: false },
    ],
    [{ output_config: { effort: 'low' } }, { effort: 'low', budget: undefined, wantsText: false }],
    [{}, undefined],
  ])('reasoning is requested by the Messages members %j', (body, reasoning) => {
    expect(reasoningOf(body)).toEqual(reasoning);
  });
});

describe('decoding other members of a Messages request', () => {
  it('Messages parameters are decoded under their own names', () => {
    const { conversation, notes } = decode({
      max_tokens: 128_000,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      stop_sequences: ['END', ''],
      service_tier: 'standard_only',
      cache_control: { type: 'ephemeral' },
      stream: true,
    });
    expect(conversation).toMatchObject({
      maxOutputTokens: 128_000,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stop: ['END'],
      serviceTier: 'default',
      candidates: 1,
    });
    expect(notes).toEqual([]);
  });

  it('the output schema of a Messages request is read in the old spelling too', () => {
    const format = { type: 'json_schema', schema: { type: 'object' } };
    const output = { type: 'json_schema', schema: { type: 'object' } };
    expect(decode({ output_config: { format } }).conversation.output).toMatchObject(output);
    expect(decode({ output_format: format }).conversation.output).toMatchObject(output);
  });

  it.each([
    ['{"device_id":"d","session_id":"s-1"}', 's-1'],
    ['user_abc_account_def_session_12-34', '12-34'],
    ['someone', undefined],
  ])('the session is read from the Messages user %s', (user_id, cacheKey) => {
    expect(decode({ metadata: { user_id } }).conversation).toMatchObject({ user: user_id, cacheKey });
  });

  it('unknown Messages members are noted', () => {
    const { notes } = decode({
      context_management: { edits: [] },
      safeguards: [],
      container: null,
      output_config: { task_budget: {} },
    });
    expect(notes).toEqual(['dropped context_management', 'dropped safeguards', 'dropped output_config.task_budget']);
  });

  it.each<[string, JsonObject]>([
    ['messages', { messages: 'Hi' }],
    ['messages', { messages: [] }],
    ['messages[0]', { messages: ['Hi'] }],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: 5 }] }],
    ['messages[0].content[0].type', user({})],
    ['messages[0].content[0].text', user({ type: 'text', text: 1 })],
    ['messages[0].content[0].source', user({ type: 'image' })],
    ['messages[0].content[0].source.type', user({ type: 'image', source: { type: 'x' } })],
    [
      'messages[0].content[0].source.data',
      user({ type: 'image', source: { type: 'base64', media_type: 'image/png' } }),
    ],
    ['messages[0].content[0].tool_use_id', user({ type: 'tool_result' })],
    [
      'messages[0].content[0].content[0].text',
      user({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text' }] }),
    ],
    ['messages[0].content[0].input', { messages: [answer({ type: 'tool_use', id: 'a', name: 'b', input: 'c' })] }],
    ['messages[0].content[0].thinking', { messages: [answer({ type: 'thinking' })] }],
    ['system', { system: 1 }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: 1.5 }],
    ['temperature', { temperature: 1.1 }],
    ['top_k', { top_k: -1 }],
    ['stop_sequences', { stop_sequences: 'END' }],
    ['stop_sequences[0]', { stop_sequences: [1] }],
    ['tools', { tools: {} }],
    ['tools[0].name', { tools: [{}] }],
    ['tools[0].input_schema', { tools: [{ name: 'a', input_schema: 'b' }] }],
    ['tool_choice', { tool_choice: 'auto' }],
    ['tool_choice.type', { tool_choice: { type: 'all' } }],
    ['tool_choice.name', { tool_choice: { type: 'tool', name: 'a' } }],
    ['thinking.type', { thinking: { type: 'hard' } }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled' } }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled', budget_tokens: 5 } }],
    ['output_config.effort', { output_config: { effort: 'huge' } }],
    ['output_config.format.schema', { output_config: { format: { type: 'json_schema' } } }],
    ['metadata.user_id', { metadata: { user_id: 1 } }],
  ])('a Messages request with a mistake at %s is refused by that path', (param, body) => {
    expect(refusal(body)).toMatchObject({ code: 'invalid_request', details: { param } });
  });
});

/** Bodies that are nearly right: what a client may get wrong is in any place. */
const anything = fc.jsonValue({ maxDepth: 2 });
const word = fc.constantFrom('text', 'image', 'document', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result');
const names = [
  'type',
  'text',
  'source',
  'thinking',
  'signature',
  'data',
  'id',
  'name',
  'input',
  'content',
  'tool_use_id',
];
const block = fc.record(
  Object.fromEntries(
    names.map((name) => [name, name === 'type' ? fc.oneof(word, anything) : fc.oneof(fc.string(), anything)]),
  ),
  { requiredKeys: [] },
);
const message = fc.record({
  role: fc.oneof(fc.constantFrom('user', 'assistant', 'system'), anything),
  content: fc.oneof(fc.string(), fc.array(fc.oneof(block, anything)), anything),
});
const members = [
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'metadata',
  'stop_sequences',
  'service_tier',
];
const body = fc.record(
  {
    messages: fc.oneof(fc.array(message, { minLength: 1 }), anything),
    ...Object.fromEntries(members.map((name) => [name, anything])),
  },
  { requiredKeys: [] },
);

describe('decoding arbitrary Messages requests', () => {
  it('any Messages body is decoded, or refused with a path', () => {
    fc.assert(
      fc.property(fc.oneof(body, fc.dictionary(fc.string(), anything)), (value) => {
        try {
          messagesCodec.decodeRequest(value as JsonObject, new Notes());
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          expect((error as GatewayError).status(descriptors.messages)).toBeLessThan(502);
          expect((error as GatewayError).details.param).toBeTypeOf('string');
        }
      }),
      runs(200),
    );
  });
});

describe('what has no place elsewhere in blocks of a Messages request', () => {
  it('transformations of images and citations of search results have a note', () => {
    const image = {
      type: 'image',
      source: { type: 'url', url: 'https://a/b.png' },
      transformations: { oversized_image: 'error' },
    };
    const found = { type: 'search_result', title: 'T', source: 'S', content: [], citations: { enabled: true } };
    expect(decode({ messages: [{ role: 'user', content: [image, found] }] }).notes).toEqual([
      'dropped transformations of an image',
      'dropped citations of a search result',
    ]);
    const silent = { ...found, citations: { enabled: false } };
    expect(decode({ messages: [{ role: 'user', content: [silent] }] }).notes).toEqual([]);
  });
});
