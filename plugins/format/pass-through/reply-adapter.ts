import type { Usage } from '#core/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { StreamEvent } from '#core/model-call/event-framer.ts';
import type { UsageMeter } from './usage-meter.ts';

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
  /** Id of the response that it continues. */
  readonly previousId?: string | undefined;
}

/**
 * Changes in a reply that otherwise passes as it came: opaque reasoning state gets a tag of its origin, and token counts
 * are added where clients of the format fail without them. Works on the text, so that every other byte stays.
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
  /** What the client gets at the end of a complete stream. */
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
  const type = event.parse()?.['type'];
  return typeof type === 'string' ? `event: ${type}\n${event.text}` : event.text;
}

/** Writes an event again with other data. */
export function rewriteData(text: string, data: JsonObject): string {
  const head = text.split(/\r\n|\n|\r/).filter((line) => line !== '' && !line.startsWith('data:'));
  return `${[...head, `data: ${JSON.stringify(data)}`].join('\n')}\n\n`;
}

/** The reported usage, with `counts` for those that are missing or null. */
export function filledUsage(given: JsonValue | undefined, counts: JsonObject): JsonObject {
  const reported = Object.entries(objectOr(given)).filter(
    ([name, value]) => value !== null && value !== undefined && typeof counts[name] !== 'number',
  );
  return { ...counts, ...Object.fromEntries(reported) };
}

/** The value if it is an object, an empty one otherwise. */
export function objectOr(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
