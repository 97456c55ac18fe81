import type { JsonObject } from '#core/json.ts';
import type { EndpointDocumentation } from '#core/pipeline/api-documentation.ts';
import type { Endpoint } from '#core/pipeline/exchange.ts';
import type { JsonSchema } from '#core/schema.ts';
import type { ClientSide, FormatDescriptor, ModelEndpoint } from './descriptor.ts';
import { bodySchema } from './request/body-schema.ts';

const references: Readonly<Record<string, string>> = {
  chat: 'https://platform.openai.com/docs/api-reference/chat/create',
  responses: 'https://platform.openai.com/docs/api-reference/responses/create',
  images: 'https://platform.openai.com/docs/api-reference/images/create',
  messages: 'https://docs.anthropic.com/en/api/messages',
  gemini: 'https://ai.google.dev/api/generate-content',
};

const hello = [{ role: 'user', content: 'Hello' }];
const helloGemini = () => ({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });

/** By endpoint, a body that works. */
const examples: Readonly<Record<string, (model: string) => JsonObject>> = {
  chat: (model) => ({ model, messages: hello }),
  responses: (model) => ({ model, input: 'Hello' }),
  messages: (model) => ({ model, max_tokens: 1024, messages: hello }),
  count_tokens: (model) => ({ model, messages: hello }),
  generate_content: helloGemini,
  stream_generate_content: helloGemini,
  gemini_count_tokens: helloGemini,
};

/** Without `alt=sse` a Gemini stream is one JSON array. */
const queries: Readonly<Record<string, JsonSchema>> = {
  alt: { type: 'string', enum: ['sse', 'json'], default: 'json' },
};

/** The endpoints of a format with what the documentation of the API says about them. */
export function documentedEndpoints({ name, client }: FormatDescriptor): Endpoint[] {
  if (client === undefined) return [];
  return client.endpoints.map((endpoint) => ({ ...endpoint, documentation: describe(name, client, endpoint) }));
}

function describe(format: string, client: ClientSide, endpoint: ModelEndpoint): EndpointDocumentation {
  const { name, purpose, required, isStream } = endpoint;
  const example = examples[name];
  const reference = references[format];
  const { parameters, isModelInPath = false } = client;
  return {
    summary: `format.docs.${name}`,
    body: bodySchema(parameters, isModelInPath ? required : ['model', ...required]),
    stream: isStream === true ? 'always' : isStream === undefined && purpose === 'answer',
    ...(isModelInPath && isStream === true && { query: queries }),
    ...(example !== undefined && { example }),
    ...(reference !== undefined && { reference }),
  };
}
