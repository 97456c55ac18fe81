import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import type { ChaosFormat } from './answers.ts';

/** What a client has read so far. */
export interface Reading {
  text: string;
  /** True when the answer has ended as its format requires. */
  isComplete: boolean;
  /** True when the format does not allow something that arrived. */
  isMalformed: boolean;
  /** Code, or else type, of the error in the answer. */
  code: string | undefined;
  /** The last characters, as they were received. */
  received: string;
}

const awaited = new Map<string, () => void>();

/**
 * Waits until any client has read this, or `closed`. A stream that breaks off earlier may be taken over by another route.
 */
export async function untilRead(words: string, closed: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  awaited.set(words, resolve);
  await Promise.race([promise, closed]);
  awaited.delete(words);
}

/** Resolves what waits for a part of this text. */
export function noteRead({ text }: Reading): void {
  for (const [words, resolve] of awaited) {
    if (text.includes(words)) resolve();
  }
}

/** Reads a whole body. */
export function readWhole(format: ChaosFormat, text: string, reading: Reading): void {
  const body = parseObject(text);
  if (body === undefined) {
    reading.isMalformed = true;
    return;
  }
  if (readError(format, body, reading)) return;
  reading.text = textsIn(format, body).join('');
  reading.isComplete = reading.text !== '';
}

/** Reads one event of a stream. */
export function readEvent(format: ChaosFormat, data: string, reading: Reading): void {
  if (format === 'chat' && data === '[DONE]') {
    reading.isComplete = sawFinish.has(reading);
    return;
  }
  const event = parseObject(data);
  if (event === undefined) reading.isMalformed = true;
  else if (!readError(format, event, reading)) eventReaders[format](event, reading);
}

const sawFinish = new WeakSet<Reading>();

const eventReaders: Readonly<Record<ChaosFormat, (event: JsonObject, reading: Reading) => void>> = {
  chat(event, reading) {
    for (const choice of objects(event['choices'])) {
      reading.text += textOf(choice['delta'], 'content');
      if (typeof choice['finish_reason'] === 'string') sawFinish.add(reading);
    }
  },
  messages(event, reading) {
    if (event['type'] === 'content_block_delta') reading.text += textOf(event['delta'], 'text');
    if (event['type'] === 'message_stop') reading.isComplete = true;
  },
  gemini(event, reading) {
    for (const { content, finishReason } of objects(event['candidates'])) {
      reading.text += partsOf(content).join('');
      if (typeof finishReason === 'string') reading.isComplete = true;
    }
  },
  responses(event, reading) {
    if (event['type'] === 'response.output_text.delta') reading.text += textOf(event, 'delta');
    if (event['type'] === 'response.completed') reading.isComplete = true;
  },
};

/** Shapes of errors: OpenAI, Anthropic and Gemini API references, "Errors" and "Streaming". */
function readError(format: ChaosFormat, value: JsonObject, reading: Reading): boolean {
  const failed = format === 'responses' && value['type'] === 'response.failed' ? value['response'] : value;
  if (!isJsonObject(failed) || !isJsonObject(failed['error'])) return false;
  const { code, type, message, status } = failed['error'];
  const hasStatus = typeof code === 'number' && typeof status === 'string';
  const isEvent = value['type'] === 'error';
  // Responses has an error event beside its failed response.
  const isOwn = (format === 'responses' || (format === 'messages') === isEvent) && (format === 'gemini') === hasStatus;
  if (typeof message === 'string' && isOwn) reading.code = String(status ?? code ?? type);
  else reading.isMalformed = true;
  return true;
}

function textsIn(format: ChaosFormat, body: JsonObject): string[] {
  if (format === 'chat') return objects(body['choices']).map(({ message }) => textOf(message, 'content'));
  if (format === 'messages') return objects(body['content']).map((block) => textOf(block, 'text'));
  if (format === 'gemini') return objects(body['candidates']).flatMap(({ content }) => partsOf(content));
  return objects(body['output']).flatMap((item) => objects(item['content']).map((part) => textOf(part, 'text')));
}

function partsOf(content: unknown): string[] {
  return isJsonObject(content) ? objects(content['parts']).map((part) => textOf(part, 'text')) : [];
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: unknown, name: string): string {
  const text = isJsonObject(value) ? value[name] : undefined;
  return typeof text === 'string' ? text : '';
}

function parseObject(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
