import { describe, expect, it } from 'vitest';
import { compileGlob } from '#core/config/catalog/glob.ts';
import { mergeProfiles, profileIn, type Profile } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { chat } from '../../../../plugins/format/formats/chat/descriptor.ts';
import type { ClientTextFormat } from '../../../../plugins/format/formats/contract/descriptor.ts';
import { gemini } from '../../../../plugins/format/formats/gemini/descriptor.ts';
import { messages } from '../../../../plugins/format/formats/messages/descriptor.ts';
import { responses } from '../../../../plugins/format/formats/responses/descriptor.ts';
import { encodeForRoute } from '../../../../plugins/format/routes/translation/encode-for-route.ts';
import { vendors } from '../../../../plugins/upstream/vendors.ts';

const formats = { chat, responses, messages, gemini };
type Name = keyof typeof formats;

/** The profile of a model at a vendor. */
function profileOf(vendorName: string, model: string, format: Name): Profile {
  const vendor = vendors.find(({ name }) => name === vendorName);
  if (vendor === undefined) throw new Error(vendorName);
  const matching = (vendor.models ?? []).filter(({ match }) => compileGlob(match)(model));
  return profileIn(format, mergeProfiles(vendor, ...matching));
}

const hi = { role: 'user', content: 'Hi' };
const asked: Readonly<Record<Name, (schema: JsonObject, strict?: boolean) => JsonObject>> = {
  chat: (schema, strict = true) => ({
    messages: [hi],
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict } },
  }),
  responses: (schema, strict = true) => ({
    input: 'Hi',
    text: { format: { type: 'json_schema', name: 'n', schema, strict } },
  }),
  messages: (schema) => ({
    messages: [hi],
    max_tokens: 90,
    output_config: { format: { type: 'json_schema', schema } },
  }),
  gemini: (schema) => ({
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
  }),
};
const tooled: Readonly<Record<Name, (schema: JsonObject, strict?: boolean) => JsonObject>> = {
  chat: (parameters, strict) => ({
    messages: [hi],
    tools: [{ type: 'function', function: { name: 't', parameters, ...(strict !== undefined && { strict }) } }],
  }),
  responses: (parameters, strict = false) => ({
    input: 'Hi',
    tools: [{ type: 'function', name: 't', parameters, strict }],
  }),
  messages: (input_schema, strict) => ({
    messages: [hi],
    max_tokens: 90,
    tools: [{ name: 't', input_schema, ...(strict !== undefined && { strict }) }],
  }),
  gemini: (parametersJsonSchema) => ({
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    tools: [{ functionDeclarations: [{ name: 't', parametersJsonSchema }] }],
  }),
};

function sent(body: JsonObject, from: Name, [vendor, model, to]: readonly [string, string, Name]) {
  const notes = new Notes();
  const source: ClientTextFormat = formats[from];
  const target: ClientTextFormat = formats[to];
  const conversation = source.client.text.decodeRequest(body, notes);
  const names = new ToolNames(conversation, target.text.toolNames);
  const profile = profileOf(vendor, model, to);
  const written = encodeForRoute(target, conversation, { model, profile, isStream: false, names, notes }, '0a1b2c3d');
  return { body: JSON.parse(JSON.stringify(written)) as JsonObject, notes: notes.entries };
}

const claude = ['anthropic', 'claude-sonnet-5', 'messages'] as const;
const openai = ['openai', 'gpt-5', 'responses'] as const;
const azure = ['azure-openai', 'gpt-5', 'chat'] as const;
const numbered = {
  type: 'object',
  properties: { age: { type: 'integer', minimum: 1 } },
  required: ['age'],
  additionalProperties: false,
};
const described = { ...numbered, properties: { age: { type: 'integer', description: '{minimum: 1}' } } };
const note = 'approximated minimum in schemas as description';

describe('schemas of structured output at a vendor with a subset', () => {
  it.each<[Name, readonly [string, string, Name]]>([
    ['chat', claude],
    ['responses', claude],
    ['gemini', claude],
    ['chat', ['vertex-anthropic', 'claude-opus-5', 'messages']],
    ['chat', ['bedrock-anthropic', 'us.anthropic.claude-opus-5', 'messages']],
  ])('a schema from %s reaches Claude at %j without the keywords that it refuses', (from, to) => {
    const { body, notes } = sent(asked[from](numbered), from, to);
    expect(body).toMatchObject({ output_config: { format: { schema: described } } });
    expect(notes).toContain(note);
  });

  it('a schema from Messages reaches Claude at OpenRouter without the keywords that it refuses', () => {
    const { body, notes } = sent(asked.messages(numbered), 'messages', [
      'openrouter',
      'anthropic/claude-opus-5',
      'chat',
    ]);
    expect(body).toMatchObject({ response_format: { json_schema: { schema: described } } });
    expect(notes).toContain(note);
  });

  it('a schema that contains itself, or that is empty, becomes an instruction at Claude', () => {
    for (const schema of [{ type: 'object', properties: { next: { $ref: '#' } } }, {}]) {
      const { body, notes } = sent(asked.chat(schema), 'chat', claude);
      expect(body).not.toHaveProperty('output_config');
      expect(JSON.stringify(body['system'])).toContain(JSON.stringify(JSON.stringify(schema)).slice(1, -1));
      expect(notes).toContain('approximated json_schema as instruction');
    }
  });

  it.each<[Name, readonly [string, string, Name], string]>([
    ['messages', openai, 'text.format'],
    ['gemini', openai, 'text.format'],
    ['messages', azure, 'response_format.json_schema'],
    ['gemini', azure, 'response_format.json_schema'],
    ['messages', ['groq', 'openai/gpt-oss-120b', 'chat'], 'response_format.json_schema'],
    ['gemini', ['cerebras', 'gpt-oss-120b', 'chat'], 'response_format.json_schema'],
  ])('what %s always enforces is strict at %j, if it fits', (from, to, path) => {
    const { body, notes } = sent(asked[from](numbered), from, to);
    expect(body).toHaveProperty(`${path}.strict`, true);
    expect(body).toHaveProperty(`${path}.schema`, numbered);
    expect(notes).toEqual([]);
  });

  it('an object that says nothing of other members is closed to be strict', () => {
    const { additionalProperties: _, ...open } = numbered;
    const { body, notes } = sent(asked.gemini(open), 'gemini', openai);
    expect(body).toMatchObject({ text: { format: { schema: numbered, strict: true } } });
    expect(notes).toEqual(['approximated additionalProperties as false']);
  });

  it.each<[string, JsonObject]>([
    ['an optional member', { ...numbered, required: [] }],
    ['other members', { ...numbered, additionalProperties: true }],
  ])('a schema with %s is no more than a hint at OpenAI, which a note says', (_what, schema) => {
    const { body, notes } = sent(asked.messages(schema), 'messages', openai);
    expect(body).toMatchObject({ text: { format: { schema, strict: false } } });
    expect(notes).toEqual(['approximated json_schema as a hint']);
  });

  it('a list becomes an instruction where the outermost schema must be an object', () => {
    const { body, notes } = sent(asked.messages({ type: 'array', items: numbered }), 'messages', openai);
    expect(body).not.toHaveProperty('text');
    expect(notes).toEqual(['approximated json_schema as instruction']);
  });

  it('a client of an OpenAI format keeps its choice, and its schema where nothing is enforced', () => {
    const unique = { type: 'object', properties: { a: { type: 'array', items: {}, uniqueItems: true } } };
    const { body, notes } = sent(asked.chat(unique, false), 'chat', openai);
    expect(body).toMatchObject({ text: { format: { schema: unique, strict: false } } });
    expect(notes).toEqual([]);
    expect(sent(asked.chat(unique, true), 'chat', openai)).toMatchObject({
      body: {
        text: { format: { strict: true, schema: { properties: { a: { description: '{uniqueItems: true}' } } } } },
      },
      notes: ['approximated any value in schemas as plain ones', 'approximated uniqueItems in schemas as description'],
    });
  });

  it('a server that an operator runs gets the schema of a client of Chat as it is', () => {
    const served = sent(asked.chat(numbered), 'chat', ['vllm', 'qwen3', 'messages']);
    expect(served.body).toMatchObject({ output_config: { format: { schema: numbered } } });
    const { body } = sent(asked.chat(numbered), 'chat', ['vllm', 'qwen3', 'responses']);
    expect(body).toMatchObject({ text: { format: { schema: numbered, strict: true } } });
  });
});

describe('schemas of tools at a vendor with a subset', () => {
  it.each<Name>(['chat', 'responses'])(
    'a strict tool of %s reaches Claude without the keywords that it refuses',
    (from) => {
      const { body, notes } = sent(tooled[from](numbered, true), from, claude);
      expect(body).toMatchObject({ tools: [{ input_schema: described, strict: true }] });
      expect(notes).toContain(note);
    },
  );

  it('a tool that is not strict keeps all of its keywords', () => {
    for (const to of [claude, openai, azure]) {
      const { body, notes } = sent(tooled.gemini(numbered), 'gemini', to);
      expect(JSON.stringify(body)).toContain(JSON.stringify(numbered));
      expect(notes).toEqual([]);
    }
  });

  it.each<[Name, readonly [string, string, Name]]>([
    ['chat', claude],
    ['gemini', claude],
    ['messages', openai],
    ['gemini', openai],
    ['gemini', azure],
    ['messages', ['openrouter', 'openai/gpt-5', 'chat']],
  ])('a tool of %s with alternatives at its top has none at %j', (from, to) => {
    const anyOf = [numbered, { type: 'object', properties: { name: { type: 'string' } } }];
    const { body, notes } = sent(tooled[from]({ anyOf }), from, to);
    const [tool] = body['tools'] as JsonObject[];
    const declared = (tool?.['function'] ?? tool) as JsonObject;
    expect(declared['input_schema'] ?? declared['parameters']).toEqual({
      type: 'object',
      properties: { age: numbered.properties.age, name: { type: 'string' } },
      description: `{anyOf: ${JSON.stringify(anyOf)}}`,
    });
    expect(notes).toContain('approximated anyOf at the top of a tool as description');
  });

  it.each<readonly [string, string, Name]>([openai, azure, claude, ['vllm', 'qwen3', 'chat']])(
    'a tool of Gemini without a type is an object at %s',
    (...to) => {
      const { body } = sent(tooled.gemini({ properties: { a: { type: 'string' } } }), 'gemini', to);
      expect(JSON.stringify(body['tools'])).toContain('"type":"object"');
    },
  );

  it('a strict tool of Messages is strict at OpenAI, if it fits', () => {
    expect(sent(tooled.messages(numbered, true), 'messages', openai).body).toMatchObject({ tools: [{ strict: true }] });
    const optional = { ...numbered, required: [] };
    const { body, notes } = sent(tooled.messages(optional, true), 'messages', openai);
    expect(body).toMatchObject({ tools: [{ parameters: optional, strict: false }] });
    expect(notes).toEqual(['dropped strict of tools']);
  });

  it('tools for Mistral have no names of schemas, which its compiler refuses', () => {
    const schema = { $schema: 's', $id: 'i', ...numbered };
    const { body, notes } = sent(tooled.messages(schema), 'messages', ['mistral', 'mistral-large', 'chat']);
    expect(body).toMatchObject({ tools: [{ function: { parameters: numbered } }] });
    expect(JSON.stringify(body)).not.toMatch(/\$schema|\$id/);
    expect(notes).toEqual([]);
  });
});
