import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { member } from '../../../wire/members.ts';
import { ObjectScanner } from './object-scanner.ts';
import { TextTracker } from './text-tracker.ts';
import type { ChatCall, ChatCallBody } from '../../../wire/chat.ts';

/** A call, as far as it has arrived. */
export class TrackedCall {
  /** Position among the calls of the answer. */
  readonly key: number;
  /** The vendor's index. */
  readonly index: number | undefined;
  /** Undefined where the vendor gave none. Some vendors give it to other calls of the answer too. */
  id: string | undefined;
  name: string | undefined;
  /** True for a call whose input is not JSON. */
  isCustom = false;
  readonly scanner = new ObjectScanner();
  readonly #input = new TextTracker();

  constructor(key: number, index: number | undefined) {
    this.key = key;
    this.index = index;
  }

  /** True when the input is an object that is not complete. */
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
}

/** An entry of `tool_calls`. */
interface CallEntry {
  readonly entry: ChatCall;
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly input: string;
  readonly isCustom: boolean;
}

/** The new part of a call in an entry of `tool_calls`. */
export interface CallPiece {
  readonly call: TrackedCall;
  /** The unchanged entry of the vendor. */
  readonly entry: ChatCall;
  readonly isCustom: boolean;
  /** True for the first piece of the call. */
  readonly isFirst: boolean;
  /** True when the entry holds all of the call. */
  readonly isWhole: boolean;
  /** Undefined when it was known before, or is not known yet. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly input: string;
}

/**
 * Finds the call that an entry belongs to. Vendors leave out indexes or ids, give every call the index 0, repeat names,
 * and repeat the whole call at the end.
 */
export class CallTracker {
  readonly #calls: TrackedCall[] = [];
  readonly #byIndex = new Map<number, TrackedCall>();

  get calls(): readonly TrackedCall[] {
    return this.#calls;
  }

  /** The call of an index, where the vendor numbers its calls 0, 1, 2… */
  numbered(index: number): TrackedCall | undefined {
    const call = this.#byIndex.get(index);
    return call?.key === index ? call : undefined;
  }

  /** The next pieces of calls, those of one chunk. */
  pieces(entries: readonly JsonValue[]): CallPiece[] {
    const all = entries.filter(isJsonObject).map(read);
    const anonymous = all.filter(isAnonymous);
    return all.map((piece) => this.#piece(piece, anonymous.length - anonymous.indexOf(piece)));
  }

  /** Whole calls; pieces of them may have come before. */
  whole(entries: readonly JsonValue[]): CallPiece[] {
    const listed = new Set<TrackedCall>();
    return entries.filter(isJsonObject).map((entry, position) => this.#whole(read(entry), position, listed));
  }

  /** @param fromEnd which of the latest calls it is about when nothing names one: 1 is the last */
  #piece(piece: CallEntry, fromEnd: number): CallPiece {
    const known = this.#find(piece, isAnonymous(piece) ? fromEnd : 1);
    const isRepeated = known !== undefined && isRepetition(piece, known);
    const call = known ?? this.#open(piece);
    const input = isRepeated ? '' : call.take(piece.input);
    return { ...this.#learn(call, piece), isFirst: known === undefined, isWhole: false, input };
  }

  /** @param listed the calls of the list so far */
  #whole(piece: CallEntry, position: number, listed: Set<TrackedCall>): CallPiece {
    const known = this.#repeated(piece, position, listed);
    const call = known ?? this.#open(piece);
    listed.add(call);
    const learned = this.#learn(call, piece);
    return { ...learned, isFirst: known === undefined, isWhole: true, input: call.complete(piece.input) };
  }

  #find(piece: CallEntry, fromEnd: number): TrackedCall | undefined {
    const last = this.#candidate(piece, fromEnd);
    if (last !== undefined && piece.name !== undefined && last.name !== undefined && beginsAnother(piece, last))
      return this.#calls.find((call) => isRepetition(piece, call));
    return last ?? this.#calls.find((call) => isRepetition(piece, call));
  }

  #candidate({ index, id }: CallEntry, fromEnd: number): TrackedCall | undefined {
    const known = this.#calls.findLast((call) => id !== undefined && call.id === id);
    if (index === undefined) return known ?? this.#calls.at(-fromEnd) ?? this.#calls.at(-1);
    return this.#byIndex.get(index) ?? (known?.index === undefined ? known : undefined);
  }

  /**
   * Of several calls with one id, that with the same input. One that came in pieces is repeated even if it lacks the end of its
   * input, or the vendor writes it in another way.
   */
  #repeated(piece: CallEntry, position: number, listed: ReadonlySet<TrackedCall>): TrackedCall | undefined {
    const { id, name, input } = piece;
    const same = this.#calls.filter((call) => id !== undefined && call.id === id);
    const named = same.filter((call) => call.name === undefined || name === undefined || call.name === name);
    const earlier = named.filter((call) => !listed.has(call));
    const known =
      named.find((call) => call.hasInput(input)) ?? earlier.find((call) => call.begins(input)) ?? earlier[0];
    if (known !== undefined || same.length > 0) return known;
    const there = this.#calls[position];
    return there?.name === name ? there : undefined;
  }

  #open({ index }: CallEntry): TrackedCall {
    const call = new TrackedCall(this.#calls.length, index);
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  #learn(
    call: TrackedCall,
    { id, name, entry, isCustom }: CallEntry,
  ): Omit<CallPiece, 'isFirst' | 'isWhole' | 'input'> {
    const news = { id: call.id === undefined ? id : undefined, name: call.name === undefined ? name : undefined };
    call.id ??= id;
    call.name ??= name;
    call.isCustom ||= isCustom;
    return { call, entry, isCustom, ...news };
  }
}

/** True for a piece that does not identify its call. */
function isAnonymous({ index, id, name }: CallEntry): boolean {
  return index === undefined && id === undefined && name === undefined;
}

/** A name begins a call, unless it repeats that of the current one. */
function beginsAnother({ id, name, input }: CallEntry, last: TrackedCall): boolean {
  const hasIds = id !== undefined && last.id !== undefined;
  if ((hasIds && id !== last.id) || name !== last.name) return true;
  if (!last.scanner.isWhole || input.trim() === '') return false;
  return hasIds ? !last.isCustom && !last.hasInput(input) : true;
}

/** True for all of a complete call once more. */
function isRepetition({ id, name, input }: CallEntry, call: TrackedCall): boolean {
  const isNamed = id !== undefined && id === call.id && name !== undefined && name === call.name;
  return isNamed && input.trim() !== '' && call.scanner.isWhole && call.hasInput(input);
}

function read(entry: JsonObject): CallEntry {
  const { index, id, type, custom, function: named = entry }: ChatCall = entry;
  const isFunction = type === 'function' || filled(member<ChatCallBody>(entry['function'], 'name')) !== undefined;
  const isCustom = !isFunction && (type === 'custom' || (isJsonObject(custom) && isFilled(custom)));
  const body = isCustom ? custom : (named ?? entry);
  return {
    entry,
    index: typeof index === 'number' ? index : undefined,
    // Mistral's default of an id is the word. Source: Mistral API reference, `ToolCall`.
    id: id === 'null' ? undefined : filled(typeof id === 'number' ? String(id) : id),
    name: filled(member<ChatCallBody>(body, 'name')),
    input: inputOf(member<ChatCallBody>(body, isCustom ? 'input' : 'arguments')),
    isCustom,
  };
}

function filled(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Arguments are text; some vendors send an object. */
function inputOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  return isJsonObject(value) ? JSON.stringify(value) : '';
}
