import { type CallEntry, isAtOtherIndex } from './call-entry.ts';
import { ObjectScanner } from './object-scanner.ts';
import { TextTracker } from './text-tracker.ts';
import type { ChatCall } from '../../../wire/chat.ts';

/** Maximum number of extra characters, all white space, in an input that equals the input of its twin. */
const mostWhiteSpace = 4_096;

/** A call of a choice, complete or still arriving. */
export class TrackedCall {
  /** Position among the calls of the choice. */
  readonly key: number;
  readonly index: number | undefined;
  readonly isOld: boolean;
  /** Undefined if the vendor sent no id. Some vendors reuse an id for other calls of the choice. */
  id: string | undefined;
  name: string | undefined;
  /** True for a call whose input is not JSON. */
  isCustom = false;
  /** The call that this call may repeat. The pieces of this call are held back until its input shows whether it does. */
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

  /** True if the input has started but is not a complete object. */
  get isTorn(): boolean {
    return !this.isCustom && !this.scanner.isBlank && !this.scanner.isWhole;
  }

  /** Returns true if `input` equals the input so far. White space in JSON is ignored. */
  hasInput(input: string): boolean {
    return this.isCustom ? this.#input.equals(input) : this.scanner.isSame(input);
  }

  /** Returns true if `input` is empty or starts with the input so far. */
  begins(input: string): boolean {
    return input === '' || this.#input.isStartOf(input);
  }

  take(input: string): string {
    this.scanner.take(input);
    return this.#input.takePiece(input);
  }

  /** Takes the whole input and returns the missing part. */
  complete(input: string): string {
    const missing = this.#input.takeWhole(input);
    this.scanner.take(missing);
    return missing;
  }

  /** Holds a piece back. Returns true once enough input has arrived to compare the call with its twin. */
  hold(entry: ChatCall, input: string): boolean {
    this.#held = { entry: { ...this.#held.entry, ...entry }, input: this.#held.input + input };
    const most = (this.twin?.inputLength ?? 0) + mostWhiteSpace;
    return this.scanner.isWhole || this.#held.input.length > most;
  }

  /** Returns the held-back pieces as one piece; undefined if the call repeats its twin. */
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
 * Returns true if a piece repeats a complete call in full.
 *
 * @param callsInChunk calls of earlier pieces in the same chunk
 */
export function isRepetition(piece: CallEntry, call: TrackedCall, callsInChunk: ReadonlySet<TrackedCall>): boolean {
  const { input } = piece;
  return mayRepeat(piece, call, callsInChunk) && input.trim() !== '' && call.scanner.isWhole && call.hasInput(input);
}

/**
 * Returns true if a piece may repeat a call: it has the id and name of a complete call, or the name of a call that the server wrote in
 * the other form. In the same chunk, a different index means a different call.
 *
 * @param callsInChunk calls of earlier pieces in the same chunk
 */
export function mayRepeat(piece: CallEntry, call: TrackedCall, callsInChunk: ReadonlySet<TrackedCall>): boolean {
  const { id, name, isOld, isCustom } = piece;
  if (isCustom || name === undefined || name !== call.name) return false;
  if (callsInChunk.has(call) && isAtOtherIndex(piece, call)) return false;
  if (isOld !== call.isOld) return isOld || call.id === undefined;
  return id !== undefined && id === call.id && call.scanner.isWhole;
}
