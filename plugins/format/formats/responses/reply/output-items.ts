import { UniqueIds } from '../../../canonical/call-ids.ts';
import { filledText, member, scalarNumber } from '../../../wire/members.ts';
import { digestOfInput, type GivenNames, inputMemberOf, isSameCall, textOr, typeOf } from './repair-item.ts';
import { StreamedItem } from './streamed-item.ts';
import { newItemId } from './write-output.ts';
import type { ResponsesEvent, ResponsesItem } from '../../../wire/responses.ts';

/**
 * Finds the item that an event belongs to. Vendors leave out `item_id` or `output_index`, change the id from event to event, give every
 * item the index 0, or give several calls of an answer the same id.
 */
export class OutputItems {
  readonly #id: string | undefined;
  readonly #all: StreamedItem[] = [];
  readonly #open = new Set<StreamedItem>();
  readonly #byId = new Map<unknown, StreamedItem>();
  readonly #byIndex = new Map<number, StreamedItem>();
  readonly #byCall = new Map<unknown, StreamedItem[]>();
  readonly #callIds = new UniqueIds();
  #last: StreamedItem | undefined;
  /** An item without id and index; the next event that has either of them identifies it. */
  #nameless: StreamedItem | undefined;
  #announced = 0;

  /** @param id id of the exchange, used for items without an id; undefined to leave them without one */
  constructor(id: string | undefined) {
    this.#id = id;
  }

  /** Items announced to the client, in the client's order. */
  get announced(): readonly StreamedItem[] {
    return this.#all
      .filter(({ isAnnounced }) => isAnnounced)
      .toSorted((one, other) => scalarNumber(one.index) - scalarNumber(other.index));
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  get open(): readonly StreamedItem[] {
    for (const item of this.#open) if (item.isDone) this.#open.delete(item);
    return [...this.#open];
  }

  /** True for an event whose id is that of a finished item. */
  isDone({ item_id: id }: ResponsesEvent): boolean {
    return this.#byId.get(id)?.isDone === true;
  }

  readonly nextIndex = (): number => this.#announced++;

  /** Begins an item, even at an index that was in use before. */
  announce(event: ResponsesEvent, item: ResponsesItem): StreamedItem {
    const type = typeOf(item);
    const calls = inputMemberOf(type) === undefined ? [] : (this.#byCall.get(item.call_id) ?? []);
    const twin = calls.find((one) => one.isDone && one.type === type && one.item.name === item.name);
    return this.#create(namesOf(event), type, item, twin);
  }

  /** The open item of a type that an event belongs to; the event begins an unannounced item. */
  find(event: ResponsesEvent, type: string): StreamedItem {
    const names = namesOf(event);
    const known = this.#find(names);
    return known?.type === type && !known.isDone ? known : this.#create(names, type, { id: event.item_id });
  }

  /** The item that an event finishes, possibly for the second time. */
  finishing(event: ResponsesEvent, item: ResponsesItem): StreamedItem {
    const names = namesOf(event);
    const type = typeOf(item);
    const found = this.#find(names);
    const known = found?.type === type ? found : this.open.find((one) => one.type === type && !isOther(one, item));
    return known === undefined ? this.#create(names, type, item) : this.#identified(known, item);
  }

  /** The items by type, for `recall`. */
  byType(): Map<string, Set<StreamedItem>> {
    const byType = Map.groupBy(this.#all, ({ type }) => type);
    return new Map(byType.entries().map(([type, items]) => [type, new Set(items)]));
  }

  /**
   * The item that the end of the reply repeats.
   *
   * @param unlisted items that the end of the reply has not repeated yet, by type
   */
  recall(item: ResponsesItem, unlisted: ReadonlyMap<string, Set<StreamedItem>>): StreamedItem {
    const type = typeOf(item);
    const left = unlisted.get(type) ?? new Set();
    const named = this.#byCall.get(item.call_id) ?? [];
    const calls = named.filter((one) => left.has(one));
    const call = calls.find(({ names }) => names.id === item.id) ?? calls.find((one) => one.item.name === item.name);
    const byId = this.#byId.get(item.id);
    const known = call ?? (byId !== undefined && left.has(byId) && !isOther(byId, item) ? byId : undefined);
    const same =
      known ??
      left.values().find((one) => !isOther(one, item)) ??
      named.find((one) => one.isDone && isSameCall(one.item, item));
    if (same === undefined) return this.#create(namesOf({ item }), type, item);
    left.delete(same);
    return this.#identified(same, item);
  }

  /** Sets the id of a call in the client's answer. */
  nameCall(known: StreamedItem): void {
    if (known.givenCallId !== undefined)
      known.names = { ...known.names, callId: this.#callIds.next(known.givenCallId) };
  }

  #find(names: GivenNames): StreamedItem | undefined {
    const known = this.#known(names) ?? this.#current(names);
    if (known !== undefined) this.#learnCall(names, known);
    return known;
  }

  #known(names: GivenNames): StreamedItem | undefined {
    const { id, index, call } = names;
    const byCall = call === undefined ? undefined : this.#knownCall(names);
    if (byCall !== undefined) return byCall;
    const byId = id === undefined ? undefined : this.#byId.get(id);
    // OpenAI may give a call one id when it opens and another when it is done: the item is the same.
    if (byId?.isDone === false && !isOtherCall(byId, names)) return byId;
    const item = byId ?? this.#openAt(index);
    const isAnother = call !== undefined && item?.call !== undefined;
    return isAnother ? undefined : item;
  }

  /** An open call, or a finished call that the event finishes again. */
  #knownCall(names: GivenNames): StreamedItem | undefined {
    const calls = this.#callsOf(names);
    const open = calls.filter(({ isDone }) => !isDone);
    const isSame = ({ given: { id, index } }: StreamedItem) =>
      (id !== undefined && id === names.id) || (index !== undefined && index === names.index);
    return (
      open.find(isSame) ??
      open[0] ??
      calls.find(({ isDone, digest }) => isDone && digest === names.digest) ??
      calls.find(({ given: { id } }) => id !== undefined && id === names.id)
    );
  }

  /** The calls with the same call id whose names do not differ. */
  #callsOf({ call, name }: GivenNames): readonly StreamedItem[] {
    const calls = call === undefined ? [] : (this.#byCall.get(call) ?? []);
    return calls.filter((known) => known.name === undefined || name === undefined || known.name === name);
  }

  /** An event without id and index belongs to the open item, and so does the first event that identifies the item. */
  #current({ id, index }: GivenNames): StreamedItem | undefined {
    const current = id === undefined && index === undefined ? this.#last : this.#nameless;
    return current?.isDone === false ? current : undefined;
  }

  #openAt(index: number | undefined): StreamedItem | undefined {
    const item = index === undefined ? undefined : this.#byIndex.get(index);
    return item?.isDone === true ? undefined : item;
  }

  #identified(known: StreamedItem, { call_id: given }: ResponsesItem): StreamedItem {
    // Some endpoints give a call one id when it opens and another when it is done.
    const isNew = given !== known.givenCallId && !known.isDone && inputMemberOf(known.type) !== undefined;
    if (!isNew || typeof given !== 'string' || given === '') return known;
    known.givenCallId = given;
    this.#addCall(given, known);
    if (known.twin === undefined) this.nameCall(known);
    return known;
  }

  #create(given: GivenNames, type: string, item: ResponsesItem, twin?: StreamedItem): StreamedItem {
    const key = this.#all.length;
    const names = {
      id: textOr(item.id, this.#id === undefined ? '' : newItemId(type, this.#id, key)),
      callId: textOr(item.id, this.#id === undefined ? '' : `call_${this.#id}_${key}`),
    };
    const created = new StreamedItem(type, given, names);
    created.twin = twin;
    this.#all.push(created);
    this.#open.add(created);
    for (const id of [names.id, given.id]) if (id !== undefined && id !== '') this.#byId.set(id, created);
    if (given.index !== undefined) this.#byIndex.set(given.index, created);
    if (given.id === undefined && given.index === undefined && given.call === undefined) this.#nameless = created;
    this.#learnCall(given, created);
    this.#last = created;
    return this.#identified(created, item);
  }

  #learnCall({ call, name }: GivenNames, item: StreamedItem): void {
    item.call ??= call;
    item.name ??= name;
    if (call !== undefined) this.#addCall(call, item);
  }

  #addCall(call: string, item: StreamedItem): void {
    const calls = this.#byCall.get(call) ?? [];
    if (!calls.includes(item)) this.#byCall.set(call, [...calls, item]);
  }
}

function namesOf({ item, item_id: id, output_index: index }: ResponsesEvent): GivenNames {
  return {
    id: filledText(id) ?? filledText(member<ResponsesItem>(item, 'id')),
    index: typeof index === 'number' ? index : undefined,
    call: filledText(member<ResponsesItem>(item, 'call_id')),
    name: filledText(member<ResponsesItem>(item, 'name')),
    digest: digestOfInput(item),
  };
}

/** True for a call with the call id of the item but a different name. */
function isOtherCall(item: StreamedItem, { call, name }: GivenNames): boolean {
  return (
    call !== undefined && call === item.call && name !== undefined && item.name !== undefined && name !== item.name
  );
}

/** True if both calls have ids and the ids differ. */
function isOther({ givenCallId: one }: StreamedItem, { call_id: other }: ResponsesItem): boolean {
  return typeof one === 'string' && typeof other === 'string' && one !== other;
}
