import type { JsonObject } from '#core/platform/json.ts';
import type { ReplyDecoder } from './codec.ts';
import type { Notes } from './notes.ts';
import { createDroppedPart, type Fragment, isAside, toTextFragments } from './reply.ts';

interface StopMatch {
  readonly position: number;
  readonly sequence: string;
}

/**
 * Cuts the answer off before the first stop sequence, for upstreams that do not support stop sequences. The remainder of the reply is read
 * only for its usage.
 */
export class StopCutter implements ReplyDecoder {
  readonly #decoder: ReplyDecoder;
  readonly #sequences: readonly string[];
  #heldText = '';
  #isTruncated = false;

  /** @param sequences must not contain an empty string */
  constructor(decoder: ReplyDecoder, sequences: readonly string[]) {
    this.#decoder = decoder;
    this.#sequences = sequences;
  }

  readEvent(name: string | undefined, data: string): Fragment[] {
    return this.#decoder.readEvent(name, data).flatMap((fragment) => this.#cutFragment(fragment));
  }

  readWhole(body: JsonObject): Fragment[] {
    return this.#decoder.readWhole(body).flatMap((fragment) => this.#cutFragment(fragment));
  }

  #cutFragment(fragment: Fragment): Fragment[] {
    if (isAside(fragment)) return this.#isTruncated && fragment.type === 'dropped' ? [] : [fragment];
    // An error after the cut counts as the end, because the client's answer is already complete.
    if (this.#isTruncated) return fragment.type === 'end' || fragment.type === 'error' ? [{ type: 'end' }] : [];
    // Log probabilities are dropped, because a token may span the cut.
    if (fragment.type === 'text') return [...noteLogprobs(fragment), ...this.#cutText(fragment.text)];
    const heldText = this.#heldText;
    this.#heldText = '';
    return [...toTextFragments('text', heldText), fragment];
  }

  #cutText(newText: string): Fragment[] {
    const text = this.#heldText + newText;
    const match = this.#findFirst(text);
    if (match !== undefined) {
      this.#isTruncated = true;
      this.#heldText = '';
      return [
        ...toTextFragments('text', text.slice(0, match.position)),
        { type: 'finish', reason: 'stop_sequence', stopSequence: match.sequence },
      ];
    }
    const heldFrom = this.#findPossibleStart(text);
    this.#heldText = text.slice(heldFrom);
    return toTextFragments('text', text.slice(0, heldFrom));
  }

  #findFirst(text: string): StopMatch | undefined {
    // The upstream would have stopped at the sequence that is completed first.
    return this.#sequences
      .map((sequence) => ({ position: text.indexOf(sequence), sequence }))
      .filter(({ position }) => position !== -1)
      .toSorted((a, b) => endOf(a) - endOf(b) || a.position - b.position)[0];
  }

  #findPossibleStart(text: string): number {
    const maxLength = Math.max(...this.#sequences.map(({ length }) => length));
    let position = Math.max(0, text.length - maxLength + 1);
    while (position < text.length && !this.#sequences.some((sequence) => sequence.startsWith(text.slice(position))))
      position++;
    return position;
  }
}

function noteLogprobs({ logprobs = [] }: Extract<Fragment, { type: 'text' }>): Fragment[] {
  return logprobs.length > 0 ? [createDroppedPart('logprobs', '')] : [];
}

function endOf({ position, sequence }: StopMatch): number {
  return position + sequence.length;
}

export function noteGatewayStops(notes: Notes): void {
  notes.approximate('stop by cutting the answer');
}
