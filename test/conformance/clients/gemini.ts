import type { JsonObject } from '#core/platform/json.ts';
import { chunkSchema, errorSchema, wholeReplySchema } from '../../support/schemas/gemini.ts';
import {
  type Call,
  compact,
  type End,
  isObject,
  numberOf,
  objectOf,
  objectsOf,
  splitDataUrl,
  textOf,
} from '../conversation.ts';
import { type ClientFormat, insist, type Question, type StreamEvent, type Written } from './client-format.ts';

/** generateContent, as Gemini CLI sends and reads it. Source: Gemini API reference, "GenerateContent". */
export const geminiClient: ClientFormat = {
  path: ({ model, isStream }) =>
    `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  keyHeader: 'x-goog-api-key',
  write: (question) =>
    compact({
      systemInstruction: question.system && { parts: [{ text: question.system }] },
      contents: writeContents(question),
      tools: question.tools && [
        {
          functionDeclarations: question.tools.map(({ name, description, schema }) => ({
            name,
            description,
            parametersJsonSchema: schema,
          })),
        },
      ],
      generationConfig: {
        ...(question.schema && { responseMimeType: 'application/json', responseJsonSchema: question.schema }),
        ...(question.effort && { thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } }),
        stopSequences: question.stop,
        maxOutputTokens: question.limit,
      },
    }),
  fold,
  read(whole) {
    const [candidate = {}] = objectsOf(whole['candidates']);
    const parts = objectsOf(objectOf(candidate['content'])['parts']);
    const calls = parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [readCall(functionCall)] : []));
    const thoughts = parts.filter(({ thought }) => thought === true);
    const end = ends[textOf(candidate['finishReason'])];
    return {
      text: joined(parts.filter((part) => !thoughts.includes(part))) || textOf(candidate['finishMessage']),
      thought: joined(thoughts),
      calls,
      end: end === 'stop' && calls.length > 0 ? 'calls' : end,
      stopSequence: undefined,
      usage: readUsage(whole['usageMetadata']),
    };
  },
  echo: (whole) => [objectOf(objectsOf(whole['candidates'])[0]?.['content'])],
  failures: {
    overflow: { error: { code: 400, status: 'INVALID_ARGUMENT' } },
    'rate limit': { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } },
    'bad key': { error: { code: 424, status: 'FAILED_PRECONDITION' } },
  },
  schemas: {
    whole: wholeReplySchema,
    error: errorSchema,
    eventType: ({ candidates }) => (objectsOf(candidates)[0]?.['finishReason'] === undefined ? 'chunk' : 'last'),
    events: { chunk: chunkSchema, last: wholeReplySchema },
  },
  cannotSay: (feature) => feature === 'freeform tool',
  echoLosesThoughts: false,
  hasSerialCalls: false,
  hasErrorFlag: true,
  tellsStop: false,
};

const ends: Readonly<Record<string, End>> = { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'withheld' };

function writeContents({ entries }: Question): JsonObject[] {
  const contents: JsonObject[] = [];
  for (const entry of entries) {
    const last = contents.at(-1);
    if (entry.type === 'echo') contents.push(...entry.raw);
    else if (last?.['role'] === 'user' && Array.isArray(last['parts'])) last['parts'].push(writePart(entry, contents));
    else contents.push({ role: 'user', parts: [writePart(entry, contents)] });
  }
  return contents;
}

function writePart(entry: Written, contents: readonly JsonObject[]): JsonObject {
  if (entry.type === 'text') return { text: entry.text };
  if (entry.type === 'image') return writeImage(entry.image);
  insist(entry.type === 'result', `a user cannot say a ${entry.type}`);
  const { id, text, image, isError } = entry;
  const calls = contents.flatMap(({ parts }) => objectsOf(parts)).map((part) => objectOf(part['functionCall']));
  const name = textOf(calls.find((call) => call['id'] === id)?.['name']);
  return {
    functionResponse: {
      id,
      name,
      response: isError === true ? { error: text } : { output: text },
      ...(image !== undefined && { parts: [writeImage(image)] }),
    },
  };
}

function writeImage(image: string): JsonObject {
  const inline = splitDataUrl(image);
  return inline === undefined
    ? { fileData: { mimeType: 'image/png', fileUri: image } }
    : { inlineData: { mimeType: inline.mediaType, data: inline.data } };
}

function joined(parts: readonly JsonObject[]): string {
  return parts.map(({ text }) => textOf(text)).join('');
}

function readCall({ id, name, args }: JsonObject): Call {
  return { type: 'call', id: textOf(id), name: textOf(name), input: objectOf(args) };
}

function readUsage(value: unknown): ReturnType<ClientFormat['read']>['usage'] {
  if (!isObject(value)) return undefined;
  const thinking = numberOf(value['thoughtsTokenCount']);
  const input = numberOf(value['promptTokenCount']);
  const output = numberOf(value['candidatesTokenCount']) + thinking;
  insist(value['totalTokenCount'] === input + output, 'totalTokenCount is not the sum of both');
  return { input, cached: numberOf(value['cachedContentTokenCount']), output, thinking };
}

/** All parts of all chunks with joined texts, in the envelope of the last chunk. */
function fold(events: readonly StreamEvent[]): JsonObject {
  const chunks = events.map(({ data }) => objectOf(JSON.parse(data)));
  const candidates = chunks.map((chunk) => objectsOf(chunk['candidates'])[0] ?? {});
  const ended = candidates.filter(({ finishReason }) => finishReason !== undefined);
  insist(ended.length === 1 && ended[0] === candidates.at(-1), 'finishReason is not in the last chunk alone');
  const parts: JsonObject[] = [];
  for (const part of candidates.flatMap(({ content }) => objectsOf(objectOf(content)['parts']))) {
    const last = parts.at(-1);
    const isMore = last !== undefined && 'text' in last && 'text' in part && last['thought'] === part['thought'];
    if (!isMore) parts.push({ ...part });
    else Object.assign(last, part, { text: textOf(last['text']) + textOf(part['text']) });
  }
  return {
    ...chunks.at(-1),
    candidates: [{ ...candidates.at(-1), content: { role: 'model', parts } }],
  };
}
