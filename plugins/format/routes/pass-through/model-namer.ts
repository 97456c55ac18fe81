import type { JsonObject } from '#core/platform/json.ts';
import { findMember, type MemberSpan } from '#core/platform/json-scan.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { ModelPlace } from '../../formats/contract/pass-through.ts';

/** The bytes that all events of a stream share at one end, with the upstream's name of the model and with the client's. */
interface Frame {
  readonly given: string; // ASCII, so that a character is a byte
  readonly named: Buffer;
}

const longestFrame = 1_024; // characters
const eventEnd = '\n\n';

/**
 * Writes the name under which the client knows the model into answers, and keeps every other byte.
 *
 * The events of a stream begin, or end, with the same bytes as a rule, the name among them. They are found once and then
 * compared: a JSON text that begins, or ends, like another has its members in the same place, so that no text of the model
 * can be taken for its name.
 */
export class ModelNamer {
  readonly #name: string;
  readonly #json: string;
  readonly #place: ModelPlace;
  readonly #quotedMember: string;
  #head: Frame | undefined;
  #tail: Frame | undefined;

  constructor(name: string, place: ModelPlace) {
    this.#name = name;
    this.#json = JSON.stringify(name);
    this.#place = place;
    this.#quotedMember = `"${place.member}"`;
  }

  event({ name, text, raw }: StreamEvent): Buffer {
    if (name !== undefined && this.#place.events?.has(name) === false) return raw;
    const head = this.#head;
    // Comparing slices is the fastest way.
    if (head !== undefined && text.slice(0, head.given.length) === head.given) return withHead(raw, head);
    const tail = this.#tail;
    if (tail !== undefined && text.endsWith(tail.given)) {
      // Events that end alike do not begin alike: the text of the model stands before its name.
      this.#head = undefined;
      return withTail(raw, tail);
    }
    const found = this.#find(text);
    if (found === undefined || text.startsWith(this.#json, found.begin)) return raw;
    this.#head = frameOf(text.slice(0, found.end), text.slice(0, found.begin) + this.#json);
    this.#tail = frameOf(
      text.slice(found.nameBegin - 1),
      text.slice(found.nameBegin - 1, found.begin) + this.#json + text.slice(found.end),
    );
    return this.#framed(raw) ?? Buffer.from(this.#written(text, found));
  }

  /** Works on bytes: an event may be an image. */
  #framed(raw: Buffer): Buffer | undefined {
    if (this.#head !== undefined) return withHead(raw, this.#head);
    return this.#tail && withTail(raw, this.#tail);
  }

  /** The same for the text of any number of events. */
  events(text: string): string {
    if (!text.includes(this.#quotedMember)) return text;
    const named = text.split(eventEnd).map((event) => this.#written(event, this.#find(event)));
    return named.join(eventEnd);
  }

  whole(text: string): string {
    return this.#written(text, wordOf(findMember(text, this.#place.member)));
  }

  /** The same for an answer that is stored. */
  finished(answer: JsonObject): JsonObject {
    return this.#place.member in answer ? { ...answer, [this.#place.member]: this.#name } : answer;
  }

  #written(text: string, found: MemberSpan | undefined): string {
    return found === undefined ? text : text.slice(0, found.begin) + this.#json + text.slice(found.end);
  }

  #find(event: string): MemberSpan | undefined {
    if (!event.includes(this.#quotedMember)) return undefined;
    const { member, parent } = this.#place;
    const begin = event.indexOf('{', event.indexOf('data:'));
    if (parent === undefined) return wordOf(findMember(event, member, begin));
    const inner = findMember(event, parent, begin);
    return inner && wordOf(findMember(event, member, inner.begin));
  }
}

/** The member unless its value is more than a text or null. */
function wordOf(found: MemberSpan | undefined): MemberSpan | undefined {
  return found === undefined || found.begin === found.end ? undefined : found;
}

function withHead(raw: Buffer, { given, named }: Frame): Buffer {
  const bytes = Buffer.allocUnsafe(named.length + raw.length - given.length);
  named.copy(bytes);
  raw.copy(bytes, named.length, given.length);
  return bytes;
}

function withTail(raw: Buffer, { given, named }: Frame): Buffer {
  const end = raw.length - given.length;
  const bytes = Buffer.allocUnsafe(end + named.length);
  raw.copy(bytes, 0, 0, end);
  named.copy(bytes, end);
  return bytes;
}

/** Undefined if comparing would cost more than searching, or a character is not one byte. */
function frameOf(given: string, named: string): Frame | undefined {
  if (given.length > longestFrame || Buffer.byteLength(given) !== given.length) return undefined;
  return { given, named: Buffer.from(named) };
}
