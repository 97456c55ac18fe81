import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { ContentDigest } from '../../content/content-digest.ts';
import type { UsageMeter } from '../../canonical/usage-meter.ts';

/** Where the answers of a format name their model. */
export interface ModelPlace {
  /** Member of a non-streaming reply. */
  readonly member: string;
  /** The member of an event that holds an answer; left out where an event names the model itself. */
  readonly parent?: string;
  /** Names of the events that name it; left out where events have no names. */
  readonly events?: ReadonlySet<string>;
}

/** The request that a reply answers. */
export interface AnsweredRequest {
  readonly body: JsonObject;
  /** The body without the middle of its long texts. */
  readonly outline: JsonObject;
  /** Id of the response that it continues. */
  readonly previousId?: string | undefined;
}

/**
 * Changes to a reply that otherwise passes through unchanged: opaque reasoning state gets a tag of its origin, and token
 * counts are added where clients of the format fail without them. Works on the text, so that every other byte stays.
 */
export interface ReplyAdapter {
  readonly meter: UsageMeter;
  /**
   * Returns what the client gets for an event.
   *
   * @param counted what the upstream has counted, this event included
   */
  event(event: StreamEvent, counted?: Usage): string;
  /** @param body the object in `text` */
  whole(text: string, body: JsonObject, counted?: Usage): string;
  /** The finished answer with the same changes; missing in formats whose answers are not stored. */
  finished?(answer: JsonObject, counted?: Usage): JsonObject;
  /** Bytes for the client at the end of a complete stream. */
  end?(counted?: Usage): string;
  /** The same for the error that ends a stream. */
  failure?(text: string, counted?: Usage): string;
}

/** Puts a tag in front of the values of a member. Quotes inside strings are escaped and do not match. */
export function tagMember(text: string, name: string, tag: string): string {
  if (!text.includes(`"${name}"`)) return text;
  return text.replace(new RegExp(`("${name}"\\s*:\\s*")(?=[^"])`, 'g'), `$1${tag}`);
}

/** True when the upstream has counted both the prompt and the answer. */
export function isCounted(
  usage: Usage | undefined,
): usage is Usage & { readonly input: number; readonly output: number } {
  return usage?.input !== undefined && usage.output !== undefined;
}

/**
 * The event with its name: clients of Messages skip events without one and those of Responses insist on it, but some
 * vendors leave it out.
 */
export function withName(event: StreamEvent): string {
  if (event.name !== undefined) return event.text;
  const type = typeOf(event);
  return typeof type === 'string' ? `event: ${type}\n${event.text}` : event.text;
}

/** The name of an event, or the type in its data. */
export function typeOf(event: StreamEvent): JsonValue | undefined {
  return event.name ?? event.parse()?.['type'];
}

/** The event with other data. */
export function withData(event: StreamEvent, data: JsonObject): StreamEvent {
  const json = JSON.stringify(data);
  const text = writeData(event.text, json);
  return new StreamEvent({ name: event.name, data: json }, text, Buffer.from(text));
}

/** The text of an event with other data. */
export function rewriteData(text: string, data: JsonObject): string {
  return writeData(text, JSON.stringify(data));
}

/** A long event should have few copies of its data: `join` would make one more. */
function writeData(text: string, json: string): string {
  const head = text.split(/\r\n|\n|\r/).filter((line) => line !== '' && !line.startsWith('data:'));
  return `${head.map((line) => `${line}\n`).join('')}data: ${json}\n\n`;
}

/** The reported usage, with `counts` for those that are missing or null. */
export function filledUsage(given: JsonValue | undefined, counts: JsonObject): JsonObject {
  const reported = Object.entries(objectOr(given)).filter(
    ([name, value]) => value !== null && value !== undefined && typeof counts[name] !== 'number',
  );
  return { ...counts, ...Object.fromEntries(reported) };
}

/** The body without an error that says nothing, which servers in Go write into each answer: the SDKs throw on its presence. */
export function withoutEmptyError<T extends JsonObject>(body: T): T {
  const { error } = body;
  if (!isJsonObject(error) || isFilled(error)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'error')) as T;
}

/** The value if it is an object, an empty one otherwise. */
export function objectOr(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/**
 * Repairs the reply of a vendor that deviates from the client's format, in place and before anything else reads it. Clean
 * replies pass unchanged: the same event, the same object.
 */
export interface ReplyRepair {
  /** The failure with which the reply ends, if it has no error of its own. */
  readonly failure: GatewayError | undefined;
  event(event: StreamEvent): readonly StreamEvent[];
  /** The whole reply. @param text of which the body was parsed */
  whole(body: JsonObject, text: string): JsonObject;
  /** See `ReplyReader`. */
  readonly held?: number;
  /** Parts that were left out, for the record. */
  readonly notes?: readonly string[];
  /** The whole answer, once it is complete; missing in formats whose answers are not stored. */
  readonly finished?: JsonObject | undefined;
  /** The content so far of an answer that breaks off, where that is only known of what has ended. */
  unfinished?(): ContentDigest;
  /** Writes the error that ends a stream, with the answer so far; missing where clients get the error alone. */
  renderFailure?(error: GatewayError, usage: Usage | undefined): string;
}

/** Reads along while a reply of one format passes through, and reports what the gateway needs to know of it. */
export interface ReplyObserver {
  event(event: StreamEvent): void;
  whole(body: JsonObject): void;
  readonly hasContent: boolean;
  /** See `ReplyReader`. */
  readonly isComplete: boolean;
  /** See `ReplyReader`. */
  readonly isFinished: boolean;
  /** True after the last event of the stream: what follows does not belong to the answer. */
  readonly isOver: boolean;
  /** The last event of a stream, for a complete one that lacks it; missing in formats whose streams end without one. */
  readonly endMark?: string;
  readonly failure: GatewayError | undefined;
  readonly usage: Usage | undefined;
  /** See `ReplyReader`; missing in formats whose answers do not tell. */
  readonly isPolicyRefusal?: boolean;
  /** See `ReplyReader`. */
  readonly answeredModel?: string | undefined;
}
