import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '#core/json.ts';
import type { Fragment } from '../canonical/reply.ts';
import { member } from '../request/members.ts';

/** A call that is not complete. */
interface TrackedCall {
  readonly key: number;
  readonly index: number | undefined;
  id: string | undefined;
  name: string | undefined;
  input: string;
}

/** An entry of `tool_calls`. */
interface CallEntry {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly input: string;
  readonly isCustom: boolean;
}

/**
 * Finds the call that an entry belongs to. Vendors leave out indexes or ids, give every call the index 0, repeat names,
 * and repeat the whole call at the end.
 */
export class CallTracker {
  readonly #calls: TrackedCall[] = [];
  readonly #byIndex = new Map<number, TrackedCall>();

  /** The next pieces of calls, those of one chunk. */
  pieces(entries: readonly JsonValue[]): Fragment[] {
    const all = entries.filter(isJsonObject).map(read);
    const anonymous = all.filter(isAnonymous);
    return all.flatMap((piece) => this.#piece(piece, anonymous.length - anonymous.indexOf(piece)));
  }

  /** @param fromEnd which of the latest calls it is about when nothing names one: 1 is the last */
  #piece(piece: CallEntry, fromEnd: number): Fragment[] {
    const call = this.#find(piece, isAnonymous(piece) ? fromEnd : 1) ?? this.#open(piece);
    const head = this.#learn(call, piece);
    if (piece.input === '') return head;
    call.input += piece.input;
    return [...head, { type: 'input', key: call.key, text: piece.input }];
  }

  /** A whole call; pieces of it may have come before. @param position among the calls of its reply */
  whole(entry: JsonValue, position: number): Fragment[] {
    if (!isJsonObject(entry)) return [];
    const piece = read(entry);
    const call = this.#repeated(piece, position) ?? this.#open(piece);
    const head = this.#learn(call, piece);
    return [...head, { type: 'call_end', key: call.key, input: piece.input }];
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
    const call: TrackedCall = { key: this.#calls.length, index, id: undefined, name: undefined, input: '' };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  #learn(call: TrackedCall, { id: given, name, isCustom }: CallEntry): Fragment[] {
    // Results could not be matched to two calls with one id.
    const id = this.#calls.some((other) => other !== call && other.id === given) ? undefined : given;
    const news = { id: call.id === undefined ? id : undefined, name: call.name === undefined ? name : undefined };
    call.id ??= id;
    call.name ??= name;
    if (news.id === undefined && news.name === undefined && call.input !== '') return [];
    return [{ type: 'call', key: call.key, ...news, ...(isCustom && { form: 'freeform' as const }) }];
  }
}

/** True for a piece that does not say which call it is about. */
function isAnonymous({ index, id, name }: CallEntry): boolean {
  return index === undefined && id === undefined && name === undefined;
}

/** A name begins a call, unless it repeats that of the current one. */
function beginsAnother({ id, name, input }: CallEntry, last: TrackedCall): boolean {
  if (id !== undefined && last.id !== undefined) return id !== last.id;
  return name !== last.name || (input !== '' && isWhole(last));
}

function isWhole({ input }: TrackedCall): boolean {
  return input.trimEnd().endsWith('}') && parseObject(input) !== undefined;
}

function read(entry: JsonObject): CallEntry {
  const isCustom = entry['type'] === 'custom' || isJsonObject(entry['custom']);
  const body = isCustom ? entry['custom'] : (entry['function'] ?? entry);
  const { index, id } = entry;
  return {
    index: typeof index === 'number' ? index : undefined,
    id: filled(typeof id === 'number' ? String(id) : id),
    name: filled(member(body, 'name')),
    input: inputOf(member(body, isCustom ? 'input' : 'arguments')),
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
