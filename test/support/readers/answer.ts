import { createParser } from 'eventsource-parser';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';

export type Finish = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'pause';

export interface Call {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: JsonValue;
  readonly input?: string; // of a freeform tool, instead of arguments
}

export interface Counts {
  readonly input?: number; // cached tokens included
  readonly output?: number; // reasoning included
  readonly cached?: number;
  readonly written?: number; // written to the cache
  readonly reasoning?: number;
}

/** An answer as a client understands it, regardless of its format. */
export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly Call[];
  readonly citations: readonly string[];
  readonly images: readonly string[]; // base64 data or URL of each that the model created
  readonly finish: Finish | string | undefined; // the vendor's own value if the format has no equivalent
  readonly usage: Counts | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/**
 * Reads answers as the clients of one format do, above all official SDKs. Written from the vendors' references, independently of the
 * product's decoders.
 */
export interface ClientReader {
  /** @throws Error if a client would fail or miss something */
  stream(text: string): Answer;
  whole(body: JsonObject): Answer;
}

export const nothing: Answer = {
  text: '',
  reasoning: '',
  refusal: '',
  calls: [],
  citations: [],
  images: [],
  finish: undefined,
  usage: undefined,
  error: undefined,
};

interface StreamEvent {
  readonly name: string | undefined;
  readonly data: string;
}

/** @throws Error if the stream ends inside an event */
export function eventsOf(stream: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  if (!/(\r\n|\n|\r)(\r\n|\n|\r)$/.test(stream)) throw new Error('the stream ends inside an event');
  createParser({ onEvent: ({ event, data }) => events.push({ name: event, data }) }).feed(stream);
  return events;
}

export function imageAt(url: string): string {
  return url.replace(/^data:image\/\w+;base64,/, '');
}

export function check(isRight: boolean, mistake: string): asserts isRight {
  if (!isRight) throw new Error(mistake);
}

export function object(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function string(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function number(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function paragraphs(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}
