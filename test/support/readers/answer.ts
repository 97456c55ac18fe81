import { createParser } from 'eventsource-parser';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';

export type Finish = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'pause';

export interface Call {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: JsonValue;
  /** Input of a freeform tool, in place of arguments. */
  readonly input?: string;
}

export interface Counts {
  readonly input?: number; // cached tokens included
  readonly output?: number; // reasoning included
  readonly cached?: number;
  readonly written?: number; // to the cache
  readonly reasoning?: number;
}

/** What a client makes of an answer, whichever format it speaks. */
export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly Call[];
  readonly citations: readonly string[];
  /** Base64 data or address of the images that the model has made. */
  readonly images: readonly string[];
  /** The vendor's own word where the format has none like it. */
  readonly finish: Finish | string | undefined;
  readonly usage: Counts | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/**
 * Reads answers as the clients of one format do, official SDKs above all: written from the vendors' references and
 * independent of the product's decoders.
 */
export interface ClientReader {
  /** @throws Error where a client would fail, or miss something */
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

/** @throws Error when the stream ends inside an event */
export function eventsOf(stream: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  if (!/(\r\n|\n|\r)(\r\n|\n|\r)$/.test(stream)) throw new Error('the stream ends inside an event');
  createParser({ onEvent: ({ event, data }) => events.push({ name: event, data }) }).feed(stream);
  return events;
}

/** The data of a data URL, or the address itself. */
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

/** Texts of one answer that stand in blocks of their own, parted by a blank line. */
export function paragraphs(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}
