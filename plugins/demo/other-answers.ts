import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { createId } from './chat-answer.ts';
import { ChatRequestError } from './chat-error.ts';
import { drawPng, playWav } from './media.ts';
import { countTokens } from './tokens.ts';

/** The answer of an endpoint without conversations. */
export interface OtherAnswer {
  readonly type: string;
  readonly body: string | Buffer;
}

const made = 'This is the demo upstream: it makes its answers up.';

/** Paths behind the base URL. Sources: OpenAI API reference; Cohere API reference, "Rerank". */
export const otherEndpoints: ReadonlyMap<string, (body: JsonObject) => OtherAnswer> = new Map([
  ['/completions', complete],
  ['/embeddings', embed],
  ['/images/generations', draw],
  ['/images/edits', draw],
  ['/images/variations', draw],
  ['/audio/speech', speak],
  ['/audio/transcriptions', transcribe],
  ['/audio/translations', transcribe],
  ['/moderations', moderate],
  ['/rerank', rerank],
]);

/** Reads the text fields of a form, and the size of its files as `bytes`. */
export function readForm(text: string): JsonObject {
  const fields = text.matchAll(/form-data; *name="([a-z_]+)"\r\n\r\n([^\r]*)\r\n/g);
  return { ...Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value])), bytes: text.length };
}

function json(value: object): OtherAnswer {
  return { type: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}

function events(list: readonly JsonObject[], last = ''): OtherAnswer {
  const texts = list.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return { type: 'text/event-stream; charset=utf-8', body: texts.join('') + last };
}

function complete({ model, prompt, stream }: JsonObject): OtherAnswer {
  const base = { id: createId('cmpl-'), object: 'text_completion', created: seconds(), model: model ?? null };
  const text = ` // ${made}`;
  const usage = usageOf(countTokens(textsIn(prompt).join(' ')), countTokens(text));
  const chunk = (part: string, reason: string | null) => ({
    ...base,
    choices: [{ index: 0, text: part, finish_reason: reason, logprobs: null }],
  });
  if (stream === true) return events([chunk(text, null), { ...chunk('', 'stop'), usage }], 'data: [DONE]\n\n');
  return json({ ...chunk(text, 'stop'), usage });
}

function usageOf(input: number, output: number) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

const maxDimensions = 4_096;

function embed({ model, input, dimensions, encoding_format: encoding }: JsonObject): OtherAnswer {
  const texts = requireTexts(input, 'input');
  const length = Math.min(Math.max(Math.trunc(numberIn(dimensions) ?? 256), 1), maxDimensions);
  const data = texts.map((text, index) => {
    const vector = vectorOf(text, length);
    const embedding = encoding === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const tokens = countTokens(texts.join(' '));
  return json({ object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

function vectorOf(text: string, length: number): Float32Array {
  const vector = new Float32Array(length);
  for (const word of wordsIn(text)) {
    const hash = hashOf(word);
    const at = hash.readUInt32LE(0) % length;
    vector[at] = (vector[at] ?? 0) + ((hash[4] ?? 0) > 127 ? 1 : -1);
  }
  const norm = Math.hypot(...vector) || 1;
  return vector.map((value) => value / norm);
}

function draw({ prompt, n, stream }: JsonObject): OtherAnswer {
  const text = typeof prompt === 'string' ? prompt : 'variation';
  const count = Math.min(Math.max(Math.trunc(numberIn(n) ?? 1), 1), 10);
  const images = Array.from({ length: count }, (_, index) => drawPng(hashOf(`${index} ${text}`)).toString('base64'));
  const usage = {
    input_tokens: countTokens(text),
    output_tokens: 256 * count,
    total_tokens: countTokens(text) + 256 * count,
  };
  if (stream !== true) return json({ created: seconds(), data: images.map((image) => ({ b64_json: image })), usage });
  return events(images.map((image) => ({ type: 'image_generation.completed', b64_json: image, usage })));
}

function speak({ input, stream_format: format }: JsonObject): OtherAnswer {
  const text = typeof input === 'string' ? input : '';
  const audio = playWav(wordsIn(text));
  if (format !== 'sse') return { type: 'audio/wav', body: audio };
  const usage = {
    input_tokens: countTokens(text),
    output_tokens: 0,
    total_tokens: countTokens(text),
  };
  return events([
    { type: 'speech.audio.delta', audio: audio.toString('base64') },
    { type: 'speech.audio.done', usage },
  ]);
}

function transcribe({ response_format: format, stream, bytes }: JsonObject): OtherAnswer {
  const text = `${made} It has received ${numberIn(bytes) ?? 0} bytes.`;
  const usage = {
    type: 'tokens',
    input_tokens: 10,
    output_tokens: countTokens(text),
    total_tokens: 10 + countTokens(text),
  };
  if (stream === 'true')
    return events([
      { type: 'transcript.text.delta', delta: text },
      { type: 'transcript.text.done', text, usage },
    ]);
  const plain = { type: 'text/plain; charset=utf-8' };
  if (format === 'text') return { ...plain, body: `${text}\n` };
  if (format === 'srt') return { ...plain, body: `1\n00:00:00,000 --> 00:00:02,000\n${text}\n` };
  if (format === 'vtt') return { ...plain, body: `WEBVTT\n\n00:00.000 --> 00:02.000\n${text}\n` };
  return json({ text, usage });
}

/** Flags texts with the directive `[[harmful]]`. */
function moderate({ model, input }: JsonObject): OtherAnswer {
  const results = requireTexts(input, 'input').map((text) => {
    const isHarmful = text.includes('[[harmful]]');
    return {
      flagged: isHarmful,
      categories: { harassment: isHarmful, violence: false },
      category_scores: { harassment: isHarmful ? 0.99 : 0.01, violence: 0.01 },
    };
  });
  return json({ id: createId('modr-'), model, results });
}

function rerank({ model, query, documents, top_n: most }: JsonObject): OtherAnswer {
  if (typeof query !== 'string') throw new ChatRequestError('`query` must be a text.', 'query');
  const sought = new Set(wordsIn(query));
  const texts = requireTexts(documents, 'documents');
  const scored = texts.map((text, index) => {
    const shared = wordsIn(text).filter((word) => sought.has(word)).length;
    return { index, relevance_score: sought.size === 0 ? 0 : Math.min(1, shared / sought.size) };
  });
  const results = scored.toSorted((a, b) => b.relevance_score - a.relevance_score).slice(0, numberIn(most));
  const tokens = countTokens([query, ...texts].join(' '));
  return json({ id: createId('rerank-'), model, results, usage: { total_tokens: tokens } });
}

/** Returns the texts of a text or of a list, whose other entries are left out. */
export function textsIn(value: JsonValue | undefined): string[] {
  return entriesOf(value).flatMap((entry) => textOf(entry) ?? []);
}

/** @throws ChatRequestError unless every entry is a text, or has a text part; the description of an image does not count */
function requireTexts(value: JsonValue | undefined, name: string): string[] {
  const texts = entriesOf(value).map((entry) =>
    isJsonObject(entry) && entry['type'] === 'image_url' ? '' : textOf(entry),
  );
  if (texts.length > 0 && texts.every((text) => text !== undefined)) return texts;
  throw new ChatRequestError(`\`${name}\` must be a text or a list of texts.`, name);
}

function entriesOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function textOf(entry: JsonValue): string | undefined {
  if (typeof entry === 'string') return entry;
  return isJsonObject(entry) && typeof entry['text'] === 'string' ? entry['text'] : undefined;
}

/** Reads a number, or a number as text, as in forms; undefined for 0 and any other value. */
function numberIn(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) || undefined : undefined;
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
