import { truncationMark, maxNotes } from '#core/gateway/model-call/notes-header.ts';
import { GatewayError } from '#core/platform/errors/table.ts';

const maxNoteLength = 120; // characters; notes travel in a header

interface DroppedPart {
  readonly kind: string;
  readonly path: string;
}

/**
 * Collects the losses and approximations of a translation, for client and operator, without duplicates. Notes name parameters and features,
 * never values.
 */
export class Notes {
  readonly #entries = new Set<string>();
  #isTruncated = false;
  #lastDroppedPart: DroppedPart | undefined;

  /** @param feature a feature such as `images in tool results`, or a parameter such as `logit_bias` */
  drop(feature: string): void {
    this.#add(`dropped ${feature}`);
  }

  dropPart(kind: string, path: string): void {
    this.drop(kind);
    this.#lastDroppedPart = { kind, path };
  }

  get lastDroppedPart(): DroppedPart | undefined {
    return this.#lastDroppedPart;
  }

  /** @param change the feature and its replacement, such as `json_schema as instruction` */
  approximate(change: string): void {
    this.#add(`approximated ${change}`);
  }

  noteMissing(part: string): void {
    this.#add(`missing ${part}`);
  }

  /** @param resource a resource that accounts would otherwise share */
  noteSeparated(resource: string): void {
    this.#add(`separated ${resource}`);
  }

  dropUnknown(body: object, supported: ReadonlySet<string>): void {
    for (const [name, value] of Object.entries(body)) {
      if (!supported.has(name) && value !== null && value !== undefined) this.drop(name);
    }
  }

  /** @param holder the object's name in notes, such as `tools` in `allowed_callers of tools` */
  dropMembers<T extends object>(object: T, names: readonly (keyof T & string)[], holder: string): void {
    for (const name of names) {
      const value: unknown = object[name];
      if (value !== null && value !== undefined && value !== false) this.drop(`${name} of ${holder}`);
    }
  }

  addAll(notes: Notes): void {
    for (const entry of notes.#entries) this.#add(entry);
    this.#isTruncated ||= notes.#isTruncated;
  }

  get entries(): readonly string[] {
    return this.#isTruncated ? [...this.#entries, truncationMark] : [...this.#entries];
  }

  #add(entry: string): void {
    if (this.#entries.has(entry)) return;
    // Headers are ASCII, and semicolons separate notes.
    const headerText = entry
      .replace(/[^\x20-\x7e]/g, '?')
      .replaceAll(';', ',')
      .slice(0, maxNoteLength);
    if (this.#entries.has(headerText)) return;
    if (this.#entries.size < maxNotes) this.#entries.add(headerText);
    else this.#isTruncated = true;
  }
}

/**
 * Refuses a request whose last message would be empty, because it consists only of parts of unknown types.
 *
 * @param path path of the last message, none of whose parts were read
 * @throws GatewayError `unsupported_content` naming the part
 */
export function refuseUnreadMessage(path: string, { lastDroppedPart }: Notes): void {
  if (lastDroppedPart === undefined || !lastDroppedPart.path.startsWith(path)) return;
  const kind = lastDroppedPart.kind.slice(0, 80);
  const message = kind.startsWith('input item')
    ? `This model does not support ${kind}.`
    : `This model does not support ${kind}, and the message has no other content.`;
  throw new GatewayError('unsupported_content', message, { param: lastDroppedPart.path });
}
