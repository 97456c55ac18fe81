import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { toArgumentsObject } from '../../canonical/tools.ts';
import { createContentReaders } from '../../content/read-content.ts';
import { asCamelObject, asGenerationConfig } from '../../wire/gemini-fields.ts';
import type {
  GeminiBlob,
  GeminiContent,
  GeminiPart,
  GeminiRequest,
  GeminiFunctionResponse,
} from '../../wire/gemini.ts';
import { asObject, asList, asCount, scalarToText, listTexts } from '../../wire/members.ts';
import { omittedImage } from '../adaptation/adapt-media.ts';
import { mapObjects } from '../adaptation/adapt-members.ts';
import { type ClientTextFormat, defineModelEndpoint, type ModelEndpoint } from '../contract/descriptor.ts';
import { FragmentObserver } from '../contract/fragment-observer.ts';
import { adaptGemini } from './adaptations.ts';
import { geminiCodec } from './codec.ts';
import { wantsThoughts } from './reply/encode-reply.ts';
import { GeminiReplyAdapter } from './reply/reply-adapter.ts';
import { GeminiReplyRepair } from './reply/reply-repair.ts';
import { geminiReplyText } from './reply/reply-text.ts';
import { selectSeparator } from './reply/write-output.ts';
import { geminiParameters } from './request/parameters.ts';

/** Google's own clients use `/v1beta`, some other clients `/v1`. */
function defineEndpoints(version: string): ModelEndpoint[] {
  const model = `${version}/models/{id*}`;
  const nonStreaming = { isAliased: false, isStream: false };
  const streaming = { isAliased: false, isStream: true };
  return [
    defineModelEndpoint('generate_content', `${model}:generateContent`, ['contents'], nonStreaming),
    defineModelEndpoint('stream_generate_content', `${model}:streamGenerateContent`, ['contents'], streaming),
    defineModelEndpoint('gemini_count_tokens', `${model}:countTokens`, [], { ...nonStreaming, purpose: 'count' }),
  ];
}

function selectMethod(isStream: boolean, purpose: ModelEndpoint['purpose']): string {
  if (purpose === 'count') return 'countTokens';
  return isStream ? 'streamGenerateContent?alt=sse' : 'generateContent';
}

function setCountedModel(body: JsonObject, model: string): JsonObject {
  for (const name of ['generateContentRequest', 'generate_content_request']) {
    const inner = body[name];
    if (isJsonObject(inner)) return { ...body, [name]: { ...inner, model: `models/${model}` } };
  }
  return body;
}

/** Google's `generateContent`. */
export const gemini: ClientTextFormat = {
  name: 'gemini',
  kind: 'chat',
  dialect: 'google',
  statuses: { not_supported: 400 },
  reasoningStyles: ['budget', 'level', 'none'],
  replyText: geminiReplyText,
  readContent: createContentReaders(geminiCodec),
  path: (model, isStream, purpose) => `/models/${encodeURIComponent(model)}:${selectMethod(isStream, purpose)}`,
  client: {
    reference: 'https://ai.google.dev/api/generate-content',
    endpoints: ['/v1beta', '/v1'].flatMap(defineEndpoints),
    parameters: geminiParameters,
    isModelInPath: true,
    createObserver: (body, listeners) =>
      new FragmentObserver(geminiCodec, listeners, {
        endsWithBody: true,
        requestedChoices: asCount(asGenerationConfig(body).candidateCount) ?? 1,
      }),
    createReplyRepair: () => new GeminiReplyRepair(),
    modelPlace: { member: 'modelVersion' },
    createReplyAdapter: (request, origin) => new GeminiReplyAdapter(request, origin),
    completeWithoutState: joinContents,
    setCountedModel,
    text: {
      ...geminiCodec,
      omitResultImages,
      isSingleChoice: () => true,
      describeContentForm: (request) => ({
        writeSeparator: selectSeparator,
        writeArguments: (call) => JSON.stringify(toArgumentsObject(call)),
        sendsWholeCalls: true,
        hidesReasoning: !wantsThoughts(request),
      }),
      writeTokenCount: (tokens) => ({ totalTokens: tokens }),
    },
  },
  text: {
    ...geminiCodec,
    features: {
      freeformTools: false,
      forcedTools: true,
      resultImages: true,
      imageUrls: 'reachable',
      parallelCallOption: false,
      reasoning: 'signed',
    },
    readStopSequences: (body) => listTexts(asGenerationConfig(body).stopSequences),
    adapt: adaptGemini,
  },
};

/** User and model must alternate, so contents that a removal made adjacent are joined. `original` is the request before the removal. */
function joinContents(body: GeminiRequest, original: GeminiRequest): GeminiRequest {
  const { contents } = body;
  if (!Array.isArray(contents) || contents.length === asList(original.contents).length) return body;
  const joinedContents: JsonValue[] = [];
  for (const content of contents) {
    const joinedContent = joinSameRole(joinedContents.at(-1), content);
    if (joinedContent === undefined) joinedContents.push(content);
    else joinedContents[joinedContents.length - 1] = joinedContent;
  }
  return { ...body, contents: joinedContents };
}

function joinSameRole(last: JsonValue | undefined, next: JsonValue): GeminiContent | undefined {
  if (!isJsonObject(last) || !isJsonObject(next) || last['role'] !== next['role']) return undefined;
  const { parts: lastParts }: GeminiContent = last;
  const { parts: nextParts }: GeminiContent = next;
  if (!Array.isArray(lastParts) || !Array.isArray(nextParts)) return undefined;
  return { ...last, parts: [...lastParts, ...nextParts] };
}

function omitResultImages(body: JsonObject): JsonObject {
  return mapObjects(body, 'contents', (content) => mapObjects(content, 'parts', omitPartImages));
}

function omitPartImages(part: JsonObject): JsonObject {
  for (const name of ['functionResponse', 'function_response']) {
    const { parts, ...members }: GeminiFunctionResponse = asObject(part[name]);
    if (!Array.isArray(parts)) continue;
    const otherParts = parts.filter((inner) => !isImage(inner));
    if (otherParts.length === parts.length) continue;
    // A result's parts cannot be text, so the note goes into the response object.
    const response = { ...asObject(members.response), images: omittedImage };
    return { ...part, [name]: { ...members, response, ...(otherParts.length > 0 && { parts: otherParts }) } };
  }
  return part;
}

function isImage(part: JsonValue): boolean {
  const { inlineData, fileData } = asCamelObject<GeminiPart>(part);
  return scalarToText(asCamelObject<GeminiBlob>(inlineData ?? fileData).mimeType).startsWith('image/');
}
