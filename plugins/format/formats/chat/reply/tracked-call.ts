import type { ChatCall } from '../../../wire/chat.ts';
import { type CallEntry, hasDifferentIndex } from './call-entry.ts';
import { ObjectScanner } from './object-scanner.ts';
import { TextTracker } from './text-tracker.ts';

/** An input may have this many extra characters, all of them white space, and still equal the suspected original's input. */
const maxExtraWhiteSpace = 4_096;

export class TrackedCall {
  /** Position among the calls of the choice. */
  readonly key: number;
  readonly index: number | undefined;
  readonly isDeprecated: boolean;
  /** Undefined if the vendor sent no id. Some vendors reuse an id for other calls in the choice. */
  id: string | undefined;
  name: string | undefined;
  /** True for a call whose input is not JSON. */
  isCustom = false;
  /** The call that this one may repeat. Its pieces are held back until its input shows whether it is a repetition. */
  suspectedOriginal: TrackedCall | undefined;
  isRepetition = false;
  readonly scanner = new ObjectScanner();
  readonly #input = new TextTracker();
  #heldPiece: { readonly entry: ChatCall; readonly input: string } = { entry: {}, input: '' };

  constructor(key: number, { index, isDeprecated }: Pick<CallEntry, 'index' | 'isDeprecated'>) {
    this.key = key;
    this.index = index;
    this.isDeprecated = isDeprecated;
  }

  /** True if the input has begun but is not a complete object. */
  get isTruncated(): boolean {
    return !this.isCustom && !this.scanner.isBlank && !this.scanner.isClosed;
  }

  /** Ignores white space in JSON. */
  hasInput(input: string): boolean {
    return this.isCustom ? this.#input.equals(input) : this.scanner.matches(input);
  }

  isStartOf(input: string): boolean {
    return input === '' || this.#input.isStartOf(input);
  }

  appendInput(input: string): string {
    this.scanner.scan(input);
    return this.#input.appendDelta(input);
  }

  /** Appends the part of the whole input that has not arrived yet, and returns it. */
  completeInput(input: string): string {
    const missingEnd = this.#input.appendSnapshot(input);
    this.scanner.scan(missingEnd);
    return missingEnd;
  }

  /** Returns true once there is enough input to compare the call with its suspected original. */
  holdBack(entry: ChatCall, input: string): boolean {
    this.#heldPiece = { entry: { ...this.#heldPiece.entry, ...entry }, input: this.#heldPiece.input + input };
    const maxLength = (this.suspectedOriginal?.inputLength ?? 0) + maxExtraWhiteSpace;
    return this.scanner.isClosed || this.#heldPiece.input.length > maxLength;
  }

  /** Returns undefined if the call repeats its suspected original. */
  release(): { readonly entry: ChatCall; readonly input: string } | undefined {
    const heldPiece = this.#heldPiece;
    this.isRepetition = this.suspectedOriginal?.hasInput(heldPiece.input) === true;
    this.suspectedOriginal = undefined;
    this.#heldPiece = { entry: {}, input: '' };
    return this.isRepetition ? undefined : heldPiece;
  }

  get inputLength(): number {
    return this.#input.length;
  }
}

/** Returns true if a piece repeats all of a complete call. */
export function isRepetition(piece: CallEntry, call: TrackedCall, callsInChunk: ReadonlySet<TrackedCall>): boolean {
  const { input } = piece;
  return mayRepeat(piece, call, callsInChunk) && input.trim() !== '' && call.scanner.isClosed && call.hasInput(input);
}

/**
 * Returns true if a piece may repeat a call: it has the id and name of a complete call, or the name of a call that the server wrote in the
 * other form. Within a chunk, a different index means a different call.
 *
 * @param callsInChunk calls of earlier pieces in the same chunk
 */
export function mayRepeat(piece: CallEntry, call: TrackedCall, callsInChunk: ReadonlySet<TrackedCall>): boolean {
  const { id, name, isDeprecated, isCustom } = piece;
  if (isCustom || name === undefined || name !== call.name) return false;
  if (callsInChunk.has(call) && hasDifferentIndex(piece, call)) return false;
  if (isDeprecated !== call.isDeprecated) return isDeprecated || call.id === undefined;
  return id !== undefined && id === call.id && call.scanner.isClosed;
}
