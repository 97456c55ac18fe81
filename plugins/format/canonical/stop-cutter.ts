import type { JsonObject } from '#core/platform/json.ts';
import type { ReplyDecoder } from './codec.ts';
import type { Notes } from './notes.ts';
import { droppedPart, type Fragment, isAside, textFragment } from './reply.ts';

/**
 * Truncates the answer before the first stop sequence, for upstreams that do not support stop sequences. The rest of the
 * reply is read for its usage and dropped.
 */
export class StopCutter implements ReplyDecoder {
  readonly #decoder: ReplyDecoder;
  readonly #sequences: readonly string[];
  /** End of the text so far, which may be the beginning of a stop sequence. */
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
    const held = this.#held;
    this.#held = '';
    return [...textFragment('text', held), fragment];
  }

  #text(text: string): Fragment[] {
    const all = this.#held + text;
    const match = this.#firstIn(all);
    if (match !== undefined) {
      this.#isCut = true;
      this.#held = '';
      return [
        ...textFragment('text', all.slice(0, match.at)),
        { type: 'finish', reason: 'stop_sequence', stopSequence: match.sequence },
      ];
    }
    const from = this.#beginningIn(all);
    this.#held = all.slice(from);
    return textFragment('text', all.slice(0, from));
  }

  /** The sequence that is completed first, at which the upstream would have stopped. */
  #firstIn(text: string): Match | undefined {
    return this.#sequences
      .map((sequence) => ({ at: text.indexOf(sequence), sequence }))
      .filter(({ at }) => at !== -1)
      .toSorted((a, b) => endOf(a) - endOf(b) || a.at - b.at)[0];
  }

  /** Position at the end of a text where a sequence may begin; the length of the text if none does. */
  #beginningIn(text: string): number {
    const longest = Math.max(...this.#sequences.map(({ length }) => length));
    let at = Math.max(0, text.length - longest + 1);
    while (at < text.length && !this.#sequences.some((sequence) => sequence.startsWith(text.slice(at)))) at++;
    return at;
  }
}

function noteTokens({ logprobs = [] }: Extract<Fragment, { type: 'text' }>): Fragment[] {
  return logprobs.length > 0 ? [droppedPart('logprobs', '')] : [];
}

interface Match {
  readonly at: number;
  readonly sequence: string;
}

function endOf({ at, sequence }: Match): number {
  return at + sequence.length;
}

/** An error after the cut counts as the end: the client's answer is already complete. */
function isLast({ type }: Fragment): boolean {
  return type === 'end' || type === 'error';
}

/** Notes that stop sequences are not sent to the upstream. */
export function noteCutting(notes: Notes): void {
  notes.approximate('stop by cutting the answer');
}
