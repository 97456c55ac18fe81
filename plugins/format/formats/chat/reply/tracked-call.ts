import { type CallEntry, isAtOtherIndex } from './call-entry.ts';
import { ObjectScanner } from './object-scanner.ts';
import { TextTracker } from './text-tracker.ts';
import type { ChatCall } from '../../../wire/chat.ts';

/** Characters by which an input may be longer than that of its twin and still be the same, in white space. */
const mostWhiteSpace = 4_096;

/** A call, as far as it has arrived. */
export class TrackedCall {
  /** Position among the calls of the answer. */
  readonly key: number;
  readonly index: number | undefined;
  readonly isOld: boolean;
  /** Undefined where the vendor gave none. Some vendors give it to other calls of the answer too. */
  id: string | undefined;
  name: string | undefined;
  /** True for a call whose input is not JSON. */
  isCustom = false;
  /** The call that this one may repeat, until its input shows whether it does. Its pieces are held back until then. */
  twin: TrackedCall | undefined;
  isRepetition = false;
  readonly scanner = new ObjectScanner();
  readonly #input = new TextTracker();
  #held: { readonly entry: ChatCall; readonly input: string } = { entry: {}, input: '' };

  constructor(key: number, { index, isOld }: Pick<CallEntry, 'index' | 'isOld'>) {
    this.key = key;
    this.index = index;
    this.isOld = isOld;
  }

  get isTorn(): boolean {
    return !this.isCustom && !this.scanner.isBlank && !this.scanner.isWhole;
  }

  /** True for the whole input. White space in it does not matter. */
  hasInput(input: string): boolean {
    return this.isCustom ? this.#input.isText(input) : this.scanner.isSame(input);
  }

  /** True for a whole input that begins with what has arrived. */
  begins(input: string): boolean {
    return input === '' || this.#input.begins(input);
  }

  take(input: string): string {
    this.scanner.take(input);
    return this.#input.piece(input);
  }

  /** Takes the whole input and returns what is missing. */
  complete(input: string): string {
    const missing = this.#input.whole(input);
    this.scanner.take(missing);
    return missing;
  }

  /** Holds a piece back. Returns true when enough has arrived to see whether the call repeats its twin. */
  hold(entry: ChatCall, input: string): boolean {
    this.#held = { entry: { ...this.#held.entry, ...entry }, input: this.#held.input + input };
    const most = (this.twin?.inputLength ?? 0) + mostWhiteSpace;
    return this.scanner.isWhole || this.#held.input.length > most;
  }

  /** The pieces that were held back, as one; undefined if the call repeats its twin. */
  release(): { readonly entry: ChatCall; readonly input: string } | undefined {
    const held = this.#held;
    this.isRepetition = this.twin?.hasInput(held.input) === true;
    this.twin = undefined;
    this.#held = { entry: {}, input: '' };
    return this.isRepetition ? undefined : held;
  }

  get inputLength(): number {
    return this.#input.length;
  }
}

/**
 * Whether a complete call is repeated in full.
 *
 * @param beside calls that were open at the same time
 */
export function isRepetition(piece: CallEntry, call: TrackedCall, beside: ReadonlySet<TrackedCall>): boolean {
  const { input } = piece;
  return mayRepeat(piece, call, beside) && input.trim() !== '' && call.scanner.isWhole && call.hasInput(input);
}

/**
 * True for a piece that may begin a call once more: one with the id and name of a complete call, or with the name of a call that the
 * server writes in the other form. Another index that was open at the same time is another call.
 */
export function mayRepeat(piece: CallEntry, call: TrackedCall, beside: ReadonlySet<TrackedCall>): boolean {
  const { id, name, isOld, isCustom } = piece;
  if (isCustom || name === undefined || name !== call.name) return false;
  if (beside.has(call) && isAtOtherIndex(piece, call)) return false;
  if (isOld !== call.isOld) return isOld || call.id === undefined;
  return id !== undefined && id === call.id && call.scanner.isWhole;
}
