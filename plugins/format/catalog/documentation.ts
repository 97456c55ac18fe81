import type { EndpointDocumentation } from '#core/gateway/host/api-documentation.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import type { ClientSide, FormatDescriptor, ModelEndpoint } from '../formats/contract/descriptor.ts';
import type { ParameterRules } from '../formats/contract/parameters.ts';

const helloMessages = [{ role: 'user', content: 'Hello' }];
const createGeminiExample = () => ({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });

const examples: Readonly<Record<string, (model: string) => JsonObject>> = {
  chat: (model) => ({ model, messages: helloMessages }),
  responses: (model) => ({ model, input: 'Hello' }),
  responses_input_tokens: (model) => ({ model, input: 'Hello' }),
  messages: (model) => ({ model, max_tokens: 1024, messages: helloMessages }),
  count_tokens: (model) => ({ model, messages: helloMessages }),
  generate_content: createGeminiExample,
  stream_generate_content: createGeminiExample,
  gemini_count_tokens: createGeminiExample,
};

const geminiStreamQuery: Readonly<Record<string, JsonSchema>> = {
  alt: { type: 'string', enum: ['sse', 'json'], default: 'json' }, // without `sse`, the stream is a single array
};

export function documentEndpoints({ client }: FormatDescriptor): Endpoint[] {
  if (client === undefined) return [];
  return client.endpoints.map((endpoint) => ({ ...endpoint, documentation: documentEndpoint(client, endpoint) }));
}

function documentEndpoint(client: ClientSide, endpoint: ModelEndpoint): EndpointDocumentation {
  const { name, purpose, required, isStream } = endpoint;
  const example = examples[name];
  const { parameters, isModelInPath = false, reference } = client;
  return {
    summary: `format.docs.${name}`,
    body: buildBodySchema(parameters, isModelInPath ? required : ['model', ...required]),
    ...(endpoint.isMultipart === true && { isForm: true }),
    stream: isStream === true ? 'always' : isStream === undefined && purpose === 'answer',
    ...(isModelInPath && isStream === true && { query: geminiStreamQuery }),
    ...(example !== undefined && { example }),
    ...(reference !== undefined && { reference }),
  };
}

interface OpenSchema extends JsonSchema {
  properties: Record<string, OpenSchema | JsonSchema>;
}

function buildBodySchema({ checkedParameters }: ParameterRules, required: readonly string[]): JsonSchema {
  const body: OpenSchema = { type: 'object', properties: {} };
  if (required.includes('model')) body.properties['model'] = { type: 'string' };
  for (const { name, rule } of checkedParameters) addSchema(body, name.split('.'), rule.schema);
  return { ...body, ...(required.length > 0 && { required }) };
}

function addSchema(parent: OpenSchema, [name = '', ...inner]: readonly string[], schema: JsonSchema): void {
  if (inner.length === 0) {
    parent.properties[name] = { ...schema };
    return;
  }
  const member: OpenSchema = { type: 'object', properties: {}, ...parent.properties[name] };
  parent.properties[name] = member;
  addSchema(member, inner, schema);
}
