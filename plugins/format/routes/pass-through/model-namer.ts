import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { JsonCursor, type MemberPosition } from '#core/platform/json-scan.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { ModelPlace } from '../../formats/contract/pass-through.ts';

/** Bytes that the events of a stream have in common at one end, with the upstream's name for the model and with the client's. */
interface Frame {
  readonly upstream: string; // ASCII only, so that characters and bytes have the same positions
  readonly client: Buffer;
}

type NameSpan = MemberPosition & { readonly end: number }; // with the quotes of the name

const maxFrameLength = 1_024; // characters
const eventEnd = '\n\n';
/** Matches the start of a data line. A JSON text of several lines continues after it. */
const dataField = /[\r\n]data:/g;
const dataFieldSpace = ' '.repeat('\ndata:'.length);

/**
 * Replaces the model's name in answers with the client's name for it. Every other byte stays unchanged.
 *
 * The events of a stream usually begin or end with the same bytes, which include the name. These bytes are looked for once and then
 * compared. JSON that begins or ends like another event has its members in the same places, so text from the model cannot be mistaken for
 * its name.
 */
export class ModelNamer {
  readonly #name: string;
  readonly #quotedName: string;
  readonly #place: ModelPlace;
  readonly #quotedMember: string;
  #head: Frame | undefined;
  #tail: Frame | undefined;

  constructor(name: string, place: ModelPlace) {
    this.#name = name;
    this.#quotedName = JSON.stringify(name);
    this.#place = place;
    this.#quotedMember = `"${place.member}"`;
  }

  renameEvent({ name, text, raw }: StreamEvent): Buffer {
    if (name !== undefined && this.#place.events?.has(name) === false) return raw;
    const head = this.#head;
    // Comparing slices is the fastest way.
    if (head !== undefined && text.slice(0, head.upstream.length) === head.upstream) return replaceHead(raw, head);
    const tail = this.#tail;
    if (tail !== undefined && text.endsWith(tail.upstream)) {
      // These events have the end in common rather than the beginning: the model's text comes before its name.
      this.#head = undefined;
      return replaceTail(raw, tail);
    }
    const span = this.#findName(text);
    if (span === undefined || text.startsWith(this.#quotedName, span.valueStart)) return raw;
    this.#head = createFrame(text.slice(0, span.end), text.slice(0, span.valueStart) + this.#quotedName);
    this.#tail = createFrame(
      text.slice(span.start - 1),
      text.slice(span.start - 1, span.valueStart) + this.#quotedName + text.slice(span.end),
    );
    // Not decoded as a whole, because the event may contain an image.
    return this.#renameByFrame(raw) ?? Buffer.from(this.#rename(text, span));
  }

  #renameByFrame(raw: Buffer): Buffer | undefined {
    if (this.#head !== undefined) return replaceHead(raw, this.#head);
    return this.#tail && replaceTail(raw, this.#tail);
  }

  renameEvents(text: string): string {
    if (!text.includes(this.#quotedMember)) return text;
    const renamed = text.split(eventEnd).map((event) => this.#rename(event, this.#findName(event)));
    return renamed.join(eventEnd);
  }

  renameReply(text: string): string {
    return this.#rename(text, this.#readName(new JsonCursor(text)));
  }

  renameFinished(answer: JsonObject): JsonObject {
    return this.#place.member in answer ? { ...answer, [this.#place.member]: this.#name } : answer;
  }

  #rename(text: string, span: NameSpan | undefined): string {
    return span === undefined ? text : text.slice(0, span.valueStart) + this.#quotedName + text.slice(span.end);
  }

  #findName(event: string): NameSpan | undefined {
    if (!event.includes(this.#quotedMember)) return undefined;
    const { parent } = this.#place;
    const start = event.indexOf('{', event.indexOf('data:'));
    const cursor = new JsonCursor(event.replaceAll(dataField, dataFieldSpace), start);
    return parent === undefined || cursor.enterMember(parent) !== undefined ? this.#readName(cursor) : undefined;
  }

  /** Finds the name in the object at the cursor; undefined if it is neither text nor null. */
  #readName(cursor: JsonCursor): NameSpan | undefined {
    const member = cursor.enterMember(this.#place.member);
    const value = member && cursor.readValue();
    const isName = value === 'null' || value?.startsWith('"') === true;
    return member !== undefined && isName ? { ...member, end: cursor.position } : undefined;
  }
}

function replaceHead(raw: Buffer, { upstream, client }: Frame): Buffer {
  const bytes = Buffer.allocUnsafe(client.length + raw.length - upstream.length);
  client.copy(bytes);
  raw.copy(bytes, client.length, upstream.length);
  return bytes;
}

function replaceTail(raw: Buffer, { upstream, client }: Frame): Buffer {
  const end = raw.length - upstream.length;
  const bytes = Buffer.allocUnsafe(end + client.length);
  raw.copy(bytes, 0, 0, end);
  client.copy(bytes, end);
  return bytes;
}

/** Creates a frame; undefined if comparing would cost more than searching, or if any character takes several bytes. */
function createFrame(upstream: string, client: string): Frame | undefined {
  if (upstream.length > maxFrameLength || Buffer.byteLength(upstream) !== upstream.length) return undefined;
  return { upstream, client: Buffer.from(client) };
}
