import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { createId } from './chat-answer.ts';
import { ChatRequestError } from './chat-error.ts';
import { drawPng, renderWav } from './media.ts';
import { estimateTokens } from './tokens.ts';

interface OtherAnswer {
  readonly type: string;
  readonly body: string | Buffer;
}

/** Answers a JSON body or the fields of a form. */
export type OtherEndpoint = (body: JsonObject) => OtherAnswer | Promise<OtherAnswer>;

const answerText = 'This is the demo upstream: it makes up its answers.';

/** Paths are relative to the base URL. Sources: OpenAI API reference; Cohere API reference, "Rerank". */
export const otherEndpoints: ReadonlyMap<string, OtherEndpoint> = new Map<string, OtherEndpoint>([
  ['/completions', completePrompt],
  ['/embeddings', embedTexts],
  ['/images/generations', drawImages],
  ['/images/edits', drawImages],
  ['/images/variations', drawImages],
  ['/audio/speech', speakText],
  ['/audio/transcriptions', transcribeAudio],
  ['/audio/translations', transcribeAudio],
  ['/moderations', moderateTexts],
  ['/rerank', rerankDocuments],
]);

/** Parses the text fields; `bytes` is the length of the whole form. */
export function parseForm(text: string): JsonObject {
  const fields = text.matchAll(/form-data; *name="([a-z_]+)"\r\n\r\n([^\r]*)\r\n/g);
  return { ...Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value])), bytes: text.length };
}

function createJsonAnswer(value: object): OtherAnswer {
  return { type: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}

function createEventAnswer(list: readonly JsonObject[], terminator = ''): OtherAnswer {
  const texts = list.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return { type: 'text/event-stream; charset=utf-8', body: texts.join('') + terminator };
}

function completePrompt({ model, prompt, stream }: JsonObject): OtherAnswer {
  const base = { id: createId('cmpl-'), object: 'text_completion', created: nowSeconds(), model: model ?? null };
  const text = ` // ${answerText}`;
  const usage = createUsage(estimateTokens(readTexts(prompt).join(' ')), estimateTokens(text));
  const chunk = (part: string, reason: string | null) => ({
    ...base,
    choices: [{ index: 0, text: part, finish_reason: reason, logprobs: null }],
  });
  if (stream === true)
    return createEventAnswer([chunk(text, null), { ...chunk('', 'stop'), usage }], 'data: [DONE]\n\n');
  return createJsonAnswer({ ...chunk(text, 'stop'), usage });
}

function createUsage(input: number, output: number) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

const maxDimensions = 4_096;

function embedTexts({ model, input, dimensions, encoding_format: encoding }: JsonObject): OtherAnswer {
  const texts = requireTexts(input, 'input');
  const length = Math.min(Math.max(Math.trunc(readNumber(dimensions) ?? 256), 1), maxDimensions);
  const data = texts.map((text, index) => {
    const vector = embedText(text, length);
    const embedding = encoding === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const tokens = estimateTokens(texts.join(' '));
  return createJsonAnswer({ object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

function embedText(text: string, length: number): Float32Array {
  const vector = new Float32Array(length);
  for (const word of splitWords(text)) {
    const hash = hashText(word);
    const position = hash.readUInt32LE(0) % length;
    vector[position] = (vector[position] ?? 0) + ((hash[4] ?? 0) > 127 ? 1 : -1);
  }
  const norm = Math.hypot(...vector) || 1;
  return vector.map((value) => value / norm);
}

async function drawImages({ prompt, n, stream }: JsonObject): Promise<OtherAnswer> {
  const text = typeof prompt === 'string' ? prompt : 'variation';
  const count = Math.min(Math.max(Math.trunc(readNumber(n) ?? 1), 1), 10);
  const pictures = Array.from({ length: count }, (_, index) => drawPng(hashText(`${index} ${text}`)));
  const images = (await Promise.all(pictures)).map((picture) => picture.toString('base64'));
  const usage = {
    input_tokens: estimateTokens(text),
    output_tokens: 256 * count,
    total_tokens: estimateTokens(text) + 256 * count,
  };
  if (stream !== true)
    return createJsonAnswer({ created: nowSeconds(), data: images.map((image) => ({ b64_json: image })), usage });
  return createEventAnswer(images.map((image) => ({ type: 'image_generation.completed', b64_json: image, usage })));
}

function speakText({ input, stream_format: format }: JsonObject): OtherAnswer {
  const text = typeof input === 'string' ? input : '';
  const audio = renderWav(splitWords(text));
  if (format !== 'sse') return { type: 'audio/wav', body: audio };
  const usage = {
    input_tokens: estimateTokens(text),
    output_tokens: 0,
    total_tokens: estimateTokens(text),
  };
  return createEventAnswer([
    { type: 'speech.audio.delta', audio: audio.toString('base64') },
    { type: 'speech.audio.done', usage },
  ]);
}

function transcribeAudio({ response_format: format, stream, bytes }: JsonObject): OtherAnswer {
  const text = `${answerText} It has received ${readNumber(bytes) ?? 0} bytes.`;
  const usage = {
    type: 'tokens',
    input_tokens: 10,
    output_tokens: estimateTokens(text),
    total_tokens: 10 + estimateTokens(text),
  };
  if (stream === 'true')
    return createEventAnswer([
      { type: 'transcript.text.delta', delta: text },
      { type: 'transcript.text.done', text, usage },
    ]);
  const plainText = { type: 'text/plain; charset=utf-8' };
  if (format === 'text') return { ...plainText, body: `${text}\n` };
  if (format === 'srt') return { ...plainText, body: `1\n00:00:00,000 --> 00:00:02,000\n${text}\n` };
  if (format === 'vtt') return { ...plainText, body: `WEBVTT\n\n00:00.000 --> 00:02.000\n${text}\n` };
  return createJsonAnswer({ text, usage });
}

function moderateTexts({ model, input }: JsonObject): OtherAnswer {
  const results = requireTexts(input, 'input').map((text) => {
    const isHarmful = text.includes('[[harmful]]');
    return {
      flagged: isHarmful,
      categories: { harassment: isHarmful, violence: false },
      category_scores: { harassment: isHarmful ? 0.99 : 0.01, violence: 0.01 },
    };
  });
  return createJsonAnswer({ id: createId('modr-'), model, results });
}

function rerankDocuments({ model, query, documents, top_n: limit }: JsonObject): OtherAnswer {
  if (typeof query !== 'string') throw new ChatRequestError('`query` must be a text.', 'query');
  const queryWords = new Set(splitWords(query));
  const texts = requireTexts(documents, 'documents');
  const scores = texts.map((text, index) => {
    const shared = splitWords(text).filter((word) => queryWords.has(word)).length;
    return { index, relevance_score: queryWords.size === 0 ? 0 : Math.min(1, shared / queryWords.size) };
  });
  const results = scores.toSorted((a, b) => b.relevance_score - a.relevance_score).slice(0, readNumber(limit));
  const tokens = estimateTokens([query, ...texts].join(' '));
  return createJsonAnswer({ id: createId('rerank-'), model, results, usage: { total_tokens: tokens } });
}

export function readTexts(value: JsonValue | undefined): string[] {
  return listEntries(value).flatMap((entry) => readText(entry) ?? []);
}

/** @throws ChatRequestError unless every entry is a text, or has a text that does not describe an image */
function requireTexts(value: JsonValue | undefined, name: string): string[] {
  const texts = listEntries(value).map((entry) =>
    isJsonObject(entry) && entry['type'] === 'image_url' ? '' : readText(entry),
  );
  if (texts.length > 0 && texts.every((text) => text !== undefined)) return texts;
  throw new ChatRequestError(`\`${name}\` must be a text or a list of texts.`, name);
}

function listEntries(value: JsonValue | undefined): JsonValue[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function readText(entry: JsonValue): string | undefined {
  if (typeof entry === 'string') return entry;
  return isJsonObject(entry) && typeof entry['text'] === 'string' ? entry['text'] : undefined;
}

/** Forms send numbers as text. Returns undefined for 0 and for values that are not numbers. */
function readNumber(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) || undefined : undefined;
}

function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function hashText(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
