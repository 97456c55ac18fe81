import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderError } from '#core/gateway/pipeline/render-error.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { descriptors } from '../../../../../support/formats.ts';
import { runs } from '../../../../../support/runs.ts';
import { errorSchema } from '../../../../../support/schemas/responses.ts';
import { decode, encode, refusal } from '../fixture.ts';

const hello = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] };
const sent = (...input: JsonValue[]) => decode({ model: 'm', input }).conversation;
const told = (...tools: JsonValue[]) => decode({ input: 'Hi', tools }).conversation.tools;

describe('decoding input of a Responses request', () => {
  it('Responses input may be a string', () => {
    expect(decode({ input: 'Hello' }).conversation.items).toEqual([
      { type: 'message', role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
    ]);
  });

  it('Responses messages may lack a type and have a string as content', () => {
    expect(sent({ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Ho' }).items).toMatchObject([
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'assistant', parts: [{ text: 'Ho' }] },
    ]);
  });

  it('developer and system messages before a Responses dialogue become instructions', () => {
    const { conversation } = decode({
      instructions: 'Be kind.',
      input: [{ role: 'developer', content: 'Be brief.' }, { role: 'system', content: 'Be right.' }, hello],
    });
    expect(conversation.instructions).toEqual(['Be kind.', 'Be brief.', 'Be right.']);
    expect(conversation.items).toHaveLength(1);
  });

  it('a developer message within a Responses dialogue stays in its place', () => {
    expect(
      sent(hello, { role: 'developer', content: 'Now in French.' }, hello).items.map((item) => item),
    ).toMatchObject([{ role: 'user' }, { role: 'system', parts: [{ text: 'Now in French.' }] }, { role: 'user' }]);
  });

  it('empty Responses texts and messages are left out', () => {
    const empty = { role: 'assistant', content: [{ type: 'output_text', text: '', annotations: [] }] };
    expect(sent(hello, empty, { role: 'user', content: '' }).items).toHaveLength(1);
  });

  it('Responses images are decoded from data with a corrected media type, URLs and uploaded files', () => {
    const { items } = sent({
      role: 'user',
      content: [
        { type: 'input_image', image_url: 'data:image/jpg;charset=x;base64,AA\nBB', detail: 'original' },
        { type: 'input_image', image_url: 'https://example.com/a.png' },
        { type: 'input_image', file_id: 'file-1' },
      ],
    });
    expect(items[0]).toMatchObject({
      parts: [
        { type: 'image', source: { type: 'base64', mediaType: 'image/jpeg', data: 'AABB' }, detail: 'original' },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        { type: 'image', source: { type: 'id', id: 'file-1' } },
      ],
    });
  });

  it('Responses documents and audio are decoded', () => {
    const { items } = sent({
      role: 'user',
      content: [
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' },
        { type: 'input_file', file_data: 'JVBE' },
        { type: 'input_file', file_url: 'https://example.com/a.pdf' },
        { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
      ],
    });
    expect(items[0]).toMatchObject({
      parts: [
        { type: 'file', name: 'a.pdf', source: { mediaType: 'application/pdf', data: 'JVBE' } },
        { type: 'file', name: undefined, source: { mediaType: 'application/pdf', data: 'JVBE' } },
        { type: 'file', source: { type: 'url' } },
        { type: 'audio', data: 'UklG', format: 'wav' },
      ],
    });
  });

  it('Responses calls and results are decoded, with text or images', () => {
    const { items } = sent(
      hello,
      { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'look', namespace: 'eyes', arguments: '{"at":1}' },
      { type: 'function_call', call_id: 'c2', name: 'wait', arguments: '' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_image', image_url: 'https://e.com/i' }] },
      { type: 'function_call_output', call_id: 'c2', output: 'done' },
    );
    expect(items.slice(1)).toEqual([
      { type: 'tool_call', id: 'c1', name: 'look', namespace: 'eyes', form: 'function', input: '{"at":1}' },
      { type: 'tool_call', id: 'c2', name: 'wait', namespace: undefined, form: 'function', input: '{}' },
      {
        type: 'tool_result',
        id: 'c1',
        isError: false,
        parts: [{ type: 'image', source: { type: 'url', url: 'https://e.com/i' }, detail: undefined }],
      },
      { type: 'tool_result', id: 'c2', isError: false, parts: [{ type: 'text', text: 'done' }] },
    ]);
  });

  it('Responses calls of freeform tools keep their raw text', () => {
    const { items } = sent(
      { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** Begin Patch' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'ok' }] },
    );
    expect(items).toMatchObject([
      { type: 'tool_call', form: 'freeform', input: '*** Begin Patch' },
      { type: 'tool_result', id: 'c1', parts: [{ text: 'ok' }] },
    ]);
  });

  it('tools that a Responses search has found join those of the request', () => {
    const { items, tools } = sent(
      { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'mail' } },
      {
        type: 'tool_search_output',
        call_id: 'c1',
        tools: [{ type: 'namespace', name: 'mail', description: 'Mail', tools: [{ type: 'function', name: 'send' }] }],
      },
    );
    expect(items).toMatchObject([
      { type: 'tool_call', form: 'tool_search', name: 'tool_search', input: '{"query":"mail"}' },
      { type: 'tool_result', parts: [{ text: 'These tools can be called now: mail.send' }] },
    ]);
    expect(tools).toMatchObject([{ name: 'send', namespace: 'mail' }]);
  });

  it('Responses items may bring tools, and instructions may follow them', () => {
    const { tools, instructions } = sent(
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name: 'exec' }] },
      { role: 'developer', content: 'You are Codex.' },
      hello,
    );
    expect(tools).toMatchObject([{ form: 'freeform', name: 'exec' }]);
    expect(instructions).toEqual(['You are Codex.']);
  });

  it('unknown Responses items and parts are left out, and noted', () => {
    const { conversation, notes } = decode({
      input: [hello, { type: 'compaction', encrypted_content: 'x' }, { type: 'web_search_call', id: 'ws_1' }],
    });
    expect(conversation.items).toHaveLength(1);
    expect(notes).toEqual(['dropped input item compaction', 'dropped input item web_search_call']);
    expect(decode({ input: [{ role: 'user', content: [{ type: 'hologram' }] }, hello] }).notes).toEqual([
      'dropped content part hologram',
    ]);
  });
});

const update = (more: JsonObject) => ({ type: 'configuration_update', ...more });

it('the detail of a file in a Responses request has a note', () => {
  const content = [{ type: 'input_file', file_url: 'https://a/b.pdf', detail: 'high' }];
  expect(decode({ input: [{ role: 'user', content }] }).notes).toEqual(['dropped detail of a file']);
});

describe('items that change a Responses request', () => {
  const format = { type: 'json_schema', name: 'n', schema: { type: 'object' } };

  it('the last update of the configuration sets effort and text format', () => {
    const { conversation, notes } = decode({
      reasoning: { effort: 'low', summary: 'auto' },
      input: [
        update({ reasoning: { effort: 'medium' }, text: { format } }),
        hello,
        update({ reasoning: { effort: 'high' } }),
        hello,
      ],
    });
    expect(conversation.reasoning).toEqual({ effort: 'high', budget: undefined, wantsText: true });
    expect(conversation.output).toMatchObject({ type: 'json_schema', schema: { type: 'object' } });
    expect(notes).toEqual([]);
  });

  it('an update of the configuration returns to plain text, and stands for a request that says nothing', () => {
    const plain = update({ text: { format: { type: 'text' } } });
    expect(decode({ text: { format }, input: [hello, plain] }).conversation.output).toBeUndefined();
    const { conversation } = decode({ input: [update({ reasoning: { effort: 'none' } }), hello] });
    expect(conversation.reasoning).toEqual({ effort: 'none', budget: undefined, wantsText: false });
    expect(refusal({ input: [update({ reasoning: { effort: 'huge' } }), hello] }).details).toEqual({
      param: 'input[0].reasoning.effort',
    });
  });

  it.each(['compaction_trigger', 'computer_call_output', 'mcp_approval_response', 'something_new'])(
    'a last item that nobody can answer is refused by its place: %s',
    (type) => {
      expect(refusal({ input: [hello, { type }] })).toMatchObject({
        code: 'unsupported_content',
        message: `This model does not support input item ${type}.`,
        details: { param: 'input[1]' },
      });
    },
  );
});

describe('decoding reasoning of a Responses request', () => {
  it('Responses reasoning has the text of summary and content, where null counts as empty', () => {
    expect(
      sent({
        type: 'reasoning',
        summary: [
          { type: 'summary_text', text: 'One.' },
          { type: 'summary_text', text: 'Two.' },
        ],
        content: [{ type: 'reasoning_text', text: 'Three.' }],
      }).items,
    ).toEqual([{ type: 'reasoning', text: 'One.\n\nTwo.\n\nThree.', state: undefined }]);
    expect(sent({ type: 'reasoning', id: 'rs_1', summary: [], content: null }).items).toEqual([]);
  });

  it('encrypted Responses content with our tag is kept', () => {
    expect(sent({ type: 'reasoning', summary: [], encrypted_content: 'dps1e0123abcd.rs_9:gAAA' }).items).toEqual([
      { type: 'reasoning', text: '', state: { kind: 'encrypted', origin: '0123abcd', data: 'rs_9:gAAA' } },
    ]);
    expect(sent({ type: 'reasoning', summary: [], encrypted_content: 'dps1s0123abcd.EqQB' }).items).toMatchObject([
      { state: { kind: 'signature', data: 'EqQB' } },
    ]);
  });

  it('encrypted Responses content of unknown origin is dropped, and noted', () => {
    const { conversation, notes } = decode({ input: [{ type: 'reasoning', summary: [], encrypted_content: 'gAAA' }] });
    expect(conversation.items).toEqual([]);
    expect(notes).toEqual(['dropped encrypted_content of unknown origin']);
  });
});

const searchNotes = (types: string[]) =>
  decode({ input: 'Hi', tools: [{ type: 'web_search', search_content_types: types }] }).notes;

describe('decoding tools of a Responses request', () => {
  it('Responses tools may be functions, freeform tools with grammars, groups and searches', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
    expect(
      told(
        { type: 'function', name: 'f', description: 'F', parameters: schema, strict: false },
        { type: 'custom', name: 'apply_patch', format },
        { type: 'namespace', name: 'ns', description: '', tools: [{ type: 'function', name: 'f', parameters: null }] },
        { type: 'tool_search', execution: 'client', description: 'Search', parameters: schema },
      ),
    ).toMatchObject([
      { form: 'function', name: 'f', namespace: undefined, schema, strict: false },
      { form: 'freeform', name: 'apply_patch', grammar: { syntax: 'lark', definition: 'start: "x"' } },
      { form: 'function', name: 'f', namespace: 'ns', schema: undefined, strict: undefined },
      { form: 'tool_search', name: 'tool_search', schema },
    ]);
  });

  it('of two Responses tools with one name, the first counts', () => {
    expect(told({ type: 'function', name: 'f', description: '1' }, { type: 'function', name: 'f' })).toMatchObject([
      { description: '1' },
    ]);
  });

  it('a Responses tool without a type is a function', () => {
    expect(told({ name: 'f', parameters: { type: 'object' } })).toMatchObject([{ form: 'function', name: 'f' }]);
    expect(refusal({ input: 'Hi', tools: [{}] }).details.param).toBe('tools[0].type');
  });

  it('a Responses web search that may not reach the web is left out, because others search it live', () => {
    const f = { type: 'function', name: 'f' };
    const { conversation, notes } = decode({
      input: 'Hi',
      tools: [{ type: 'web_search', external_web_access: false }, f],
    });
    expect(conversation.tools).toMatchObject([{ name: 'f' }]);
    expect(notes).toEqual(['dropped web_search']);
  });

  it('kinds of content that a Responses web search looks for have a note, unless they are texts', () => {
    expect(searchNotes(['text'])).toEqual([]);
    expect(searchNotes(['text', 'image'])).toEqual(['dropped search_content_types of web_search']);
  });

  it('a Responses web search is recognised under any of its names', () => {
    expect(told({ type: 'web_search', external_web_access: true }, { type: 'web_search_preview_2025_03_11' })).toEqual([
      { form: 'web_search', options: {} },
    ]);
  });

  it('Responses tools that only their vendor runs are left out if there are others', () => {
    const { conversation, notes } = decode({
      input: 'Hi',
      tools: [
        { type: 'code_interpreter', container: { type: 'auto' } },
        { type: 'function', name: 'f' },
      ],
    });
    expect(conversation.tools).toHaveLength(1);
    expect(notes).toEqual(['dropped tool code_interpreter']);
  });

  it('Responses tools that only their vendor runs are refused if alone or forced', () => {
    const tools = [{ type: 'file_search', vector_store_ids: [] }];
    expect(refusal({ input: 'Hi', tools })).toMatchObject({
      code: 'not_supported',
      details: { param: 'tools[0].type' },
    });
    expect(
      refusal({
        input: 'Hi',
        tools: [...tools, { type: 'function', name: 'f' }],
        tool_choice: { type: 'file_search' },
      }),
    ).toMatchObject({ code: 'not_supported', details: { param: 'tool_choice' } });
    expect(decode({ input: 'Hi', tools, tool_choice: 'none' }).conversation.tools).toEqual([]);
  });

  it('a Responses tool choice may be a word, a name or a list', () => {
    const tools = [
      { type: 'function', name: 'f' },
      { type: 'namespace', name: 'ns', description: '', tools: [{ type: 'function', name: 'g' }] },
    ];
    const chosen = (tool_choice: JsonValue) => decode({ input: 'Hi', tools, tool_choice }).conversation.toolChoice;
    expect(chosen('required')).toEqual({ type: 'required' });
    expect(chosen({ type: 'function', name: 'f' })).toMatchObject({ type: 'tool', name: 'f' });
    expect(chosen({ type: 'custom', name: 'c' })).toMatchObject({ type: 'tool', name: 'c' });
    expect(
      chosen({
        type: 'allowed_tools',
        mode: 'required',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'namespace', name: 'ns' },
        ],
      }),
    ).toEqual({ type: 'required', allowed: ['f', 'g'] });
  });
});

describe('decoding settings of a Responses request', () => {
  it('Responses settings are decoded', () => {
    expect(
      decode({
        input: 'Hi',
        parallel_tool_calls: false,
        max_output_tokens: 100,
        temperature: 0.5,
        top_p: 0.9,
        reasoning: { effort: 'xhigh', summary: 'detailed' },
        text: {
          verbosity: 'low',
          format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true },
        },
        safety_identifier: 'u',
        prompt_cache_key: 'k',
        service_tier: 'flex',
      }).conversation,
    ).toMatchObject({
      parallelToolCalls: false,
      maxOutputTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      reasoning: { effort: 'xhigh', budget: undefined, wantsText: true },
      verbosity: 'low',
      output: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true },
      safetyId: 'u',
      cacheKey: 'k',
      serviceTier: 'flex',
      candidates: 1,
    });
  });

  it('the text of Responses reasoning is wanted only if a summary is requested', () => {
    expect(decode({ input: 'Hi', reasoning: { effort: 'low' } }).conversation.reasoning?.wantsText).toBe(false);
  });

  it('metadata of a Responses request is decoded, and empty metadata is left out', () => {
    expect(decode({ input: 'Hi', metadata: { team: 'a' } }).conversation.metadata).toEqual({ team: 'a' });
    expect(decode({ input: 'Hi', metadata: {} }).conversation.metadata).toBeUndefined();
  });

  it('values of a Responses include are noted, except for reasoning state, which is always included', () => {
    const include = [
      'reasoning.encrypted_content',
      'message.output_text.logprobs',
      'web_search_call.results',
      'my own',
    ];
    expect(decode({ input: 'Hi', include }).notes).toEqual([
      'dropped include web_search_call.results',
      'dropped include',
    ]);
  });

  it('unknown Responses settings are left out and noted, but not those that the gateway serves itself', () => {
    const { notes } = decode({
      input: 'Hi',
      store: false,
      stream: true,
      metadata: {},
      client_metadata: { a: 'b' },
      include: ['reasoning.encrypted_content'],
      truncation: 'disabled',
      moderation: { on: true },
      reasoning: { effort: null, mode: 'x' },
    });
    expect(notes).toEqual(['dropped moderation', 'dropped reasoning.mode']);
  });
});

describe('refusing a Responses request', () => {
  it.each<[JsonObject, string]>([
    [{}, 'input'],
    [{ input: 7 }, 'input'],
    [{ input: ['x'] }, 'input[0]'],
    [{ input: [{}] }, 'input[0].type'],
    [{ input: [{ type: 'message', role: 'narrator', content: 'x' }] }, 'input[0].role'],
    [{ input: [{ role: 'user', content: 7 }] }, 'input[0].content'],
    [{ input: [{ role: 'user', content: [{ text: 'x' }] }] }, 'input[0].content[0].type'],
    [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input[0].content[0].text'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input[0].content[0].image_url'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png,x' }] }] },
      'input[0].content[0].image_url',
    ],
    [{ input: [{ role: 'user', content: [{ type: 'input_file' }] }] }, 'input[0].content[0].file_data'],
    [{ input: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'input[0].content[0].input_audio'],
    [{ input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }, 'input[0].call_id'],
    [{ input: [{ type: 'function_call', call_id: 'c', arguments: '{}' }] }, 'input[0].name'],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: {} }] }, 'input[0].arguments'],
    [{ input: [{ type: 'reasoning', summary: 'x' }] }, 'input[0].summary'],
    [{ input: 'Hi', instructions: ['x'] }, 'instructions'],
    [{ input: 'Hi', tools: {} }, 'tools'],
    [{ input: 'Hi', tools: [{ type: 'function', name: '' }] }, 'tools[0].name'],
    [{ input: 'Hi', tools: [{ type: 'function', name: 'f', parameters: 'x' }] }, 'tools[0].parameters'],
    [{ input: 'Hi', tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'custom' }] }] }, 'tools[0].tools[0].name'],
    [{ input: 'Hi', tools: [{ type: 'custom', name: 'c', format: { type: 'grammar' } }] }, 'tools[0].format.syntax'],
    [{ input: 'Hi', tool_choice: 'any' }, 'tool_choice'],
    [{ input: 'Hi', tool_choice: { type: 'function' } }, 'tool_choice.name'],
    [{ input: 'Hi', tool_choice: { type: 'allowed_tools', mode: 'x', tools: [] } }, 'tool_choice.mode'],
    [{ input: 'Hi', temperature: 3 }, 'temperature'],
    [{ input: 'Hi', max_output_tokens: 0 }, 'max_output_tokens'],
    [{ input: 'Hi', reasoning: { effort: 'huge' } }, 'reasoning.effort'],
    [{ input: 'Hi', text: { format: { type: 'xml' } } }, 'text.format.type'],
    [{ input: 'Hi', text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema'],
    [{ input: 'Hi', metadata: 'x' }, 'metadata'],
  ])('the body %j is refused by the path of its mistake', (body, param) => {
    expect(refusal(body)).toMatchObject({ code: 'invalid_request', details: { param } });
  });

  it('a Responses response that is not stored is named in the words that clients know', () => {
    const references: [JsonObject, string][] = [
      [{ input: 'Hi', previous_response_id: 'resp_1' }, 'previous_response_id'],
      [{ input: 'Hi', conversation: { id: 'conv_1' } }, 'conversation'],
      [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0].id'],
    ];
    for (const [body, param] of references) {
      const error = refusal(body);
      expect(error.details.param).toBe(param);
      expect(error.status(descriptors.responses)).toBe(400);
      expect(error.wording('openai').code).toBe('previous_response_not_found');
    }
  });

  it('a refused Responses request gets an error in the shape that clients read', () => {
    const { body } = renderError(refusal({}), { id: 'req1', format: descriptors.responses, dialect: 'openai' });
    expect(new Ajv({ allowUnionTypes: true }).compile(errorSchema)(JSON.parse(String(body)))).toBe(true);
  });

  it('stored prompts of Responses requests are refused', () => {
    expect(refusal({ prompt: { id: 'pmpt_1' } })).toMatchObject({ code: 'not_supported' });
  });
});

describe('decoding arbitrary Responses requests', () => {
  const value = fc.jsonValue({ maxDepth: 4 });
  const item = fc.record(
    {
      type: fc.constantFrom('message', 'reasoning', 'function_call', 'custom_tool_call', 'tool_search_output', 'x'),
      role: fc.constantFrom('user', 'assistant', 'developer', 'other'),
      content: fc.oneof(
        value,
        fc.array(fc.record({ type: fc.constantFrom('input_text', 'input_image'), text: value })),
      ),
      call_id: fc.oneof(fc.string(), value),
      name: fc.oneof(fc.string(), value),
      arguments: value,
      summary: value,
      tools: value,
    },
    { requiredKeys: [] },
  );
  const body = fc.record(
    {
      input: fc.oneof(fc.array(item), value),
      tools: fc.oneof(
        fc.array(fc.record({ type: fc.constantFrom('function', 'namespace', 'mcp'), name: value })),
        value,
      ),
      tool_choice: value,
      text: value,
      reasoning: value,
      instructions: value,
      temperature: value,
    },
    { requiredKeys: [] },
  );

  it('any Responses body is decoded to a conversation that can be encoded, or refused', () => {
    fc.assert(
      fc.property(fc.oneof(body, fc.dictionary(fc.string(), value)), (request) => {
        try {
          const { conversation } = decode(request as JsonObject);
          encode(conversation);
          encode(conversation, { quirks: { freeform_tools: true, tool_result_images: false } });
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          expect(error.status(descriptors.responses)).toBeGreaterThanOrEqual(400);
          expect(error.status(descriptors.responses)).toBeLessThan(500);
        }
      }),
      runs(100),
    );
  });
});
