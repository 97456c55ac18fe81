import { adaptUser, plainUser } from '../adaptation/adapt-parameters.ts';
import { bothCases, parameters } from '../contract/parameters.ts';
import { filled, integer, objects, object, text, word } from '../contract/rules.ts';
import { type ClientFormat, type ModelEndpoint, modelEndpoint } from '../contract/descriptor.ts';
import { inputUsage, WholeObserver } from '../contract/whole-observer.ts';
import { VectorRepair } from './vector-repair.ts';
import { scalarNumber } from '../../wire/members.ts';

/** OpenAI's Embeddings API. */
export const embeddings: ClientFormat = {
  name: 'embeddings',
  kind: 'embedding',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/embeddings',
  client: {
    endpoints: [modelEndpoint('embeddings', '/v1/embeddings', ['input'], { isStream: false })],
    // Source: OpenAI API reference, "Create embeddings".
    parameters: parameters({
      input: filled,
      encoding_format: word(['float', 'base64'], '"float" or "base64"'),
      dimensions: integer(1),
      user: text,
    }),
    adapt: adaptUser(plainUser),
    observe: () => new WholeObserver('data'),
    repairReply: ({ request }) => new VectorRepair(request),
    modelPlace: { member: 'model' },
    readLarge: (body) => inputUsage(usageIn(body)),
  },
};

/** Finds the usage at the start or the end of a reply that is too large to parse. */
function usageIn(body: string) {
  const ends = body.slice(0, 1_024) + body.slice(-1_024);
  const tokens = /"usage"\s*:\s*\{[^}]*?"(?:prompt|total)_tokens"\s*:\s*(\d{1,10})/.exec(ends)?.[1];
  return tokens === undefined ? undefined : { prompt_tokens: scalarNumber(tokens) };
}

function endpointsUnder(root: string): ModelEndpoint[] {
  const call = (name: string, method: string, required: string): ModelEndpoint => ({
    name,
    method: 'POST',
    path: `${root}/models/{id*}:${method}`,
    isMetered: true,
    purpose: 'answer',
    required: [required],
    isStream: false,
  });
  return [
    call('embed_content', 'embedContent', 'content'),
    call('batch_embed_contents', 'batchEmbedContents', 'requests'),
  ];
}

/** `embedContent` and `batchEmbedContents` of Google's Gemini API. */
export const geminiEmbeddings: ClientFormat = {
  name: 'gemini-embeddings',
  kind: 'embedding',
  dialect: 'google',
  reasoningStyles: [],
  path: (model) => `/models/${encodeURIComponent(model)}:batchEmbedContents`,
  client: {
    endpoints: ['/v1beta', '/v1'].flatMap(endpointsUnder),
    parameters: parameters(
      { content: object, requests: objects, taskType: text, title: text, outputDimensionality: integer(1) },
      { spellingsOf: bothCases },
    ),
    isModelInPath: true,
    observe: () => new WholeObserver('embeddings', 'embedding'),
    readLarge: () => undefined,
  },
};
