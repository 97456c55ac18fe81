import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { fieldsOf } from '../../wire/gemini-fields.ts';
import { count, scalarText, textsOf } from '../../wire/members.ts';
import { omittedImage, within } from '../adaptation/adapt-media.ts';
import type { ClientTextFormat, ModelEndpoint, Purpose } from '../contract/descriptor.ts';
import { contentReaderOf } from '../../content/read-content.ts';
import { FragmentObserver } from '../contract/fragment-observer.ts';
import { adaptGemini } from './adaptations.ts';
import { geminiCodec, stateKinds, toolNames } from './codec.ts';
import { wantsThoughts } from './reply/encode-reply.ts';
import { argumentsOf, separatorBefore } from './reply/write-output.ts';
import { GeminiReplyAdapter } from './reply/reply-adapter.ts';
import { GeminiReplyRepair } from './reply/reply-repair.ts';
import { geminiReplyText } from './reply/reply-text.ts';
import { geminiParameters } from './request/parameters.ts';
import type {
  GeminiBlob,
  GeminiContent,
  GeminiGeneration,
  GeminiPart,
  GeminiRequest,
  GeminiResult,
} from '../../wire/gemini.ts';

/** Gemini has model and method in the path. Google's own clients use `/v1beta`, and some clients use `/v1`. */
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

/** Google's token counting accepts a request inside another request; the inner request also names the model. */
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
  kind: 'chat',
  dialect: 'google',
  statuses: { not_supported: 400 },
  reasoningStyles: ['budget', 'level', 'none'],
  replyText: geminiReplyText,
  readContent: contentReaderOf(geminiCodec),
  path: (model, isStream, purpose) => `/models/${encodeURIComponent(model)}:${methodOf(isStream, purpose)}`,
  client: {
    endpoints: ['/v1beta', '/v1'].flatMap(endpointsUnder),
    parameters: geminiParameters,
    isModelInPath: true,
    observe: (body, listening) =>
      new FragmentObserver(geminiCodec, listening, {
        isOfBody: true,
        answers: count(fieldsOf<GeminiGeneration>(fieldsOf<GeminiRequest>(body).generationConfig).candidateCount) ?? 1,
      }),
    repairReply: () => new GeminiReplyRepair(),
    modelPlace: { member: 'modelVersion' },
    adaptReply: (request, origin) => new GeminiReplyAdapter(request, origin),
    settle: (body, before) => joinContents(body, before),
    nameCounted,
    text: {
      ...geminiCodec,
      omitResultImages,
      isSingleAnswer: () => true,
      contentForm: (request) => ({
        separator: separatorBefore,
        argumentsOf: (call) => JSON.stringify(argumentsOf(call)),
        hasWholeCalls: true,
        hidesReasoning: !wantsThoughts(request),
      }),
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
    reportedStops: (body) =>
      textsOf(fieldsOf<GeminiGeneration>(fieldsOf<GeminiRequest>(body).generationConfig).stopSequences),
    adapt: adaptGemini,
  },
};

/**
 * Joins contents of the same side that became adjacent because a content between them was removed: user and model must
 * alternate. Returns the same body if no content was removed.
 *
 * @param before the same request before the removal
 */
function joinContents(body: GeminiRequest, before: GeminiRequest): GeminiRequest {
  const { contents } = body;
  const { contents: all } = before;
  if (!Array.isArray(contents) || contents.length === (Array.isArray(all) ? all.length : 0)) return body;
  const joined: JsonValue[] = [];
  for (const content of contents) {
    const both = join(joined.at(-1), content);
    if (both === undefined) joined.push(content);
    else joined[joined.length - 1] = both;
  }
  return { ...body, contents: joined };
}

/** Undefined for contents of different sides. */
function join(last: JsonValue | undefined, next: JsonValue): GeminiContent | undefined {
  if (!isJsonObject(last) || !isJsonObject(next)) return undefined;
  const { role, parts: before }: GeminiContent = last;
  const { role: other, parts: after }: GeminiContent = next;
  if (role !== other) return undefined;
  return Array.isArray(before) && Array.isArray(after) ? { ...last, parts: [...before, ...after] } : undefined;
}

function omitResultImages(body: JsonObject): JsonObject {
  return within(body, 'contents', (content) => within(content, 'parts', fromPart));
}

/** Parts of a result cannot be text, so the note about omitted images goes into the tool's response object. */
function fromPart(part: JsonObject): JsonObject {
  for (const name of ['functionResponse', 'function_response']) {
    const result = part[name];
    const { parts, ...rest }: GeminiResult = isJsonObject(result) ? result : {};
    if (!Array.isArray(parts)) continue;
    const kept = parts.filter((shown) => !isImage(shown));
    if (kept.length === parts.length) continue;
    const response = isJsonObject(rest.response) ? rest.response : {};
    return {
      ...part,
      [name]: { ...rest, response: { ...response, images: omittedImage }, ...(kept.length > 0 && { parts: kept }) },
    };
  }
  return part;
}

function isImage(part: JsonValue): boolean {
  const { inlineData, fileData } = fieldsOf<GeminiPart>(part);
  return scalarText(fieldsOf<GeminiBlob>(inlineData ?? fileData).mimeType).startsWith('image/');
}
