import { GatewayError } from '#core/platform/errors/table.ts';
import { truncationMark, maxNotes } from '#core/gateway/model-call/notes-header.ts';

const maxNoteLength = 120; // characters; notes are sent in a header

/** A part of a request that a conversation cannot hold. */
interface DroppedPart {
  readonly what: string;
  readonly path: string;
}

/**
 * Collects what a translation dropped or approximated, for client and operator, without duplicates. Notes name parameters
 * and features, never values.
 */
export class Notes {
  readonly #entries = new Set<string>();
  #isCut = false;
  #lastPart: DroppedPart | undefined;

  /** @param what a parameter such as `logit_bias` or a feature such as `images in tool results` */
  drop(what: string): void {
    this.#add(`dropped ${what}`);
  }

  /** @param path path of the part, such as `messages[2].content[0]` */
  dropPart(what: string, path: string): void {
    this.drop(what);
    this.#lastPart = { what, path };
  }

  get lastPart(): DroppedPart | undefined {
    return this.#lastPart;
  }

  /** @param how the parameter and its replacement, such as `json_schema as instruction` */
  approximate(how: string): void {
    this.#add(`approximated ${how}`);
  }

  /** @param what a part that is missing in the upstream's reply */
  miss(what: string): void {
    this.#add(`missing ${what}`);
  }

  /** @param what a resource that accounts otherwise share */
  separate(what: string): void {
    this.#add(`separated ${what}`);
  }

  dropUnknown(body: object, known: ReadonlySet<string>): void {
    for (const [name, value] of Object.entries(body)) {
      if (!known.has(name) && value !== null && value !== undefined) this.drop(name);
    }
  }

  /**
   * Notes each of the named members that is set.
   *
   * @param holder such as `tools` in `allowed_callers of tools`
   */
  dropMembers<T extends object>(object: T, names: readonly (keyof T & string)[], holder: string): void {
    for (const name of names) {
      const value: unknown = object[name];
      if (value !== null && value !== undefined && value !== false) this.drop(`${name} of ${holder}`);
    }
  }

  include(others: Notes): void {
    for (const entry of others.#entries) this.#add(entry);
    this.#isCut ||= others.#isCut;
  }

  get entries(): readonly string[] {
    return this.#isCut ? [...this.#entries, truncationMark] : [...this.#entries];
  }

  /** Notes are sent in a header: only visible ASCII is allowed, without the separating semicolon. */
  #add(entry: string): void {
    if (this.#entries.has(entry)) return;
    const plain = entry
      .replace(/[^\x20-\x7e]/g, '?')
      .replaceAll(';', ',')
      .slice(0, maxNoteLength);
    if (this.#entries.has(plain)) return;
    if (this.#entries.size < maxNotes) this.#entries.add(plain);
    else this.#isCut = true;
  }
}

/**
 * Refuses a request whose last message consists only of parts of unknown types and would be empty without them.
 *
 * @param path path of the last message, none of which is in the conversation
 * @throws GatewayError `unsupported_content` naming the part
 */
export function refuseUnread(path: string, { lastPart }: Notes): void {
  if (lastPart === undefined || !lastPart.path.startsWith(path)) return;
  const what = lastPart.what.slice(0, 80);
  const message = what.startsWith('input item')
    ? `This model does not support ${what}.`
    : `This model does not support ${what}, and the message has nothing else.`;
  throw new GatewayError('unsupported_content', message, { param: lastPart.path });
}
