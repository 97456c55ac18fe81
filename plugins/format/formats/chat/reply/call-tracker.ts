import type { ChatCall } from '../../../wire/chat.ts';
import { type CallEntries, type CallEntry, isAnonymous, hasDifferentIndex, readEntries } from './call-entry.ts';
import { isRepetition, mayRepeat, TrackedCall } from './tracked-call.ts';

/** The part of a call that an entry of `tool_calls` adds. */
export interface CallPiece {
  readonly call: TrackedCall;
  /** The vendor's entry, before any repair. */
  readonly entry: ChatCall;
  readonly isCustom: boolean;
  readonly isFirst: boolean;
  readonly isWhole: boolean;
  /** True for a new call whose index differs from an earlier one in the same list, so it cannot be a repetition. */
  readonly isSeparate: boolean;
  /** The call's id; set only in the first piece that has it. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly input: string;
}

const noPieces: readonly CallPiece[] = [];

/**
 * Assigns entries to calls. Vendors omit indexes or ids, give every call the index 0, repeat names, and repeat the whole call at the end.
 * The pieces of a call that may be a repetition are held back.
 */
export class CallTracker {
  readonly #calls: TrackedCall[] = [];
  readonly #byIndex = new Map<number, TrackedCall>();

  get calls(): readonly TrackedCall[] {
    return this.#calls;
  }

  /** Returns undefined unless the vendor numbers its calls 0, 1, 2… */
  findNumbered(index: number): TrackedCall | undefined {
    const call = this.#byIndex.get(index);
    return call?.key === index ? call : undefined;
  }

  /** Returns the new pieces of the calls. */
  addDeltaEntries(entries: CallEntries): CallPiece[] {
    const pieces = readEntries(entries);
    const anonymousPieces = pieces.filter(isAnonymous);
    const callsInChunk = new Set<TrackedCall>();
    return pieces.flatMap((piece) =>
      this.#addPiece(piece, anonymousPieces.length - anonymousPieces.indexOf(piece), callsInChunk),
    );
  }

  /** The calls may have arrived earlier in pieces. */
  addMessageEntries(entries: CallEntries): readonly CallPiece[] {
    if (this.#calls.length === 0 && entries.entries.length === 0 && entries.deprecatedCall === undefined)
      return noPieces;
    const callsInList = new Set<TrackedCall>();
    const wholeEntries = readEntries(entries);
    return [
      ...this.releaseHeld(),
      ...wholeEntries.map((whole, position) => this.#addWhole(whole, position, callsInList)),
    ];
  }

  releaseHeld(): readonly CallPiece[] {
    if (this.#calls.length === 0) return noPieces;
    return this.#calls
      .filter(({ suspectedOriginal }) => suspectedOriginal !== undefined)
      .flatMap((call) => this.#release(call));
  }

  /** @param positionFromEnd position of the call that an anonymous piece belongs to, counted from the last call (1) */
  #addPiece(piece: CallEntry, positionFromEnd: number, callsInChunk: Set<TrackedCall>): CallPiece[] {
    const knownCall = this.#findCall(piece, isAnonymous(piece) ? positionFromEnd : 1, callsInChunk);
    const isNew = knownCall === undefined;
    const isRepeated = !isNew && isRepetition(piece, knownCall, callsInChunk);
    const original = isNew ? this.#calls.find((call) => mayRepeat(piece, call, callsInChunk)) : undefined;
    const call = knownCall ?? this.#openCall(piece);
    call.suspectedOriginal ??= original;
    callsInChunk.add(call);
    const input = isRepeated ? '' : call.appendInput(piece.input);
    const newPiece = { ...this.#learnMembers(call, piece), isFirst: isNew, isWhole: false, isSeparate: false, input };
    if (call.isRepetition) return [];
    if (call.suspectedOriginal === undefined) return [newPiece];
    return call.holdBack(piece.entry, input) ? this.#release(call) : [];
  }

  #release(call: TrackedCall): CallPiece[] {
    const heldPiece = call.release();
    if (heldPiece === undefined) return [];
    const { id, name, isCustom } = call;
    return [{ ...heldPiece, call, id, name, isCustom, isFirst: true, isWhole: false, isSeparate: false }];
  }

  #addWhole(whole: CallEntry, position: number, callsInList: Set<TrackedCall>): CallPiece {
    const knownCall = this.#findRepeated(whole, position, callsInList);
    const isNew = knownCall === undefined;
    const call = knownCall ?? this.#openCall(whole);
    const isSeparate = isNew && [...callsInList].some((other) => hasDifferentIndex(whole, other));
    callsInList.add(call);
    const learned = this.#learnMembers(call, whole);
    return { ...learned, isFirst: isNew, isWhole: true, isSeparate, input: call.completeInput(whole.input) };
  }

  #findCall(
    piece: CallEntry,
    positionFromEnd: number,
    callsInChunk: ReadonlySet<TrackedCall>,
  ): TrackedCall | undefined {
    const candidate = this.#findCandidate(piece, positionFromEnd);
    if (candidate !== undefined && !startsNewCall(piece, candidate)) return candidate;
    return this.#calls.find((call) => isRepetition(piece, call, callsInChunk));
  }

  #findCandidate({ index, id, isDeprecated }: CallEntry, positionFromEnd: number): TrackedCall | undefined {
    if (isDeprecated) return this.#calls.findLast((call) => call.isDeprecated);
    const callWithId = this.#calls.findLast((call) => id !== undefined && call.id === id);
    if (index === undefined) return callWithId ?? this.#calls.at(-positionFromEnd) ?? this.#calls.at(-1);
    return this.#byIndex.get(index) ?? (callWithId?.index === undefined ? callWithId : undefined);
  }

  /** Among calls with the same id, equal input wins. A streamed call matches even if its input is cut off or formatted differently. */
  #findRepeated(whole: CallEntry, position: number, callsInList: ReadonlySet<TrackedCall>): TrackedCall | undefined {
    const { id, name, input } = whole;
    const callsWithId = this.#calls.filter((call) => id !== undefined && call.id === id);
    const callsWithName = callsWithId.filter(
      (call) => call.name === undefined || name === undefined || call.name === name,
    );
    const compatibleCalls = callsWithName.filter((call) => !callsInList.has(call) || !hasDifferentIndex(whole, call));
    const unlistedCalls = callsWithName.filter((call) => !callsInList.has(call));
    const repeatedCall =
      compatibleCalls.find((call) => call.hasInput(input)) ??
      unlistedCalls.find((call) => call.isStartOf(input)) ??
      unlistedCalls[0];
    if (repeatedCall !== undefined || callsWithId.length > 0) return repeatedCall;
    const atPosition = this.#calls[position];
    return atPosition?.name === name ? atPosition : undefined;
  }

  #openCall(piece: CallEntry): TrackedCall {
    const call = new TrackedCall(this.#calls.length, piece);
    this.#calls.push(call);
    if (piece.index !== undefined) this.#byIndex.set(piece.index, call);
    return call;
  }

  #learnMembers(
    call: TrackedCall,
    { id, name, entry, isCustom }: CallEntry,
  ): Pick<CallPiece, 'call' | 'entry' | 'isCustom' | 'id' | 'name'> {
    const newId = call.id === undefined ? id : undefined;
    const newName = call.name === undefined ? name : undefined;
    call.id ??= id;
    call.name ??= name;
    call.isCustom ||= isCustom;
    return { call, entry, isCustom, id: newId, name: newName };
  }
}

/** Returns true for a piece whose name or id differs from the call's, or that follows the call's complete input. */
function startsNewCall({ id, name, input }: CallEntry, call: TrackedCall): boolean {
  if (name === undefined || call.name === undefined) return false;
  const hasIds = id !== undefined && call.id !== undefined;
  if ((hasIds && id !== call.id) || name !== call.name) return true;
  if (!call.scanner.isClosed || input.trim() === '') return false;
  return hasIds ? !call.isCustom && !call.hasInput(input) : true;
}
