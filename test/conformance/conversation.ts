import type { JsonObject, JsonValue } from '#core/platform/json.ts';

/** A request independent of formats: as a client means it, and as an upstream understands it. */
export interface Ask {
  readonly system?: string | undefined;
  readonly entries: readonly Entry[];
  readonly tools?: readonly Tool[] | undefined;
  /** One call at a time. */
  readonly isSerial?: boolean | undefined;
  readonly effort?: string | undefined;
  /** JSON Schema that the answer must satisfy. */
  readonly schema?: JsonObject | undefined;
  readonly stop?: readonly string[] | undefined;
  /** Tokens of the answer. */
  readonly limit?: number | undefined;
}

export type Entry =
  | { readonly type: 'text'; readonly by: 'user' | 'model'; readonly text: string }
  | { readonly type: 'image'; readonly image: string } // data URL or URL
  | Thought
  | Call
  | Result
  /** An answer in the format in which the client received it; `turn` counts from 0. */
  | { readonly type: 'echo'; readonly turn: number; readonly forgets?: boolean };

export interface Thought {
  readonly type: 'thought';
  readonly text: string;
  /** The signature of its upstream; undefined when it returned without. */
  readonly signature: string | undefined;
}

export interface Call {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  /** An object; a string for freeform tools. */
  readonly input: JsonValue;
}

export interface Result {
  readonly type: 'result';
  readonly id: string;
  readonly text: string;
  readonly image?: string | undefined; // data URL
  readonly isError?: boolean | undefined;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** Undefined for tools without arguments and freeform tools. */
  readonly schema?: JsonObject | undefined;
  /** Lark, of a freeform tool. */
  readonly grammar?: string | undefined;
}

/** What an upstream answers. */
export interface Answer {
  readonly blocks: readonly AnswerBlock[];
  readonly end: End;
  readonly stopSequence?: string | undefined;
  /** The continuation from an upstream without stop sequences. */
  readonly unstopped?: string | undefined;
  /** Undefined when the upstream does not count. */
  readonly usage: Usage | undefined;
  /** True when the upstream streams to a client that wants a whole answer, and the reverse. */
  readonly isOtherKind?: boolean;
}

export type AnswerBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly text: string }
  | Thought
  | Call;

/** `withheld`: refused by the model, or filtered. */
export type End = 'stop' | 'stop_sequence' | 'length' | 'calls' | 'withheld';

export interface Usage {
  readonly input: number; // tokens, cached ones included
  readonly cached: number;
  readonly output: number; // reasoning included
  readonly thinking: number;
}

/** Error responses of upstreams. */
export type Failure = 'overflow' | 'rate limit' | 'bad key';

/** An answer as a client received it. */
export interface ClientAnswer {
  /** The text of a refusal included. */
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly Call[];
  readonly end: End | undefined;
  readonly stopSequence: string | undefined;
  readonly usage: Usage | undefined;
}

/** An entry independent of formats. */
export type PlainEntry = Exclude<Entry, { readonly type: 'echo' }>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; empty for anything else. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

export function maybeText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Media type and base64 of a data URL; undefined for other URLs. */
export function splitDataUrl(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  const match = /^data:([^;,]+);base64,(.*)$/.exec(url);
  return match === null ? undefined : { mediaType: match[1] as string, data: match[2] as string };
}

export function dataUrl(mediaType: unknown, data: unknown): string {
  return `data:${textOf(mediaType)};base64,${textOf(data)}`;
}

/** An object or freeform text as formats write the input of a call: JSON text, or the text itself. */
export function parseInput(text: string): JsonValue {
  return JSON.parse(text === '' ? '{}' : text) as JsonValue;
}

/** Without undefined members, as in JSON. */
export function compact(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

/** Without some members. */
export function omit(value: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}
