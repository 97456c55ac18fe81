import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { Notes } from '../../../../../../plugins/format/canonical/notes.ts';
import { geminiCodec } from '../../../../../../plugins/format/formats/gemini/codec.ts';
import { missingSignatureMark } from '../../../../../../plugins/format/formats/gemini/request/thought-signature.ts';
import { descriptors } from '../../../../../support/formats.ts';
import { runs } from '../../../../../support/runs.ts';
import { decode, hello, model, refusal, madeBy, text, user } from '../fixture.ts';

const itemsOf = (...contents: JsonObject[]) => decode({ contents }).conversation.items;
const partsOf = (...parts: JsonValue[]) => {
  const [item] = itemsOf(user(...parts));
  return item !== undefined && 'parts' in item ? item.parts : [];
};
const configured = (generationConfig: JsonObject) => decode({ generationConfig });
const declares = (...functionDeclarations: JsonObject[]): JsonObject => ({ tools: [{ functionDeclarations }] });
const choosing = (functionCallingConfig: JsonObject) =>
  decode({ ...declares({ name: 'ls' }, { name: 'cat' }), toolConfig: { functionCallingConfig } });
const calling = (functionCall: JsonObject, more: JsonObject = {}) => model({ functionCall, ...more });
const answering = (functionResponse: JsonObject) => user({ functionResponse });
const resultOf = (response: JsonObject, more: JsonObject = {}) =>
  itemsOf(hello, calling({ name: 'ls' }), answering({ name: 'ls', response, ...more }))[2];
/** Calls and results with their ids, in their order. */
const idsOf = (...contents: JsonObject[]) =>
  itemsOf(...contents).flatMap((item) => ('id' in item ? [`${item.type} ${item.id}`] : []));

describe('decoding instructions of a Gemini request', () => {
  it.each<[JsonValue]>([
    [{ parts: [{ text: 'A' }, { text: 'B' }] }],
    [{ role: 'system', parts: [{ text: 'A' }, { text: '' }, { text: 'B' }] }],
  ])('Gemini instructions are the parts of a content: %j', (systemInstruction) => {
    expect(decode({ systemInstruction }).conversation.instructions).toEqual(['A', 'B']);
  });

  it('Gemini instructions may be a string, or one part in place of a list', () => {
    expect(decode({ systemInstruction: 'A' }).conversation.instructions).toEqual(['A']);
    expect(decode({ system_instruction: { parts: { text: 'A' } } }).conversation.instructions).toEqual(['A']);
  });
});

describe('decoding the dialogue of a Gemini request', () => {
  it('a Gemini content without a role belongs to the user', () => {
    expect(itemsOf({ parts: [{ text: 'Hi' }] }, model({ text: 'Hello' }))).toEqual([
      { type: 'message', role: 'user', parts: [text('Hi')] },
      { type: 'message', role: 'assistant', parts: [text('Hello')] },
    ]);
  });

  it('images, documents, audio and video of a Gemini request are decoded', () => {
    expect(
      partsOf(
        { inlineData: { mimeType: 'image/png', data: 'iV\nBO' } },
        { inline_data: { mime_type: 'application/pdf', data: 'JVBE', display_name: 'Report' } },
        { inlineData: { mimeType: 'audio/mpeg', data: 'SUQz' } },
        { fileData: { mimeType: 'image/png', fileUri: 'https://a.example/b.png' } },
        { fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/clip' } },
        { file_data: { file_uri: 'https://generativelanguage.googleapis.com/v1beta/files/f1' } },
      ),
    ).toEqual([
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'iVBO' }, detail: undefined },
      { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBE' }, name: 'Report' },
      { type: 'audio', data: 'SUQz', format: 'mp3' },
      { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' }, detail: undefined },
      { type: 'video', source: { type: 'id', id: 'gs://bucket/clip', vendor: 'google' } },
      {
        type: 'file',
        source: { type: 'id', id: 'https://generativelanguage.googleapis.com/v1beta/files/f1', vendor: 'google' },
        name: undefined,
      },
    ]);
  });

  it('Gemini contents of one side, as clients keep the chunks of a stream, become one answer', () => {
    const thoughtSignature = madeBy('4fa61b0c', 'Eq');
    const chunks = [
      { text: 'H', thought: true },
      { text: 'm.', thought: true },
      { text: 'Grü', thoughtSignature },
      { text: 'ße' },
    ];
    expect(itemsOf(hello, ...chunks.map((chunk) => model(chunk)), hello).slice(1, -1)).toEqual([
      { type: 'reasoning', text: 'Hm.', state: { kind: 'thought', origin: '4fa61b0c', data: 'Eq' } },
      { type: 'message', role: 'assistant', parts: [text('Grüße')] },
    ]);
  });

  it('code that Google has run is dropped from a Gemini request, and noted', () => {
    const { conversation, notes } = decode({
      contents: [hello, model({ executableCode: { code: '1' } }, { text: 'Found.' }, {})],
    });
    expect(conversation.items).toHaveLength(2);
    expect(notes).toEqual(['dropped executableCode']);
  });

  it.each(['hologram', 'executableCode'])('a Gemini request is refused if its last content has only %s', (name) => {
    const { code, details, message } = refusal({ contents: [hello, user({ [name]: {} })] });
    expect([code, details.param]).toEqual(['unsupported_content', 'contents[1].parts[0]']);
    expect(message).toContain(name);
  });
});

describe('decoding calls and results of a Gemini request', () => {
  it('Gemini results are matched to calls by their ids', () => {
    const items = itemsOf(
      hello,
      calling({ id: 'a', name: 'ls', args: { path: '/' } }),
      answering({ id: 'a', name: 'ls', response: { output: 'x' } }),
    );
    expect(items.slice(1)).toEqual([
      { type: 'tool_call', id: 'a', name: 'ls', namespace: undefined, form: 'function', input: '{"path":"/"}' },
      { type: 'tool_result', id: 'a', parts: [text('x')], isError: false },
    ]);
  });

  it('Gemini results without ids are matched by name and order, the same in every turn', () => {
    const turn = [
      hello,
      model({ functionCall: { name: 'ls' } }, { functionCall: { name: 'cat' } }, { functionCall: { name: 'ls' } }),
      user(
        { functionResponse: { name: 'cat', response: { output: 'c' } } },
        { functionResponse: { name: 'ls', response: { output: 'l1' } } },
        { functionResponse: { name: 'ls', response: { output: 'l2' } } },
      ),
    ];
    expect(idsOf(...turn)).toEqual([
      'tool_call call_0_ls',
      'tool_call call_1_cat',
      'tool_call call_2_ls',
      'tool_result call_1_cat',
      'tool_result call_0_ls',
      'tool_result call_2_ls',
    ]);
    expect(idsOf(...turn, model({ text: 'So.' }), hello).slice(0, 6)).toEqual(idsOf(...turn));
  });

  it('a Gemini result without a call is kept', () => {
    expect(itemsOf(answering({ id: 'z', name: 'ls', response: {} }))).toMatchObject([{ type: 'tool_result', id: 'z' }]);
  });

  it.each<[JsonObject, string, boolean]>([
    [{ output: 'ok' }, 'ok', false],
    [{ result: { a: 1 } }, '{"a":1}', false],
    [{ error: 'broken' }, 'broken', true],
    [{ error: { code: 5 } }, '{"code":5}', true],
    [{ error: 'x', output: 'y' }, '{"error":"x","output":"y"}', false],
    [{ temperature: 5 }, '{"temperature":5}', false],
    [{ name: 'ls', content: 'ok' }, 'ok', false],
    [{ name: 'Ada', content: 'ok' }, '{"name":"Ada","content":"ok"}', false],
  ])('the Gemini result %j is decoded as text', (response, said, isError) => {
    expect(resultOf(response)).toMatchObject({ parts: [text(said)], isError });
  });

  it('a Gemini result may be empty, and may have images', () => {
    expect(resultOf({})).toMatchObject({ parts: [], isError: false });
    expect(
      resultOf({ output: 'a' }, { parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBO' } }] }),
    ).toMatchObject({ parts: [text('a'), { type: 'image' }] });
  });
});

describe('decoding thoughts of a Gemini request', () => {
  const state = { kind: 'thought', origin: '4fa61b0c', data: 'Eq' };

  it('a Gemini signature belongs to the thoughts before its part', () => {
    const thoughtSignature = madeBy('4fa61b0c', 'Eq');
    const items = itemsOf(
      hello,
      model({ text: 'Hm.', thought: true }, { functionCall: { name: 'ls' }, thoughtSignature }),
      model({ text: 'So.', thought_signature: thoughtSignature }),
    );
    expect(items.slice(1)).toEqual([
      { type: 'reasoning', text: 'Hm.', state },
      expect.objectContaining({ type: 'tool_call' }),
      { type: 'reasoning', text: '', state },
      { type: 'message', role: 'assistant', parts: [text('So.')] },
    ]);
  });

  it('a Gemini signature in base64url is accepted', () => {
    const thoughtSignature = Buffer.from('dps1t4fa61b0c.??>>').toString('base64url');
    expect(itemsOf(hello, model({ functionCall: { name: 'ls' }, thoughtSignature }))[1]).toMatchObject({
      state: { data: '??>>' },
    });
  });

  it('a Gemini signature without our tag is dropped', () => {
    const { conversation, notes } = decode({
      contents: [
        hello,
        model({ text: 'Hm.', thought: true, thoughtSignature: 'Zm9v' }, { text: 'So.', thoughtSignature: 'YmFy' }),
      ],
    });
    expect(conversation.items.slice(1)).toEqual([
      { type: 'reasoning', text: 'Hm.', state: undefined },
      { type: 'message', role: 'assistant', parts: [text('So.')] },
    ]);
    expect(notes).toEqual(['dropped thoughtSignature of unknown origin']);
  });

  it('a placeholder for a missing Gemini signature is not noted as lost', () => {
    for (const thoughtSignature of ['skip_thought_signature_validator', missingSignatureMark]) {
      const { conversation, notes } = decode({ contents: [hello, calling({ name: 'ls' }, { thoughtSignature })] });
      expect(conversation.items.map(({ type }) => type)).toEqual(['message', 'tool_call']);
      expect(notes).toEqual([]);
    }
  });
});

it('a Gemini call that was to continue is noted', () => {
  const contents = [hello, calling({ name: 'ls', willContinue: true }), answering({ name: 'ls', response: {} })];
  expect(decode({ contents }).notes).toEqual(['dropped willContinue of a function call']);
});

describe('decoding tools of a Gemini request', () => {
  it('Gemini tools may be one object', () => {
    const { tools } = decode({ tools: { function_declarations: [{ name: 'a' }] } }).conversation;
    expect(tools).toMatchObject([{ form: 'function', name: 'a' }]);
  });

  it('Gemini contents may be one object', () => {
    const { conversation } = decode({ contents: { parts: { text: 'Hi' } } });
    expect(conversation.items).toMatchObject([{ type: 'message', role: 'user', parts: [{ text: 'Hi' }] }]);
  });

  it('what Gemini functions return, and when, has no place elsewhere, and a note', () => {
    expect(decode(declares({ name: 'a', responseJsonSchema: { type: 'object' } })).notes).toEqual([
      'dropped responseJsonSchema of a function',
    ]);
    expect(decode(declares({ name: 'a', response: { type: 'OBJECT' } })).notes).toEqual([
      'dropped response of a function',
    ]);
    const result = { name: 'ls', response: { output: 'a' }, scheduling: 'SILENT', willContinue: true };
    expect(decode({ contents: [hello, calling({ name: 'ls' }), answering(result)] }).notes).toEqual([
      'dropped scheduling of a function response',
      'dropped willContinue of a function response',
    ]);
  });

  it('members of a Gemini schema stand in the order that it names', () => {
    const parameters = {
      type: 'OBJECT',
      properties: { b: { type: 'STRING' }, a: { type: 'STRING' }, c: { type: 'STRING' } },
      property_ordering: ['a', 'b', 'gone'],
    };
    const [tool] = decode(declares({ name: 't', parameters })).conversation.tools;
    const schema = tool !== undefined && 'schema' in tool ? tool.schema : undefined;
    expect(Object.keys(schema?.['properties'] ?? {})).toEqual(['a', 'b', 'c']);
    expect(schema).not.toHaveProperty('propertyOrdering');
  });

  it('Gemini functions are decoded with parameters in either kind of schema', () => {
    const own = {
      type: 'OBJECT',
      properties: {
        type: { type: 'STRING', nullable: true, enum: ['a'], format: 'enum' },
        many: { type: 'ARRAY', items: { type: 'INTEGER' }, min_items: '2' },
      },
      required: ['type'],
      propertyOrdering: ['type', 'many'],
    };
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const { tools } = decode(
      declares({ name: 'own', description: 'D', parameters: own }, { name: 'other', parameters_json_schema: schema }),
    ).conversation;
    expect(tools).toMatchObject([
      { form: 'function', name: 'own', description: 'D' },
      { name: 'other', schema },
    ]);
    expect(tools[0]).toHaveProperty('schema', {
      type: 'object',
      properties: {
        type: { type: ['string', 'null'], enum: ['a', null] },
        many: { type: 'array', items: { type: 'integer' }, minItems: 2 },
      },
      required: ['type'],
    });
  });

  it('of two Gemini functions with one name, the first counts', () => {
    const twice = declares({ name: 'a', description: '1' }, { name: 'a', description: '2' });
    expect(decode(twice).conversation.tools).toMatchObject([{ description: '1' }]);
  });

  it('Gemini search tools become a web search, and other tools of Google are left out', () => {
    expect(
      decode({ tools: [{ googleSearch: {} }, { google_search_retrieval: {} }, { urlContext: {} }] }),
    ).toMatchObject({
      conversation: { tools: [{ form: 'web_search' }] },
      notes: ['dropped tool urlContext'],
    });
  });

  it.each<[JsonObject, JsonValue]>([
    [{ mode: 'AUTO' }, { type: 'auto' }],
    [
      { mode: 'auto', allowedFunctionNames: ['ls'] },
      { type: 'auto', allowed: ['ls'] },
    ],
    [{ mode: 'NONE' }, { type: 'none' }],
    [{ mode: 'ANY' }, { type: 'required' }],
    [
      { mode: 'ANY', allowed_function_names: ['ls'] },
      { type: 'tool', name: 'ls' },
    ],
    [
      { mode: 'ANY', allowedFunctionNames: ['ls', 'cat'] },
      { type: 'required', allowed: ['ls', 'cat'] },
    ],
    [{ mode: 'VALIDATED' }, { type: 'auto' }],
  ])('the Gemini tool configuration %j is decoded', (config, toolChoice) => {
    expect(choosing(config).conversation.toolChoice).toEqual(toolChoice);
  });

  it('a Gemini request without a tool choice is decoded without one', () => {
    expect(choosing({}).conversation.toolChoice).toBe(undefined);
    expect(choosing({ mode: 'MODE_UNSPECIFIED' }).conversation.toolChoice).toBe(undefined);
  });
});

describe('decoding the configuration of a Gemini request', () => {
  it('of two spellings in the Gemini configuration, the documented one counts in any order', () => {
    for (const config of [
      { topP: 0.5, top_p: 7 },
      { top_p: 7, topP: 0.5 },
    ]) {
      const { conversation, notes } = configured(config);
      expect([conversation.topP, notes]).toEqual([0.5, []]);
    }
  });

  it('members of the Gemini configuration are read in camelCase and snake_case', () => {
    const wanted = {
      temperature: 1.5,
      topP: 0.5,
      topK: 40,
      seed: -1,
      presencePenalty: 1,
      frequencyPenalty: -1,
      maxOutputTokens: 9,
      stop: ['END'],
    };
    const camel = { temperature: 1.5, topP: 0.5, topK: 40, seed: -1, presencePenalty: 1, frequencyPenalty: -1 };
    const snake = { temperature: 1.5, top_p: 0.5, top_k: 40, seed: -1, presence_penalty: 1, frequency_penalty: -1 };
    expect(configured({ ...camel, maxOutputTokens: 9, stopSequences: ['END', ''] }).conversation).toMatchObject(wanted);
    expect(
      decode({ generation_config: { ...snake, max_output_tokens: 9, stop_sequences: ['END'] } }).conversation,
    ).toMatchObject(wanted);
  });

  it.each<[JsonObject, JsonValue]>([
    [
      { thinkingBudget: 5_000, includeThoughts: true },
      { effort: undefined, budget: 5_000, wantsText: true },
    ],
    [{ thinkingBudget: -1 }, { effort: undefined, budget: undefined, wantsText: false }],
    [
      { thinkingBudget: 0, includeThoughts: true },
      { effort: 'none', budget: undefined, wantsText: false },
    ],
    [{ thinking_level: 'high' }, { effort: 'high', budget: undefined, wantsText: false }],
    [{ thinkingLevel: 'MINIMAL' }, { effort: 'minimal', budget: undefined, wantsText: false }],
  ])('reasoning is requested by the Gemini thinking configuration %j', (thinkingConfig, reasoning) => {
    expect(configured({ thinkingConfig }).conversation.reasoning).toEqual(reasoning);
  });

  it('a Gemini request may ask for any JSON, or for JSON of a schema', () => {
    const json = { responseMimeType: 'application/json' };
    const schema = { type: 'object', properties: {} };
    expect(configured(json).conversation.output).toEqual({ type: 'json_object' });
    for (const own of [{ responseSchema: { type: 'OBJECT', properties: {} } }, { responseJsonSchema: schema }]) {
      expect(configured({ ...json, ...own }).conversation.output).toMatchObject({ type: 'json_schema', schema });
    }
    expect(configured({ responseMimeType: 'text/plain' }).conversation.output).toBe(undefined);
  });

  it('Gemini members without a place in a conversation are noted', () => {
    const { notes } = decode({
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }],
      labels: {},
      toolConfig: { retrievalConfig: { languageCode: 'en' } },
      generationConfig: { responseModalities: ['TEXT', 'AUDIO'], speechConfig: {}, responseMimeType: 'text/html' },
    });
    expect(notes.toSorted()).toEqual([
      'approximated responseMimeType as text',
      'dropped generationConfig.responseModalities',
      'dropped generationConfig.speechConfig',
      'dropped labels',
      'dropped safetySettings',
      'dropped toolConfig.retrievalConfig',
    ]);
  });
});

describe('refusing a Gemini request', () => {
  it.each<[string, JsonObject]>([
    ['contents', { contents: 'Hi' }],
    ['contents', { contents: [] }],
    ['contents[0]', { contents: ['Hi'] }],
    ['contents[0].role', { contents: [{ role: 'system', parts: [] }] }],
    ['contents[0].parts', { contents: [{ role: 'user', parts: 'Hi' }] }],
    ['contents[0].parts[0]', { contents: [user('Hi')] }],
    ['contents[0].parts[0].text', { contents: [user({ text: 1 })] }],
    ['contents[0].parts[0].inlineData', { contents: [user({ inlineData: 'x' })] }],
    ['contents[0].parts[0].inlineData.mimeType', { contents: [user({ inlineData: { data: 'x' } })] }],
    ['contents[0].parts[0].inlineData.data', { contents: [user({ inlineData: { mimeType: 'image/png' } })] }],
    ['contents[0].parts[0].fileData.fileUri', { contents: [user({ fileData: {} })] }],
    ['contents[0].parts[0].functionCall.name', { contents: [calling({})] }],
    ['contents[0].parts[0].functionCall.args', { contents: [calling({ name: 'a', args: 'b' })] }],
    ['contents[0].parts[0].functionResponse.name', { contents: [answering({ response: {} })] }],
    ['contents[0].parts[0].functionResponse.response', { contents: [answering({ name: 'a', response: 'b' })] }],
    ['contents[0].parts[0].thoughtSignature', { contents: [user({ text: 'a', thoughtSignature: 1 })] }],
    ['systemInstruction', { systemInstruction: 1 }],
    ['systemInstruction.parts[0].text', { systemInstruction: { parts: [{ text: 1 }] } }],
    ['tools', { tools: 'a' }],
    ['tools[0]', { tools: ['a'] }],
    ['tools[0].functionDeclarations[0].name', declares({})],
    ['tools[0].functionDeclarations[0].parameters', declares({ name: 'a', parameters: 'b' })],
    ['toolConfig', { toolConfig: 'a' }],
    ['toolConfig.functionCallingConfig.mode', { toolConfig: { functionCallingConfig: { mode: 'ALL' } } }],
    [
      'toolConfig.functionCallingConfig.allowedFunctionNames[0]',
      { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a'] } } },
    ],
    ['generationConfig', { generationConfig: 'a' }],
    ['generationConfig.temperature', { generationConfig: { temperature: 2.1 } }],
    ['generationConfig.topK', { generationConfig: { topK: 'a' } }],
    ['generationConfig.maxOutputTokens', { generationConfig: { maxOutputTokens: 0 } }],
    ['generationConfig.stopSequences[0]', { generationConfig: { stopSequences: [1] } }],
    ['generationConfig.candidateCount', { generationConfig: { candidateCount: 0 } }],
    ['generationConfig.responseSchema', { generationConfig: { responseSchema: 'a' } }],
    ['generationConfig.thinkingConfig.thinkingLevel', { generationConfig: { thinkingConfig: { thinkingLevel: 'x' } } }],
    [
      'generationConfig.thinkingConfig.thinkingBudget',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW', thinkingBudget: 5 } } },
    ],
  ])('a Gemini request with a mistake at %s is refused by that path', (param, body) => {
    expect(refusal(body)).toMatchObject({ code: 'invalid_request', details: { param } });
  });

  it('a Gemini request that depends on data that only Google has is refused', () => {
    expect(refusal({ cachedContent: 'cachedContents/1' })).toMatchObject({
      code: 'not_supported',
      details: { param: 'cachedContent' },
    });
  });
});

/** Bodies that are nearly right: what a client may get wrong is in any place. */
const anything = fc.jsonValue({ maxDepth: 2 });
const near = (...names: string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, fc.oneof(fc.string(), anything)])), { requiredKeys: [] });
const functionCall = near('id', 'name', 'args');
const functionResponse = near('id', 'name', 'response', 'parts');
const inlineData = near('mimeType', 'mime_type', 'data');
const part = fc.record(
  {
    text: fc.oneof(fc.string(), anything),
    thought: fc.oneof(fc.boolean(), anything),
    thoughtSignature: fc.oneof(fc.string(), anything),
    functionCall: fc.oneof(functionCall, anything),
    function_response: fc.oneof(functionResponse, anything),
    inlineData: fc.oneof(inlineData, anything),
  },
  { requiredKeys: [] },
);
const content = fc.record(
  {
    role: fc.oneof(fc.constantFrom('user', 'model'), anything),
    parts: fc.oneof(fc.array(fc.oneof(part, anything)), anything),
  },
  { requiredKeys: [] },
);
const declaration = fc.oneof(near('name', 'description', 'parameters', 'parametersJsonSchema'), anything);
const body = fc.record(
  {
    contents: fc.oneof(fc.array(content, { minLength: 1 }), anything),
    systemInstruction: fc.oneof(content, anything),
    tools: fc.oneof(fc.array(fc.record({ functionDeclarations: fc.array(declaration) })), anything),
    toolConfig: fc.oneof(fc.record({ functionCallingConfig: near('mode', 'allowedFunctionNames') }), anything),
    generationConfig: fc.oneof(near('temperature', 'stopSequences', 'thinkingConfig', 'responseSchema'), anything),
    cachedContent: anything,
  },
  { requiredKeys: ['contents'] },
);

describe('decoding arbitrary Gemini requests', () => {
  it('any Gemini body is decoded, or refused with a path', () => {
    fc.assert(
      fc.property(fc.oneof(body, fc.dictionary(fc.string(), anything)), (value) => {
        try {
          geminiCodec.decodeRequest(value as JsonObject, new Notes());
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          expect((error as GatewayError).status(descriptors.gemini)).toBeLessThan(502);
          expect((error as GatewayError).details.param).toBeTypeOf('string');
        }
      }),
      runs(200),
    );
  });
});
