import type { Delivery } from '#core/gateway/facts.ts';
import { formatNotes, resumedNote } from '#core/gateway/model-call/notes-header.ts';
import type { Reply, Trailers } from '#core/gateway/pipeline/reply.ts';

/**
 * Notes about parts of the request or reply that were dropped. Adds them to the record, to a header and, after a continuation, to a
 * trailer.
 */
export class DeliveryNotes {
  readonly #delivery: Delivery;
  readonly #header: string;

  constructor(delivery: Delivery, header: string) {
    this.#delivery = delivery;
    this.#header = header;
  }

  add(notes: readonly string[] = []): void {
    if (notes.length > 0) this.#delivery.notes = [...new Set([...(this.#delivery.notes ?? []), ...notes])];
  }

  addToReply(reply: Reply, notes: readonly string[]): Reply {
    this.add(notes);
    if (notes.length === 0) return reply;
    return { ...reply, headers: { ...reply.headers, [this.#header]: formatNotes(notes) } };
  }

  /** Notes that another route continues a reply whose headers were already sent. */
  addContinuation(notes: readonly string[]): void {
    this.add([resumedNote, ...notes]);
  }

  /** Trailers with all notes if the reply was continued. */
  get trailers(): Trailers {
    const read = (): Record<string, string> => {
      const { notes = [] } = this.#delivery;
      return notes.includes(resumedNote) ? { [this.#header]: formatNotes(notes) } : {};
    };
    return { names: [this.#header], read };
  }
}
