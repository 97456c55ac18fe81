import { bounds } from '#core/platform/bounds.ts';
import { type StreamedText, writeTextPart } from '../reply/text-parts.ts';
import type { ResponsesEvent, ResponsesPart } from '../../../wire/responses.ts';

/** A part with a text, as far as the client has got it. Its methods return events without their numbers. */
export class StreamedPart {
  readonly kind: StreamedText;
  readonly index: number;
  readonly grown: GrowingText;
  /** True once the client has got its whole text. */
  hasEndedText = false;
  isClosed = false;

  constructor(kind: StreamedText, index: number) {
    this.kind = kind;
    this.index = index;
    this.grown = new GrowingText(['item_id', 'output_index', kind.index]);
  }

  /** @param item the members that name the item */
  place(item: ResponsesEvent): ResponsesEvent {
    return { ...item, [this.kind.index]: this.index };
  }

  added(item: ResponsesEvent): ResponsesEvent {
    return { type: `${this.kind.partEvents}.added`, ...this.place(item), part: this.write('') };
  }

  /** The rest of a text. A text that differs from what the client has is ignored. */
  rest(item: ResponsesEvent, whole: string): ResponsesEvent[] {
    const rest = this.grown.restOf(whole);
    if (rest === '' || this.hasEndedText) return [];
    this.grown.add(rest);
    const delta: ResponsesEvent = { type: `${this.kind.events}.delta`, ...this.place(item), delta: rest };
    return [this.kind.type === 'output_text' ? { ...delta, logprobs: [] } : delta];
  }

  endText(item: ResponsesEvent): ResponsesEvent[] {
    if (this.hasEndedText) return [];
    this.hasEndedText = true;
    const { events, member, type } = this.kind;
    const done: ResponsesEvent = { type: `${events}.done`, ...this.place(item), [member]: this.grown.text };
    return [type === 'output_text' ? { ...done, logprobs: [] } : done];
  }

  close(item: ResponsesEvent): ResponsesEvent[] {
    if (this.isClosed) return [];
    const ended = this.endText(item);
    this.isClosed = true;
    return [...ended, { type: `${this.kind.partEvents}.done`, ...this.place(item), part: this.write() }];
  }

  write(text: string = this.grown.text): ResponsesPart {
    return writeTextPart(this.kind, text);
  }
}

/** A text that comes in deltas. Over `bounds.translatedReply` characters the rest is not kept. */
export class GrowingText {
  /** The quoted members by which its deltas name their place. */
  readonly names: readonly string[];
  text = '';

  constructor(names: readonly string[]) {
    this.names = names.map((name) => `"${name}"`);
  }

  add(delta: string): void {
    if (this.text.length < bounds.translatedReply) this.text += delta;
  }

  /** What is missing of the whole text; empty when the whole text is another. */
  restOf(whole: string): string {
    return whole.startsWith(this.text) ? whole.slice(this.text.length) : '';
  }
}
