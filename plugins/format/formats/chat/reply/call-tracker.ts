import type { ChatCall } from '../../../wire/chat.ts';
import { type CallEntries, type CallEntry, isAnonymous, isAtOtherIndex, readEntries } from './call-entry.ts';
import { isRepetition, mayRepeat, TrackedCall } from './tracked-call.ts';

/** The new part of a call in an entry of `tool_calls`. */
export interface CallPiece {
  readonly call: TrackedCall;
  /** The vendor's entry before any repair. */
  readonly entry: ChatCall;
  readonly isCustom: boolean;
  /** True for the first piece of the call. */
  readonly isFirst: boolean;
  /** True when the entry holds all of the call. */
  readonly isWhole: boolean;
  /** True for a new call whose index differs from an earlier index in the same list, so it is not a repetition. */
  readonly isBeside: boolean;
  /** Undefined if the id was already known or is still unknown. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly input: string;
}

const none: readonly CallPiece[] = [];

/**
 * Finds the call that an entry belongs to. Vendors leave out indexes or ids, give every call the index 0, repeat names,
 * and repeat the whole call at the end. Pieces of a call that may be a repetition are held back.
 */
export class CallTracker {
  readonly #calls: TrackedCall[] = [];
  readonly #byIndex = new Map<number, TrackedCall>();

  get calls(): readonly TrackedCall[] {
    return this.#calls;
  }

  /** The call at an index; undefined unless the vendor numbers its calls 0, 1, 2… */
  numbered(index: number): TrackedCall | undefined {
    const call = this.#byIndex.get(index);
    return call?.key === index ? call : undefined;
  }

  pieces(entries: CallEntries): CallPiece[] {
    const all = readEntries(entries);
    const anonymous = all.filter(isAnonymous);
    const beside = new Set<TrackedCall>();
    return all.flatMap((piece) => this.#piece(piece, anonymous.length - anonymous.indexOf(piece), beside));
  }

  /** Takes whole calls, whose pieces may have arrived earlier. */
  whole(entries: CallEntries): readonly CallPiece[] {
    if (this.#calls.length === 0 && entries.entries.length === 0 && entries.old === undefined) return none;
    const listed = new Set<TrackedCall>();
    return [...this.rest(), ...readEntries(entries).map((piece, position) => this.#whole(piece, position, listed))];
  }

  rest(): readonly CallPiece[] {
    if (this.#calls.length === 0) return none;
    return this.#calls.filter(({ twin }) => twin !== undefined).flatMap((call) => this.#released(call));
  }

  /**
   * @param fromEnd position, counted from the last call (1), of the call that an anonymous piece belongs to
   * @param beside calls seen so far in this chunk
   */
  #piece(piece: CallEntry, fromEnd: number, beside: Set<TrackedCall>): CallPiece[] {
    const known = this.#find(piece, isAnonymous(piece) ? fromEnd : 1, beside);
    const isRepeated = known !== undefined && isRepetition(piece, known, beside);
    const twin = known === undefined ? this.#calls.find((call) => mayRepeat(piece, call, beside)) : undefined;
    const call = known ?? this.#open(piece);
    call.twin ??= twin;
    beside.add(call);
    const input = isRepeated ? '' : call.take(piece.input);
    const next = { ...this.#learn(call, piece), isFirst: known === undefined, isWhole: false, isBeside: false, input };
    if (call.isRepetition) return [];
    if (call.twin === undefined) return [next];
    return call.hold(piece.entry, input) ? this.#released(call) : [];
  }

  #released(call: TrackedCall): CallPiece[] {
    const held = call.release();
    if (held === undefined) return [];
    const { id, name, isCustom } = call;
    return [{ ...held, call, id, name, isCustom, isFirst: true, isWhole: false, isBeside: false }];
  }

  /** @param listed calls seen so far in this list */
  #whole(piece: CallEntry, position: number, listed: Set<TrackedCall>): CallPiece {
    const known = this.#repeated(piece, position, listed);
    const call = known ?? this.#open(piece);
    const isBeside = known === undefined && [...listed].some((other) => isAtOtherIndex(piece, other));
    listed.add(call);
    const learned = this.#learn(call, piece);
    return { ...learned, isFirst: known === undefined, isWhole: true, isBeside, input: call.complete(piece.input) };
  }

  #find(piece: CallEntry, fromEnd: number, beside: ReadonlySet<TrackedCall>): TrackedCall | undefined {
    const last = this.#candidate(piece, fromEnd);
    const repeated = () => this.#calls.find((call) => isRepetition(piece, call, beside));
    if (last !== undefined && piece.name !== undefined && last.name !== undefined && beginsAnother(piece, last))
      return repeated();
    return last ?? repeated();
  }

  #candidate({ index, id, isOld }: CallEntry, fromEnd: number): TrackedCall | undefined {
    if (isOld) return this.#calls.findLast((call) => call.isOld);
    const known = this.#calls.findLast((call) => id !== undefined && call.id === id);
    if (index === undefined) return known ?? this.#calls.at(-fromEnd) ?? this.#calls.at(-1);
    return this.#byIndex.get(index) ?? (known?.index === undefined ? known : undefined);
  }

  /**
   * Finds the call that a whole entry repeats. If several calls share an id, the call with the same input wins. A streamed call
   * matches even if the end of its input is missing or the vendor writes the input differently.
   */
  #repeated(piece: CallEntry, position: number, listed: ReadonlySet<TrackedCall>): TrackedCall | undefined {
    const { id, name, input } = piece;
    const same = this.#calls.filter((call) => id !== undefined && call.id === id);
    const named = same.filter((call) => call.name === undefined || name === undefined || call.name === name);
    const open = named.filter((call) => !listed.has(call) || !isAtOtherIndex(piece, call));
    const earlier = named.filter((call) => !listed.has(call));
    const known = open.find((call) => call.hasInput(input)) ?? earlier.find((call) => call.begins(input)) ?? earlier[0];
    if (known !== undefined || same.length > 0) return known;
    const there = this.#calls[position];
    return there?.name === name ? there : undefined;
  }

  #open(piece: CallEntry): TrackedCall {
    const call = new TrackedCall(this.#calls.length, piece);
    this.#calls.push(call);
    if (piece.index !== undefined) this.#byIndex.set(piece.index, call);
    return call;
  }

  #learn(
    call: TrackedCall,
    { id, name, entry, isCustom }: CallEntry,
  ): Pick<CallPiece, 'call' | 'entry' | 'isCustom' | 'id' | 'name'> {
    const news = { id: call.id === undefined ? id : undefined, name: call.name === undefined ? name : undefined };
    call.id ??= id;
    call.name ??= name;
    call.isCustom ||= isCustom;
    return { call, entry, isCustom, ...news };
  }
}

/** A name begins a call unless it repeats the name of the current call. */
function beginsAnother({ id, name, input }: CallEntry, last: TrackedCall): boolean {
  const hasIds = id !== undefined && last.id !== undefined;
  if ((hasIds && id !== last.id) || name !== last.name) return true;
  if (!last.scanner.isWhole || input.trim() === '') return false;
  return hasIds ? !last.isCustom && !last.hasInput(input) : true;
}
