import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { isFilled, member } from '../../../wire/members.ts';
import { TextTracker } from './text-tracker.ts';
import type { ChatCall, ChatCallBody } from '../../../wire/chat.ts';

/** A call, as far as it has arrived. */
export class TrackedCall {
  /** Position among the calls of the answer. */
  readonly key: number;
  /** The vendor's index. */
  readonly index: number | undefined;
  /** Undefined where the vendor gave none, or that of another call. */
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
    return entries.filter(isJsonObject).map((entry, position) => this.#whole(read(entry), position));
  }

  /** @param fromEnd which of the latest calls it is about when nothing names one: 1 is the last */
  #piece(piece: CallEntry, fromEnd: number): CallPiece {
    const known = this.#find(piece, isAnonymous(piece) ? fromEnd : 1);
    const call = known ?? this.#open(piece);
    return { ...this.#learn(call, piece), isFirst: known === undefined, isWhole: false, input: call.take(piece.input) };
  }

  #whole(piece: CallEntry, position: number): CallPiece {
    const known = this.#repeated(piece, position);
    const call = known ?? this.#open(piece);
    const learned = this.#learn(call, piece);
    return { ...learned, isFirst: known === undefined, isWhole: true, input: call.complete(piece.input) };
  }

  #find(piece: CallEntry, fromEnd: number): TrackedCall | undefined {
    const last = this.#candidate(piece, fromEnd);
    if (last === undefined || piece.name === undefined || last.name === undefined) return last;
    return beginsAnother(piece, last) ? undefined : last;
  }

  #candidate({ index, id }: CallEntry, fromEnd: number): TrackedCall | undefined {
    const known = this.#calls.find((call) => id !== undefined && call.id === id);
    if (index === undefined) return known ?? this.#calls.at(-fromEnd) ?? this.#calls.at(-1);
    return this.#byIndex.get(index) ?? (known?.index === undefined ? known : undefined);
  }

  #repeated({ id, name }: CallEntry, position: number): TrackedCall | undefined {
    const known = this.#calls.find((call) => id !== undefined && call.id === id);
    const there = this.#calls[position];
    return known ?? (there?.name === name ? there : undefined);
  }

  #open({ index }: CallEntry): TrackedCall {
    const call = new TrackedCall(this.#calls.length, index);
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  #learn(
    call: TrackedCall,
    { id: given, name, entry, isCustom }: CallEntry,
  ): Omit<CallPiece, 'isFirst' | 'isWhole' | 'input'> {
    // Results could not be matched to two calls with one id.
    const id = this.#calls.some((other) => other !== call && other.id === given) ? undefined : given;
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
  if (id !== undefined && last.id !== undefined) return id !== last.id;
  return name !== last.name || (input !== '' && last.scanner.isWhole);
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

const [quote, backslash, openBrace, closeBrace] = [0x22, 0x5c, 0x7b, 0x7d];

/** Finds out, piece by piece, whether a JSON text is a closed object. Reads its braces only: the rest may be malformed. */
class ObjectScanner {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasOpened = false;
  #isBlank = true;

  /** True while there is nothing but white space. */
  get isBlank(): boolean {
    return this.#isBlank;
  }

  /** True when the object is closed. */
  get isWhole(): boolean {
    return this.#hasOpened && this.#depth === 0;
  }

  take(text: string): void {
    this.#isBlank &&= text.trim() === '';
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#isInString) this.#string(code);
      else if (code === quote) this.#isInString = true;
      else if (code === openBrace) this.#open();
      else if (code === closeBrace) this.#depth--;
    }
  }

  #open(): void {
    this.#hasOpened = true;
    this.#depth++;
  }

  #string(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#isInString = false;
  }
}
