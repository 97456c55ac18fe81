import type { JsonObject } from '#core/platform/json.ts';
import type { ReplyDecoder } from './codec.ts';
import type { Notes } from './notes.ts';
import { droppedPart, type Fragment, isAside, textFragment } from './reply.ts';

/**
 * Truncates the answer before the first stop sequence, for upstreams that do not support stop sequences. The remainder of the
 * reply is read for its usage and dropped.
 */
export class StopCutter implements ReplyDecoder {
  readonly #decoder: ReplyDecoder;
  readonly #sequences: readonly string[];
  /** End of the text so far, which may be the start of a stop sequence. */
  #held = '';
  #isCut = false;

  /** @param sequences must not contain an empty string */
  constructor(decoder: ReplyDecoder, sequences: readonly string[]) {
    this.#decoder = decoder;
    this.#sequences = sequences;
  }

  event(name: string | undefined, data: string): Fragment[] {
    return this.#decoder.event(name, data).flatMap((fragment) => this.#take(fragment));
  }

  whole(body: JsonObject): Fragment[] {
    return this.#decoder.whole(body).flatMap((fragment) => this.#take(fragment));
  }

  #take(fragment: Fragment): Fragment[] {
    if (isAside(fragment)) return this.#isCut && fragment.type === 'dropped' ? [] : [fragment];
    if (this.#isCut) return isLast(fragment) ? [{ type: 'end' }] : [];
    // Log probabilities are dropped: tokens may span the cut.
    if (fragment.type === 'text') return [...noteTokens(fragment), ...this.#text(fragment.text)];
    const heldText = this.#held;
    this.#held = '';
    return [...textFragment('text', heldText), fragment];
  }

  #text(newText: string): Fragment[] {
    const text = this.#held + newText;
    const match = this.#firstIn(text);
    if (match !== undefined) {
      this.#isCut = true;
      this.#held = '';
      return [
        ...textFragment('text', text.slice(0, match.position)),
        { type: 'finish', reason: 'stop_sequence', stopSequence: match.sequence },
      ];
    }
    const heldFrom = this.#beginningIn(text);
    this.#held = text.slice(heldFrom);
    return textFragment('text', text.slice(0, heldFrom));
  }

  /** Finds the sequence that is completed first. The upstream would have stopped there. */
  #firstIn(text: string): Match | undefined {
    return this.#sequences
      .map((sequence) => ({ position: text.indexOf(sequence), sequence }))
      .filter(({ position }) => position !== -1)
      .toSorted((a, b) => endOf(a) - endOf(b) || a.position - b.position)[0];
  }

  /** Finds the position near the end of a text where a sequence may begin; the length of the text if none does. */
  #beginningIn(text: string): number {
    const maxLength = Math.max(...this.#sequences.map(({ length }) => length));
    let position = Math.max(0, text.length - maxLength + 1);
    while (position < text.length && !this.#sequences.some((sequence) => sequence.startsWith(text.slice(position))))
      position++;
    return position;
  }
}

function noteTokens({ logprobs = [] }: Extract<Fragment, { type: 'text' }>): Fragment[] {
  return logprobs.length > 0 ? [droppedPart('logprobs', '')] : [];
}

interface Match {
  readonly position: number;
  readonly sequence: string;
}

function endOf({ position, sequence }: Match): number {
  return position + sequence.length;
}

/** True for the end and for an error, which counts as the end after the cut because the client's answer is already complete. */
function isLast({ type }: Fragment): boolean {
  return type === 'end' || type === 'error';
}

/** Notes that stop sequences are not sent to the upstream. */
export function noteCutting(notes: Notes): void {
  notes.approximate('stop by cutting the answer');
}
