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
  /** The member of an event that holds the answer; missing if the event itself names the model. */
  readonly parent?: string;
  /** Names of the events that name the model; missing if events have no names. */
  readonly events?: ReadonlySet<string>;
}

/** The request that a reply answers. */
export interface AnsweredRequest {
  readonly body: JsonObject;
  /** The body without the middle of its long texts. */
  readonly outline: JsonObject;
  /** Id of the response that the request continues. */
  readonly previousId?: string | undefined;
}

/**
 * Changes to a reply that otherwise passes through unchanged: opaque reasoning state gets a tag of its origin, and token
 * counts are added if clients of the format fail without them. Edits the text, so that every other byte stays the same.
 */
export interface ReplyAdapter {
  readonly meter: UsageMeter;
  /**
   * Returns the event for the client.
   *
   * @param counted counts reported by the upstream so far, including this event
   */
  event(event: StreamEvent, counted?: Usage): string;
  /** @param body the parsed `text` */
  whole(text: string, body: JsonObject, counted?: Usage): string;
  /** Applies the changes to the finished answer; missing in formats whose answers are not stored. */
  finished?(answer: JsonObject, counted?: Usage): JsonObject;
  /** Text to append to a complete stream. */
  end?(counted?: Usage): string;
  /** Applies the changes to the error that ends a stream. */
  failure?(text: string, counted?: Usage): string;
}

/** Prefixes the values of a member with a tag. Quotes inside strings are escaped and do not match. */
export function tagMember(text: string, name: string, tag: string): string {
  if (!text.includes(`"${name}"`)) return text;
  return text.replace(new RegExp(`("${name}"\\s*:\\s*")(?=[^"])`, 'g'), `$1${tag}`);
}

/** Whether the upstream has reported counts for both the prompt and the answer. */
export function isCounted(
  usage: Usage | undefined,
): usage is Usage & { readonly input: number; readonly output: number } {
  return usage?.input !== undefined && usage.output !== undefined;
}

/**
 * Adds a missing name to an event: Messages clients skip events without a name and Responses clients require one, but some
 * vendors omit it.
 */
export function withName(event: StreamEvent): string {
  if (event.name !== undefined) return event.text;
  const type = typeOf(event);
  return typeof type === 'string' ? `event: ${type}\n${event.text}` : event.text;
}

/** Name of an event, or the type in its data. */
export function typeOf(event: StreamEvent): JsonValue | undefined {
  return event.name ?? event.parse()?.['type'];
}

export function withData(event: StreamEvent, data: JsonObject): StreamEvent {
  const json = JSON.stringify(data);
  const text = writeData(event.text, json);
  return new StreamEvent({ name: event.name, data: json }, text, Buffer.from(text));
}

export function rewriteData(text: string, data: JsonObject): string {
  return writeData(text, JSON.stringify(data));
}

/** Avoids `join`, which would create one more copy of the data: events can be long. */
function writeData(text: string, json: string): string {
  const head = text.split(/\r\n|\n|\r/).filter((line) => line !== '' && !line.startsWith('data:'));
  return `${head.map((line) => `${line}\n`).join('')}data: ${json}\n\n`;
}

/** The reported usage, completed by `counts` for members that are missing or null. */
export function filledUsage(given: JsonValue | undefined, counts: JsonObject): JsonObject {
  const reported = Object.entries(objectOr(given)).filter(
    ([name, value]) => value !== null && value !== undefined && typeof counts[name] !== 'number',
  );
  return { ...counts, ...Object.fromEntries(reported) };
}

/** Removes an empty error, which servers in Go write into each answer: SDKs throw if the member is present. */
export function withoutEmptyError<T extends JsonObject>(body: T): T {
  const { error } = body;
  if (!isJsonObject(error) || isFilled(error)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'error')) as T;
}

/** The value if it is an object, otherwise an empty object. */
export function objectOr(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/**
 * Repairs the reply of a vendor that deviates from the client's format, before anything else reads it. Clean replies are not
 * copied: the same event or object is returned.
 */
export interface ReplyRepair {
  /** Failure that ends the reply, if the reply itself reports no error. */
  readonly failure: GatewayError | undefined;
  event(event: StreamEvent): readonly StreamEvent[];
  /**
   * Repairs a whole reply.
   *
   * @param text text from which the body was parsed
   */
  whole(body: JsonObject, text: string): JsonObject;
  /** See `ReplyReader`. */
  readonly held?: number;
  /** Notes on dropped parts, for the request's record. */
  readonly notes?: readonly string[];
  /** The answer once it is complete; missing in formats whose answers are not stored. */
  readonly finished?: JsonObject | undefined;
  /** Content so far of an answer that breaks off, if only the content of ended parts is known. */
  unfinished?(): ContentDigest;
  /** Renders the error that ends a stream together with the answer so far; missing if clients get only the error. */
  renderFailure?(error: GatewayError, usage: Usage | undefined): string;
}

/** Reads along while a reply passes through, and reports the properties that the gateway needs. */
export interface ReplyObserver {
  event(event: StreamEvent): void;
  whole(body: JsonObject): void;
  readonly hasContent: boolean;
  /** See `ReplyReader`. */
  readonly isComplete: boolean;
  /** See `ReplyReader`. */
  readonly isFinished: boolean;
  /** True after the last event of the stream: later events do not belong to the answer. */
  readonly isOver: boolean;
  /** The last event of a stream, to be added to a complete stream that lacks it; missing in formats without such an event. */
  readonly endMark?: string;
  readonly failure: GatewayError | undefined;
  readonly usage: Usage | undefined;
  /** See `ReplyReader`; missing in formats whose answers do not report it. */
  readonly isPolicyRefusal?: boolean;
  /** See `ReplyReader`. */
  readonly answeredModel?: string | undefined;
}
