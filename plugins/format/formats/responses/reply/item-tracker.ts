import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { CollectedText } from '#core/platform/memory/collected-text.ts';
import { canonicalInput } from '../../../canonical/kept-reasoning.ts';
import { filledText, member } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesItem } from '../../../wire/responses.ts';

/** An open item of the output. */
export class TrackedItem {
  /** Unique per call of a reply. */
  readonly key: number;
  /** Id and index from the vendor; undefined if not given. */
  readonly id: string | undefined;
  readonly index: number | undefined;
  /** Type of the item, and id and name of its call; undefined until known. */
  type: string | undefined;
  call: string | undefined;
  name: string | undefined;
  /** Digest of the input of a call that is done. */
  input: string | undefined;
  isListed = false;
  /** The text so far of each part, by its kind and index. */
  readonly parts = new Map<string, CollectedText>();
  lastPart: string | undefined;
  citations = 0;
  /** True once the reasoning state was passed on or can no longer be passed on. */
  hasState = false;
  /** True once the call has a name and can take its input. */
  isNamed = false;
  isDone = false;

  constructor(key: number, { id, index }: Names) {
    this.key = key;
    this.id = id;
    this.index = index;
  }

  /** @param item final form of the item */
  end(item: ResponsesItem): void {
    this.isDone = true;
    this.name ??= filledText(item.name);
    this.input = digestOfInput(item as JsonObject);
  }
}

/**
 * Finds the item that an event belongs to. Vendors leave out `item_id` or `output_index`, change the id from event to
 * event, or give every item the index 0.
 */
export class ItemTracker {
  readonly #byId = new Map<string, TrackedItem>();
  readonly #byIndex = new Map<number, TrackedItem>();
  /** Some vendors give several calls of an answer the same id. */
  readonly #byCall = new Map<string, TrackedItem[]>();
  #last: TrackedItem | undefined;
  /** An item without id and index; the next event that has either of them identifies it. */
  #nameless: TrackedItem | undefined;
  #count = 0;

  isLast(item: TrackedItem): boolean {
    return this.#last === item;
  }

  /** Begins an item, even at an index that was in use before. */
  open(event: ResponsesEvent): TrackedItem {
    const names = namesOf(event);
    const item = new TrackedItem(this.#count++, names);
    this.#learn(names, item);
    return item;
  }

  /** The item that an event belongs to; the event begins an unannounced item. */
  find(event: ResponsesEvent): TrackedItem {
    const names = namesOf(event);
    const known = this.#known(names) ?? this.#current(names);
    if (known === undefined) return this.open(event);
    this.#call(names, known);
    return known;
  }

  recall(event: ResponsesEvent): TrackedItem | undefined {
    const names = namesOf(event);
    const { id, index, call, type } = names;
    const repeated = this.#listedCall(names) ?? this.#equalCall(names);
    if (repeated !== undefined) return repeated;
    const byId = id === undefined ? undefined : this.#byId.get(id);
    if (call !== undefined) return byId?.isDone === false ? byId : undefined;
    if (byId !== undefined) return byId;
    const there = index === undefined ? undefined : this.#byIndex.get(index);
    return there !== undefined && (there.type === undefined || there.type === type) ? there : this.#nameless;
  }

  /** A call that arrived in events and that the list has not repeated yet. */
  #listedCall(names: Names): TrackedItem | undefined {
    const earlier = this.#callsOf(names).filter(({ isListed }) => !isListed);
    return (
      earlier.find(({ id }) => id !== undefined && id === names.id) ??
      earlier.find(({ index }) => index !== undefined && index === names.index) ??
      earlier.find(({ input }) => input === names.input) ??
      earlier[0]
    );
  }

  #equalCall(names: Names): TrackedItem | undefined {
    return this.#callsOf(names).find(({ isDone, input }) => isDone && input === names.input);
  }

  /** An open call, or a finished call that the event finishes again. */
  #knownCall(names: Names): TrackedItem | undefined {
    const calls = this.#callsOf(names);
    const open = calls.filter(({ isDone }) => !isDone);
    const isSame = ({ id, index }: TrackedItem) =>
      (id !== undefined && id === names.id) || (index !== undefined && index === names.index);
    return (
      open.find(isSame) ??
      open[0] ??
      this.#equalCall(names) ??
      calls.find(({ id }) => id !== undefined && id === names.id)
    );
  }

  /** The calls with the same call id whose names do not differ. */
  #callsOf({ call, name }: Names): readonly TrackedItem[] {
    const calls = call === undefined ? [] : (this.#byCall.get(call) ?? []);
    return calls.filter((known) => known.name === undefined || name === undefined || known.name === name);
  }

  #known(names: Names): TrackedItem | undefined {
    const { id, index, call } = names;
    const byCall = this.#knownCall(names);
    if (byCall !== undefined) return byCall;
    const byId = id === undefined ? undefined : this.#byId.get(id);
    // OpenAI may give a call one id when it opens and another when it is done: the item is the same.
    if (byId?.isDone === false && !isOtherCall(byId, names)) return byId;
    const item = byId ?? this.#openAt(index);
    const isAnother = call !== undefined && item?.call !== undefined;
    return isAnother ? undefined : item;
  }

  /** An event without id and index belongs to the open item, and so does the first event that identifies the item. */
  #current({ id, index }: Names): TrackedItem | undefined {
    const isNameless = id === undefined && index === undefined;
    const current = isNameless ? this.#last : this.#nameless;
    return current?.isDone === false ? current : undefined;
  }

  #openAt(index: number | undefined): TrackedItem | undefined {
    const item = index === undefined ? undefined : this.#byIndex.get(index);
    return item?.isDone === true ? undefined : item;
  }

  #learn(names: Names, item: TrackedItem): void {
    const { id, index, call } = names;
    if (id !== undefined) this.#byId.set(id, item);
    if (index !== undefined) this.#byIndex.set(index, item);
    if (id === undefined && index === undefined && call === undefined) this.#nameless = item;
    this.#call(names, item);
    this.#last = item;
  }

  #call({ call, type, name }: Names, item: TrackedItem): void {
    item.type ??= type;
    item.call ??= call;
    item.name ??= name;
    if (call === undefined) return;
    const calls = this.#byCall.get(call) ?? [];
    if (!calls.includes(item)) this.#byCall.set(call, [...calls, item]);
  }
}

interface Names {
  readonly id: string | undefined;
  readonly index: number | undefined;
  readonly call: string | undefined;
  readonly type: string | undefined;
  readonly name: string | undefined;
  /** Digest of the input of a call; undefined for other items. */
  readonly input: string | undefined;
}

function namesOf(event: ResponsesEvent): Names {
  const { item, item_id: id, output_index: index } = event;
  return {
    id: filledText(id) ?? filledText(member<ResponsesItem>(item, 'id')),
    index: typeof index === 'number' ? index : undefined,
    call: filledText(member<ResponsesItem>(item, 'call_id')),
    type: filledText(member<ResponsesItem>(item, 'type')),
    name: filledText(member<ResponsesItem>(item, 'name')),
    input: digestOfInput(item),
  };
}

/** True for a call with the call id of the item but a different name. */
function isOtherCall(item: TrackedItem, { call, name }: Names): boolean {
  return (
    call !== undefined && call === item.call && name !== undefined && item.name !== undefined && name !== item.name
  );
}

/** Digest of the arguments or the input of a call; undefined for other items. */
function digestOfInput(item: JsonValue | undefined): string | undefined {
  if (!isJsonObject(item) || filledText(item['call_id']) === undefined) return undefined;
  const { arguments: given, input = given }: ResponsesItem = item;
  const whole = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  return createHash('sha256').update(canonicalInput(whole)).digest('base64');
}
