import type { JsonObject, JsonValue } from '#core/json.ts';

/** A request in no format's words: as a client asks, and as an upstream has understood. */
export interface Ask {
  readonly system?: string | undefined;
  readonly said: readonly Entry[];
  readonly tools?: readonly Tool[] | undefined;
  /** One call at a time. */
  readonly isSerial?: boolean | undefined;
  readonly effort?: string | undefined;
  /** JSON Schema that the answer has to keep. */
  readonly schema?: JsonObject | undefined;
  readonly stop?: readonly string[] | undefined;
  /** Tokens of the answer. */
  readonly limit?: number | undefined;
}

export type Entry =
  | { readonly type: 'text'; readonly by: 'user' | 'model'; readonly text: string }
  | { readonly type: 'image'; readonly image: string } // data URL, or address
  | Thought
  | Call
  | Result
  /** What a model has answered, in the words in which the client got it; `turn` counts from 0. */
  | { readonly type: 'echo'; readonly turn: number; readonly forgets?: boolean };

export interface Thought {
  readonly type: 'thought';
  readonly text: string;
  /** As the upstream that made it has sealed it; undefined when it came back without. */
  readonly seal: string | undefined;
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
  /** Undefined when it takes nothing, and for freeform tools. */
  readonly schema?: JsonObject | undefined;
  /** Lark, of a freeform tool. */
  readonly grammar?: string | undefined;
}

/** What an upstream answers. */
export interface Answer {
  readonly blocks: readonly AnswerBlock[];
  readonly end: End;
  readonly stopSequence?: string | undefined;
  /** What an upstream says further on that knows no stop sequences. */
  readonly unstopped?: string | undefined;
  /** Undefined when the upstream does not count. */
  readonly usage: Usage | undefined;
  /** True when a stream is answered to who wanted the whole, and the other way round. */
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
  readonly output: number; // thoughts included
  readonly thinking: number;
}

/** Errors that upstreams answer with. */
export type Failure = 'overflow' | 'rate limit' | 'bad key';

/** What a client has seen of an answer. */
export interface Seen {
  /** A refusal's words too. */
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly Call[];
  readonly end: End | undefined;
  readonly stopSequence: string | undefined;
  readonly usage: Usage | undefined;
}

/** An entry that is said in words of our own. */
export type Spoken = Exclude<Entry, { readonly type: 'echo' }>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; none when there is no list. */
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

/** Media type and base64 of a data URL; undefined for other addresses. */
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

/** Without members that are undefined, as it travels. */
export function compact(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
