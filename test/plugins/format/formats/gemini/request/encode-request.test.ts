import { describe, expect, it } from 'vitest';
import type { ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Conversation, Effort, Item } from '../../../../../../plugins/format/canonical/conversation.ts';
import { refusalBy } from '../../../codec-fixture.ts';
import { calls, clientTool, decode, encode, picture, returns, says, text, thinks } from '../fixture.ts';

const hi = says('user', 'Hi');
const contentsOf = (items: readonly Item[], profile: ProfileSettings = {}) =>
  encode({ items }, profile).body['contents'] as { role: string; parts: JsonObject[] }[];
const modelParts = (...items: Item[]) => contentsOf([hi, ...items])[1]?.parts;
const configOf = (wanted: Partial<Conversation>, profile: ProfileSettings = {}) =>
  encode({ items: [hi], ...wanted }, profile).body['generationConfig'];
const ls = clientTool({ name: 'ls', description: 'Lists.', schema: { type: 'object', properties: { a: {} } } });
const cat = clientTool({ name: 'cat' });
const older: ProfileSettings = { quirks: { reasoning: 'budget', tool_result_images: false } };
const oldest: ProfileSettings = { quirks: { reasoning: 'none', tool_schema: 'subset', tool_result_images: false } };
const toolsOf = (wanted: Partial<Conversation>, profile: ProfileSettings = {}) => {
  const { body, notes } = encode({ items: [hi], ...wanted }, profile);
  return { tools: body['tools'], config: body['toolConfig'], notes };
};
const choiceOf = (toolChoice: Conversation['toolChoice'], profile: ProfileSettings = {}) =>
  (toolsOf({ tools: [ls, cat], toolChoice }, profile).config as JsonObject | undefined)?.['functionCallingConfig'];
const think = (effort: Effort | undefined, budget: number | undefined, profile: ProfileSettings, wantsText = false) =>
  (configOf({ reasoning: { effort, budget, wantsText } }, profile) as JsonObject | undefined)?.['thinkingConfig'];
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const output = { type: 'json_schema', name: 'n', description: undefined, schema, strict: true } as const;
const json = { responseMimeType: 'application/json' };
const file = (source: object): Item => ({
  type: 'message',
  role: 'user',
  parts: [{ type: 'file', source, name: undefined } as never],
});
const partOf = (source: object) => contentsOf([file(source)])[0]?.parts[0];

describe('encoding a dialogue as Gemini contents', () => {
  it('Gemini contents alternate between two sides, and a user begins', () => {
    expect(contentsOf([hi, says('user', 'there'), says('assistant', 'Hello'), hi])).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }, { text: 'there' }] },
      { role: 'model', parts: [{ text: 'Hello' }] },
      { role: 'user', parts: [{ text: 'Hi' }] },
    ]);
    expect(contentsOf([says('assistant', 'Hello')])[0]).toEqual({ role: 'user', parts: [{ text: 'Begin.' }] });
    expect(contentsOf([])).toHaveLength(1);
  });

  it('Gemini instructions are outside of the contents, late ones in their place', () => {
    const { body, notes } = encode({ instructions: ['A', 'B'], items: [hi, says('system', 'In French.')] });
    expect(body['systemInstruction']).toEqual({ parts: [{ text: 'A' }, { text: 'B' }] });
    expect(body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }, { text: expect.stringContaining('In French.') }] },
    ]);
    expect(notes).toEqual(['approximated late system message as user message']);
  });

  it('Gemini results follow their calls in order, with id and name', () => {
    const items = [
      hi,
      calls('a', 'ls', '{"p":1}'),
      calls('b', 'cat', ''),
      returns('b', []),
      returns('a', [text('x')], true),
    ];
    expect(contentsOf(items).slice(1)).toMatchObject([
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'a', name: 'ls', args: { p: 1 } } },
          { functionCall: { id: 'b', name: 'cat', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'ls', response: { error: 'x' } } },
          { functionResponse: { id: 'b', name: 'cat', response: { result: '' } } },
        ],
      },
    ]);
  });

  it('Gemini calls have no ids for models that do not know them', () => {
    const [, called, answered] = contentsOf([hi, calls('a', 'ls', ''), returns('a', [])], oldest);
    expect(called?.parts).toEqual([{ functionCall: { name: 'ls', args: {} } }]);
    expect(answered?.parts).toEqual([{ functionResponse: { name: 'ls', response: { result: '' } } }]);
  });

  it('a Gemini call has an object as input, also for malformed or freeform input', () => {
    const { body, notes } = encode({
      items: [hi, calls('a', 'ls', '{"p"'), calls('b', 'sh', 'ls -l', { form: 'freeform' })],
    });
    expect((body['contents'] as JsonObject[])[1]).toMatchObject({
      parts: [{ functionCall: { args: { _raw: '{"p"' } } }, { functionCall: { args: { input: 'ls -l' } } }],
    });
    expect(notes).toContain('approximated malformed input of a call');
  });

  it('images of results go into the Gemini result or next to it', () => {
    const items = [hi, calls('a', 'ls', ''), returns('a', [text('x'), picture]), says('user', 'So?')];
    const inlineData = { mimeType: 'image/png', data: 'iVBO' };
    expect(contentsOf(items)[2]?.parts).toEqual([
      { functionResponse: { id: 'a', name: 'ls', response: { result: 'x' }, parts: [{ inlineData }] } },
      { text: 'So?' },
    ]);
    expect(contentsOf(items, older)[2]?.parts).toEqual([
      { functionResponse: { id: 'a', name: 'ls', response: { result: 'x' } } },
      { inlineData },
      { text: 'So?' },
    ]);
  });

  it('files are sent to Gemini by URL, by upload, and as data', () => {
    expect(partOf({ type: 'url', url: 'https://a.example/b.PDF?x' })).toEqual({
      fileData: { mimeType: 'application/pdf', fileUri: 'https://a.example/b.PDF?x' },
    });
    expect(partOf({ type: 'id', id: 'gs://bucket/b', vendor: 'google' })).toEqual({
      fileData: { fileUri: 'gs://bucket/b' },
    });
    expect(partOf({ type: 'url', url: 'data:application/pdf;base64,JVBE' })).toEqual({
      inlineData: { mimeType: 'application/pdf', data: 'JVBE' },
    });
    expect(refusalBy(() => partOf({ type: 'id', id: 'file_1', vendor: 'anthropic' }))).toMatchObject({
      code: 'unsupported_content',
    });
  });

  it('media that the Gemini model does not support are refused', () => {
    const items: Item[] = [{ type: 'message', role: 'user', parts: [picture] }];
    expect(refusalBy(() => contentsOf(items, { capabilities: { images: false } }))).toMatchObject({
      code: 'unsupported_content',
    });
  });
});

describe('encoding reasoning of earlier turns as Gemini', () => {
  it('reasoning becomes the signature of the Gemini call that it led to', () => {
    expect(modelParts(thinks('Hm.', 'Eq'), calls('a', 'ls', ''), calls('b', 'cat', ''))).toMatchObject([
      { functionCall: { name: 'ls' }, thoughtSignature: 'Eq' },
      { functionCall: { name: 'cat' } },
    ]);
  });

  it('reasoning without a call becomes the signature of the Gemini text', () => {
    expect(modelParts(says('assistant', 'So.'), thinks('', 'Eq'))).toEqual([{ text: 'So.', thoughtSignature: 'Eq' }]);
    expect(modelParts(thinks('', 'Eq'))).toEqual([{ text: '', thoughtSignature: 'Eq' }]);
    expect(
      modelParts(says('assistant', 'So.'), thinks('', 'Eq'), thinks('', 'Fr'), calls('a', 'ls', '')),
    ).toMatchObject([
      { text: 'So.', thoughtSignature: 'Eq' },
      { functionCall: {}, thoughtSignature: 'Fr' },
    ]);
  });

  it('reasoning of another vendor is left out, and a first Gemini call has a placeholder signature', () => {
    const { body, notes } = encode({
      items: [hi, thinks('Hm.', 'Eq', 'foreign'), calls('a', 'ls', ''), calls('b', 'ls', '')],
    });
    expect(JSON.stringify(body)).not.toContain('Eq');
    const [, answer] = body['contents'] as { parts: JsonObject[] }[];
    expect(answer?.parts.map((part) => part['thoughtSignature'])).toEqual([
      'skip_thought_signature_validator',
      undefined,
    ]);
    expect(notes).toEqual(['dropped reasoning of earlier turns', 'approximated missing thought signatures']);
  });

  it('older Gemini models need no placeholder signature', () => {
    expect(contentsOf([hi, calls('a', 'ls', '')], older)[1]?.parts[0]).not.toHaveProperty('thoughtSignature');
  });
});

describe('encoding tools as Gemini', () => {
  it('Gemini functions have JSON Schema or the subset, as the model requires', () => {
    expect(toolsOf({ tools: [ls, cat] }).tools).toEqual([
      {
        functionDeclarations: [{ name: 'ls', description: 'Lists.', parametersJsonSchema: ls.schema }, { name: 'cat' }],
      },
    ]);
    expect(toolsOf({ tools: [ls] }, oldest).tools).toMatchObject([
      { functionDeclarations: [{ parameters: { type: 'object', properties: { a: { anyOf: [{}, {}, {}] } } } }] },
    ]);
    const empty = clientTool({ name: 'now', schema: { type: 'object', properties: {} } });
    expect(toolsOf({ tools: [empty] }, oldest).tools).toEqual([{ functionDeclarations: [{ name: 'now' }] }]);
  });

  it('rules that the Gemini subset lacks are noted, for tools and for the output format', () => {
    const numbered = { type: 'object', properties: { a: { enum: [1, 2] } } };
    const note = 'approximated enum in schemas as description';
    expect(toolsOf({ tools: [clientTool({ name: 'pick', schema: numbered })] }, oldest).notes).toEqual([note]);
    expect(encode({ items: [hi], output: { ...output, schema: numbered } }, oldest).notes).toEqual([note]);
  });

  it('freeform tools become Gemini functions of one string', () => {
    const sh = clientTool({ name: 'sh', form: 'freeform', grammar: { syntax: 'lark', definition: 'start: "a"' } });
    expect(toolsOf({ tools: [sh] })).toMatchObject({
      tools: [
        {
          functionDeclarations: [
            { description: expect.stringContaining('start: "a"'), parametersJsonSchema: { required: ['input'] } },
          ],
        },
      ],
      notes: ['approximated freeform tools as functions'],
    });
  });

  it('a web search is sent to Gemini only without functions', () => {
    const hosted: ProfileSettings = { quirks: { hosted_search: true } };
    expect(toolsOf({ tools: [{ form: 'web_search' }] }, hosted).tools).toEqual([{ googleSearch: {} }]);
    expect(toolsOf({ tools: [{ form: 'web_search' }, ls] }, hosted)).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'ls' }] }],
      notes: ['dropped web_search'],
    });
    expect(() => toolsOf({ tools: [{ form: 'web_search' }] })).toThrow('"web_search" are not supported by this model');
  });

  it.each<[Conversation['toolChoice'], JsonObject | undefined]>([
    [undefined, undefined],
    [{ type: 'auto' }, { mode: 'AUTO' }],
    [{ type: 'none' }, { mode: 'NONE' }],
    [{ type: 'required' }, { mode: 'ANY' }],
    [
      { type: 'required', allowed: ['ls'] },
      { mode: 'ANY', allowedFunctionNames: ['ls'] },
    ],
    [
      { type: 'tool', name: 'ls' },
      { mode: 'ANY', allowedFunctionNames: ['ls'] },
    ],
  ])('the tool choice %j is written for Gemini', (choice, written) => {
    expect(choiceOf(choice)).toEqual(written);
  });

  it('tools that may not be called are left out of a Gemini request if no call is required', () => {
    expect(toolsOf({ tools: [ls, cat], toolChoice: { type: 'auto', allowed: ['cat'] } }).tools).toEqual([
      { functionDeclarations: [{ name: 'cat' }] },
    ]);
  });

  it('tools are sent to Gemini only if the model supports them and can be forced', () => {
    expect(toolsOf({ tools: [ls] }, { capabilities: { tools: false } })).toEqual({
      tools: undefined,
      config: undefined,
      notes: ['dropped tools'],
    });
    expect(choiceOf({ type: 'required' }, { quirks: { forced_tools: false } })).toEqual({ mode: 'AUTO' });
  });

  it('tool names are adapted to those that Gemini allows', () => {
    const { body } = encode({
      items: [hi, calls('a', 'b c', '')],
      tools: [clientTool({ name: 'x', namespace: 'mcp' })],
    });
    expect(JSON.stringify(body)).toMatch(/"name":"mcp__x"/);
    expect(JSON.stringify(body)).toMatch(/"name":"b_c_[0-9a-f]{8}"/);
  });
});

describe('encoding the configuration of a Gemini request', () => {
  it('a Gemini request without settings has no configuration', () => {
    expect(configOf({})).toBe(undefined);
  });

  it('sampling, limits and stop sequences go into the Gemini configuration', () => {
    const wanted = {
      temperature: 1.5,
      topP: 0.5,
      topK: 4,
      seed: 7,
      maxOutputTokens: 9,
      stop: ['a', 'b'],
    };
    expect(configOf(wanted, { quirks: { stop: 1, max_output_tokens: 8 } })).toEqual({
      temperature: 1.5,
      topP: 0.5,
      topK: 4,
      seed: 7,
      maxOutputTokens: 8,
      stopSequences: ['a'],
    });
    expect(configOf(wanted, { quirks: { sampling: false, stop: 0 } })).toEqual({ seed: 7, maxOutputTokens: 9 });
  });

  it.each<[Effort | undefined, number | undefined, JsonObject]>([
    ['none', undefined, { thinkingLevel: 'MINIMAL' }],
    ['medium', undefined, { thinkingLevel: 'MEDIUM' }],
    ['max', undefined, { thinkingLevel: 'HIGH' }],
    [undefined, 2_000, { thinkingLevel: 'LOW' }],
    [undefined, undefined, {}],
  ])('effort %s and budget %s are requested from Gemini by level', (effort, budget, written) => {
    expect(think(effort, budget, {})).toEqual(written);
  });

  it.each<[Effort | undefined, number | undefined, number]>([
    ['none', undefined, 0],
    ['medium', undefined, 8_192],
    ['max', undefined, 24_576],
    [undefined, 2_000, 2_000],
    [undefined, undefined, -1],
  ])('effort %s and budget %s are requested from Gemini by budget', (effort, budget, thinkingBudget) => {
    expect(think(effort, budget, older)).toEqual({ thinkingBudget });
  });

  it('the text of Gemini thoughts is requested when the client wants it', () => {
    expect(think('high', undefined, {}, true)).toEqual({ thinkingLevel: 'HIGH', includeThoughts: true });
    expect(think('high', undefined, oldest, true)).toBe(undefined);
  });

  it('a Gemini thinking level is one that the model knows', () => {
    expect(think('minimal', undefined, { quirks: { efforts: ['low', 'high'] } })).toEqual({ thinkingLevel: 'LOW' });
  });

  it('JSON output is requested in the Gemini configuration', () => {
    expect(configOf({ output: { type: 'json_object' } })).toEqual(json);
    expect(configOf({ output })).toEqual({ ...json, responseJsonSchema: schema });
    expect(configOf({ output }, oldest)).toEqual({ ...json, responseSchema: schema });
  });

  it('JSON output is requested by an instruction if Gemini refuses it together with functions', () => {
    const { body, notes } = encode({ items: [hi], output, tools: [ls] }, older);
    expect(body['generationConfig']).toBe(undefined);
    expect(JSON.stringify(body['systemInstruction'])).toContain('JSON Schema');
    expect(notes).toContain('approximated json_schema as instruction');
    expect(configOf({ output, tools: [ls] })).toHaveProperty('responseJsonSchema');
  });

  it('settings that Gemini cannot express are noted', () => {
    const wanted = { user: 'u', verbosity: 'low', cacheKey: 'k', serviceTier: 'auto', metadata: { team: 'a' } };
    expect(encode({ items: [hi], ...wanted }).notes).toEqual([
      'dropped user',
      'dropped verbosity',
      'dropped prompt_cache_key',
      'dropped service_tier',
      'dropped metadata',
    ]);
  });

  it('a derived cache key is dropped from a Gemini request without a note', () => {
    expect(encode({ items: [hi], cacheKey: 'session', isCacheKeyImplied: true }).notes).toEqual([]);
  });

  it('a Gemini request for several answers is refused', () => {
    expect(refusalBy(() => encode({ candidates: 2 }))).toMatchObject({
      code: 'not_supported',
      details: { param: 'n' },
    });
  });
});

describe('decoding and encoding a Gemini request', () => {
  it('a Gemini request that is decoded and encoded again has the same meaning', () => {
    const body: JsonObject = {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }, { inlineData: { mimeType: 'image/png', data: 'iVBO' } }] },
        {
          role: 'model',
          parts: [{ text: 'Let me see.' }, { functionCall: { id: 'a', name: 'ls', args: { p: [1] } } }],
        },
        { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'ls', response: { result: 'x' } } }] },
      ],
      tools: [
        { functionDeclarations: [{ name: 'ls', description: 'Lists.', parametersJsonSchema: { type: 'object' } }] },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      generationConfig: {
        temperature: 1,
        stopSequences: ['END'],
        thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true },
      },
    };
    const written = encode(decode(body).conversation).body;
    const [, answer] = written['contents'] as { parts: JsonObject[] }[];
    delete answer?.parts[1]?.['thoughtSignature'];
    expect(written).toEqual(body);
  });
});
