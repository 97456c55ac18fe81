import { bounds } from '#core/bounds.ts';

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
