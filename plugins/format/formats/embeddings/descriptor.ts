import { scalarToNumber } from '../../wire/members.ts';
import { adaptEndUser, plainEndUser } from '../adaptation/adapt-parameters.ts';
import { type ClientFormat, type ModelEndpoint, defineModelEndpoint } from '../contract/descriptor.ts';
import { readInputUsage, NonStreamingObserver } from '../contract/non-streaming-observer.ts';
import { listCaseVariants, compileParameters } from '../contract/parameters.ts';
import { nonEmpty, integer, objects, object, text, oneOf } from '../contract/rules.ts';
import { VectorRepair } from './vector-repair.ts';

/** OpenAI's Embeddings API. */
export const embeddings: ClientFormat = {
  name: 'embeddings',
  kind: 'embedding',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/embeddings',
  client: {
    reference: 'https://platform.openai.com/docs/api-reference/embeddings/create',
    endpoints: [defineModelEndpoint('embeddings', '/v1/embeddings', ['input'], { isStream: false })],
    // Source: OpenAI API reference, "Create embeddings".
    parameters: compileParameters({
      input: nonEmpty,
      encoding_format: oneOf(['float', 'base64'], '"float" or "base64"'),
      dimensions: integer(1),
      user: text,
    }),
    adapt: adaptEndUser(plainEndUser),
    createObserver: () => new NonStreamingObserver('data'),
    createReplyRepair: ({ request }) => new VectorRepair(request),
    modelPlace: { member: 'model' },
    readLargeUsage: (body) => readInputUsage(findUsage(body)),
  },
};

/** A reply too large to parse has its usage near the start or the end. */
function findUsage(body: string) {
  const ends = body.slice(0, 1_024) + body.slice(-1_024);
  const tokens = /"usage"\s*:\s*\{[^}]*?"(?:prompt|total)_tokens"\s*:\s*(\d{1,10})/.exec(ends)?.[1];
  return tokens === undefined ? undefined : { prompt_tokens: scalarToNumber(tokens) };
}

function defineEndpoints(version: string): ModelEndpoint[] {
  const model = `${version}/models/{id*}`;
  const options = { isAliased: false, isStream: false };
  return [
    defineModelEndpoint('embed_content', `${model}:embedContent`, ['content'], options),
    defineModelEndpoint('batch_embed_contents', `${model}:batchEmbedContents`, ['requests'], options),
  ];
}

/** Google's `embedContent` and `batchEmbedContents`. */
export const geminiEmbeddings: ClientFormat = {
  name: 'gemini-embeddings',
  kind: 'embedding',
  dialect: 'google',
  reasoningStyles: [],
  path: (model) => `/models/${encodeURIComponent(model)}:batchEmbedContents`,
  client: {
    reference: 'https://ai.google.dev/api/embeddings',
    endpoints: ['/v1beta', '/v1'].flatMap(defineEndpoints),
    parameters: compileParameters(
      { content: object, requests: objects, taskType: text, title: text, outputDimensionality: integer(1) },
      { spellingsOf: listCaseVariants },
    ),
    isModelInPath: true,
    createObserver: () => new NonStreamingObserver('embeddings', 'embedding'),
    readLargeUsage: () => undefined,
  },
};
