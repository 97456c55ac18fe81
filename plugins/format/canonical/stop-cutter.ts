import type { JsonObject } from '#core/platform/json.ts';
import type { ReplyDecoder } from './codec.ts';
import type { Notes } from './notes.ts';
import { droppedPart, type Fragment, isAside, textFragment } from './reply.ts';

/**
 * Truncates the answer before the first stop sequence that the upstream does not support. The rest is read to its end
 * for the usage, and dropped.
 */
export class StopCutter implements ReplyDecoder {
  readonly #decoder: ReplyDecoder;
  readonly #sequences: readonly string[];
  /** The end of the text so far, which may be the beginning of a sequence. */
  #held = '';
  #isCut = false;

  /** @param sequences none of them empty */
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
    // Tokens do not end where the text is cut.
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

  /** The sequence that is complete first, where the upstream would have stopped. */
  #firstIn(text: string): Match | undefined {
    return this.#sequences
      .map((sequence) => ({ at: text.indexOf(sequence), sequence }))
      .filter(({ at }) => at !== -1)
      .toSorted((a, b) => endOf(a) - endOf(b) || a.at - b.at)[0];
  }

  /** Where at the end of a text a sequence may begin; its length when none does. */
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

/** An error after the cut does not concern the client. */
function isLast({ type }: Fragment): boolean {
  return type === 'end' || type === 'error';
}

/** Notes that stop sequences are left out of the request. */
export function noteCutting(notes: Notes): void {
  notes.approximate('stop by cutting the answer');
}
