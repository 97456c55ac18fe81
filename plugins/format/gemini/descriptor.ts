import { isJsonObject, type JsonObject } from '#core/json.ts';
import type { ClientTextFormat, ModelEndpoint, Purpose } from '../descriptor.ts';
import { count, textsOf } from '../request/members.ts';
import { fieldsOf } from './fields.ts';
import { GeminiReplyAdapter } from './reply-adapter.ts';
import { adaptGemini } from './adaptations.ts';
import { geminiCodec } from './codec.ts';
import { joinContents } from './join-contents.ts';
import { stateKinds, toolNames } from './names.ts';
import { GeminiObserver } from './observer.ts';
import { omitResultImages } from './omit-images.ts';
import { geminiParameters } from './parameters.ts';
import { geminiReplyText } from './reply-text.ts';

/** Gemini names model and method in the path. Google's own clients say `/v1beta`, some `/v1`. */
function endpointsUnder(root: string): ModelEndpoint[] {
  const call = (name: string, method: string, purpose: Purpose, isStream: boolean): ModelEndpoint => ({
    name,
    method: 'POST',
    path: `${root}/models/{id*}:${method}`,
    isMetered: purpose === 'answer',
    purpose,
    required: purpose === 'answer' ? ['contents'] : [],
    isStream,
  });
  return [
    call('generate_content', 'generateContent', 'answer', false),
    call('stream_generate_content', 'streamGenerateContent', 'answer', true),
    call('gemini_count_tokens', 'countTokens', 'count', false),
  ];
}

function methodOf(isStream: boolean, purpose: Purpose): string {
  if (purpose === 'count') return 'countTokens';
  return isStream ? 'streamGenerateContent?alt=sse' : 'generateContent';
}

/** Google's counting takes a request inside of another, which names the model once more. */
function nameCounted(body: JsonObject, model: string): JsonObject {
  for (const name of ['generateContentRequest', 'generate_content_request']) {
    const packed = body[name];
    if (isJsonObject(packed)) return { ...body, [name]: { ...packed, model: `models/${model}` } };
  }
  return body;
}

/** generateContent of Google's Gemini API. */
export const gemini: ClientTextFormat = {
  name: 'gemini',
  dialect: 'google',
  statuses: { not_supported: 400 },
  reasoningStyles: ['budget', 'level', 'none'],
  replyText: geminiReplyText,
  path: (model, isStream, purpose) => `/models/${encodeURIComponent(model)}:${methodOf(isStream, purpose)}`,
  client: {
    endpoints: ['/v1beta', '/v1'].flatMap(endpointsUnder),
    parameters: geminiParameters,
    isModelInPath: true,
    observe: (id, body) =>
      new GeminiObserver(id, count(fieldsOf(fieldsOf(body)['generationConfig'])['candidateCount'])),
    modelPlace: { member: 'modelVersion' },
    adaptReply: ({ body }, origin) => new GeminiReplyAdapter(body, origin),
    settle: (body, before) => joinContents(body, before),
    nameCounted,
    text: {
      ...geminiCodec,
      omitResultImages,
      isSingleAnswer: () => true,
      writeTokenCount: (tokens) => ({ totalTokens: tokens }),
    },
  },
  text: {
    ...geminiCodec,
    toolNames,
    stateKinds,
    speaks: {
      freeformTools: false,
      forcedTools: true,
      resultImages: true,
      imageUrls: 'reachable',
      parallelSwitch: false,
      reasoning: 'signed',
    },
    reportedStops: (body) => textsOf(fieldsOf(fieldsOf(body)['generationConfig'])['stopSequences']),
    adapt: adaptGemini,
  },
};
