import type { Usage } from '#core/gateway/facts.ts';
import type { ReplyReader } from '#core/gateway/model-call/adapter.ts';
import { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { removeEmptyCounts } from '../../canonical/estimate.ts';
import type { UsageMeter } from '../../canonical/usage-meter.ts';
import type { ContentDigest } from '../../content/content-digest.ts';
import { asObject } from '../../wire/members.ts';

/** Where a format's replies name their model. */
export interface ModelPlace {
  /** The member's name, in non-streaming replies and in events. */
  readonly member: string;
  /** The member of an event that holds the reply; missing if the event itself names the model. */
  readonly parent?: string;
  /** Names of the events that name the model; missing if events have no names. */
  readonly events?: ReadonlySet<string>;
}

export interface AnsweredRequest {
  readonly body: JsonObject;
  /** The body with the middle of long texts cut out. */
  readonly outline: JsonObject;
  /** Id of the response that this request continues. */
  readonly previousId?: string | undefined;
}

/**
 * Adapts a reply that otherwise passes through unchanged: tags opaque reasoning state with its origin, and adds token counts if the
 * format's clients fail without them. Edits the text, so that every other byte stays the same.
 */
export interface ReplyAdapter {
  readonly meter: UsageMeter;
  /** @param reportedUsage usage that the upstream has reported so far, including in this event */
  adaptEvent(event: StreamEvent, reportedUsage?: Usage): string;
  /** @param body the parsed `text` */
  adaptReply(text: string, body: JsonObject, reportedUsage?: Usage): string;
  /** Applies the same changes to the finished reply; missing in formats whose replies are not stored. */
  adaptFinishedReply?(reply: JsonObject, reportedUsage?: Usage): JsonObject;
  /** Returns the text to append to a complete stream. */
  renderEnd?(reportedUsage?: Usage): string;
  /** Applies the same changes to the error that ends a stream. */
  adaptFailure?(text: string, reportedUsage?: Usage): string;
}

/** Prefixes a member's values with a tag, in JSON text. Quotes inside strings are escaped, so they do not match. */
export function tagMember(text: string, name: string, tag: string): string {
  if (!text.includes(`"${name}"`)) return text;
  return text.replace(new RegExp(`("${name}"\\s*:\\s*")(?=[^"])`, 'g'), `$1${tag}`);
}

/** Returns true if the upstream has reported non-zero counts for both prompt and reply. */
export function hasTokenCounts(
  usage: Usage | undefined,
): usage is Usage & { readonly input: number; readonly output: number } {
  if (usage === undefined) return false;
  const { input, output } = removeEmptyCounts(usage);
  return input !== undefined && output !== undefined;
}

/**
 * Adds a missing name to an event and returns its text. Some vendors omit the name, but Messages clients skip events without one and
 * Responses clients require one.
 */
export function addEventName(event: StreamEvent): string {
  if (event.name !== undefined) return event.text;
  const type = readEventType(event);
  return typeof type === 'string' ? `event: ${type}\n${event.text}` : event.text;
}

export function readEventType(event: StreamEvent): JsonValue | undefined {
  return event.name ?? event.parse()?.['type'];
}

export function replaceEventData(event: StreamEvent, data: JsonObject): StreamEvent {
  return replaceEventJson(event, JSON.stringify(data));
}

export function replaceEventJson(event: StreamEvent, json: string): StreamEvent {
  const text = writeData(event.text, json);
  return new StreamEvent({ name: event.name, data: json }, text, Buffer.from(text));
}

export function replaceDataInText(text: string, data: JsonObject): string {
  return writeData(text, JSON.stringify(data));
}

/** Does not use `join`, which would copy the data again; events can be long. */
function writeData(text: string, json: string): string {
  const otherLines = text.split(/\r\n|\n|\r/).filter((line) => line !== '' && !line.startsWith('data:'));
  return `${otherLines.map((line) => `${line}\n`).join('')}data: ${json}\n\n`;
}

/** Completes the reported usage: `counts` replace members that are missing or null. */
export function completeUsage(usage: JsonValue | undefined, counts: JsonObject): JsonObject {
  const usableMembers = Object.entries(asObject(usage)).filter(
    ([name, value]) => value !== null && value !== undefined && typeof counts[name] !== 'number',
  );
  return { ...counts, ...Object.fromEntries(usableMembers) };
}

/** Removes an empty error, which servers written in Go put into every reply, because SDKs throw if the member is present. */
export function removeEmptyError<T extends JsonObject>(body: T): T {
  const { error } = body;
  if (!isJsonObject(error) || isFilled(error)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'error')) as T;
}

/**
 * Repairs the reply of a vendor that deviates from the client's format, before anything else reads the reply. Returns the same event or
 * object if it needs no repair.
 */
export interface ReplyRepair {
  /** The failure that ends the reply, if the upstream did not report it itself. */
  readonly failure: GatewayError | undefined;
  repairEvent(event: StreamEvent): readonly StreamEvent[];
  /** @param text the text that `body` was parsed from */
  repairReply(body: JsonObject, text: string): JsonObject;
  /** See `ReplyReader`. */
  readonly held?: number;
  /** Notes on dropped parts, for the request log. */
  readonly notes?: readonly string[];
  /** The reply once it is complete; missing in formats whose replies are not stored. */
  readonly finishedReply?: JsonObject | undefined;
  /** Returns the content so far of a reply that is cut off; missing if the observer already has all of it. */
  readUnfinishedContent?(): ContentDigest;
  /** Renders the error that ends a stream together with the reply so far; missing if clients only get the error. */
  renderFailure?(error: GatewayError, usage: Usage | undefined): string;
}

/** Observes a reply that passes through, and reports the facts that the gateway needs. */
export interface ReplyObserver extends Pick<
  ReplyReader,
  'hasContent' | 'isComplete' | 'isFinished' | 'failure' | 'usage' | 'isPolicyRefusal' | 'answeredModel'
> {
  observeEvent(event: StreamEvent): void;
  observeReply(body: JsonObject): void;
  /** True after the stream's last event. Later events do not belong to the reply. */
  readonly isOver: boolean;
  /** The last event, which is appended to a complete stream that lacks it; missing in formats that have none. */
  readonly endMark?: string;
}
