import { UniqueIds } from '../../../canonical/call-ids.ts';
import { ItemTracker, type TrackedItem } from '../reply/item-tracker.ts';
import { newItemId } from '../reply/write-output.ts';
import { inputMemberOf, textOr, typeOf } from './repair-item.ts';
import { StreamedItem } from './streamed-item.ts';
import type { ResponsesEvent, ResponsesItem } from '../../../wire/responses.ts';

/** The items of a repaired stream. */
export class OutputItems {
  readonly #id: string;
  readonly #tracker = new ItemTracker();
  readonly #byKey = new Map<number, StreamedItem>();
  readonly #all: StreamedItem[] = [];
  readonly #byId = new Map<unknown, StreamedItem>();
  /** Calls by the vendor's call id, which may repeat. */
  readonly #byCall = new Map<unknown, StreamedItem[]>();
  readonly #callIds = new UniqueIds();
  readonly #open = new Set<StreamedItem>();
  #announced = 0;

  /** @param id id of the exchange, used for items without an id */
  constructor(id: string) {
    this.#id = id;
  }

  /** Items announced to the client, in the client's order. */
  get announced(): readonly StreamedItem[] {
    return this.#all
      .filter(({ isAnnounced }) => isAnnounced)
      .toSorted((one, other) => Number(one.index) - Number(other.index));
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  get open(): readonly StreamedItem[] {
    for (const item of this.#open) if (item.isDone) this.#open.delete(item);
    return [...this.#open];
  }

  readonly nextIndex = (): number => this.#announced++;

  announce(event: ResponsesEvent, item: ResponsesItem): StreamedItem {
    const type = typeOf(item);
    const calls = this.#byCall.get(item.call_id) ?? [];
    const twin = calls.find((one) => one.isDone && one.type === type && one.item.name === item.name);
    return this.#create(this.#tracker.open(event), type, item, twin);
  }

  /** The open item of a type that an event belongs to; the event begins an unannounced item. */
  find(event: ResponsesEvent, type: string): StreamedItem {
    const tracked = this.#tracker.find(event);
    const known = this.#byKey.get(tracked.key);
    if (known !== undefined && known.type === type && !known.isDone) return known;
    const given = { id: event.item_id };
    return this.#create(known === undefined ? tracked : this.#tracker.open(event), type, given);
  }

  /** The item that an event finishes, possibly for the second time. */
  finishing(event: ResponsesEvent, item: ResponsesItem): StreamedItem {
    const type = typeOf(item);
    const tracked = this.#tracker.find(event);
    const known = this.#byKey.get(tracked.key);
    if (known?.type === type) return this.#identified(known, item);
    const begun = this.open.find((one) => one.type === type && !isOther(one, item));
    return begun !== undefined
      ? this.#identified(begun, item)
      : this.#create(known === undefined ? tracked : this.#tracker.open(event), type, item);
  }

  /**
   * The item that the end of the reply repeats.
   *
   * @param others items that the end of the reply has already repeated
   */
  recall(item: ResponsesItem, others: ReadonlySet<StreamedItem>): StreamedItem {
    const type = typeOf(item);
    const isLeft = (one: StreamedItem | undefined) => one?.type === type && !others.has(one);
    const calls = (this.#byCall.get(item.call_id) ?? []).filter(isLeft);
    const call = calls.find(({ names }) => names.id === item.id) ?? calls.find((one) => one.item.name === item.name);
    const byId = this.#byId.get(item.id);
    const known = call ?? (byId !== undefined && isLeft(byId) && !isOther(byId, item) ? byId : undefined);
    const same = known ?? this.#all.find((one) => isLeft(one) && !isOther(one, item));
    if (same !== undefined) return this.#identified(same, item);
    return this.#create(this.#tracker.open({ item }), type, item);
  }

  #identified(known: StreamedItem, { call_id: given }: ResponsesItem): StreamedItem {
    // Some endpoints give a call one id when it opens and another when it is done.
    const isNew = given !== known.givenCallId && !known.isDone && inputMemberOf(known.type) !== undefined;
    if (!isNew || typeof given !== 'string' || given === '') return known;
    known.givenCallId = given;
    this.#byCall.set(given, [...(this.#byCall.get(given) ?? []), known]);
    if (known.twin === undefined) this.nameCall(known);
    return known;
  }

  /** Sets the id of a call in the client's answer. */
  nameCall(known: StreamedItem): void {
    if (known.givenCallId !== undefined)
      known.names = { ...known.names, callId: this.#callIds.next(known.givenCallId) };
  }

  #create(tracked: TrackedItem, type: string, item: ResponsesItem, twin?: StreamedItem): StreamedItem {
    const names = {
      id: textOr(item.id, newItemId(type, this.#id, tracked.key)),
      callId: textOr(item.id, `call_${this.#id}_${tracked.key}`),
    };
    const created = new StreamedItem(tracked, type, names);
    created.twin = twin;
    this.#byKey.set(tracked.key, created);
    this.#all.push(created);
    this.#open.add(created);
    this.#byId.set(names.id, created);
    return this.#identified(created, item);
  }
}

/** True if both calls have ids and the ids differ. */
function isOther({ givenCallId: one }: StreamedItem, { call_id: other }: ResponsesItem): boolean {
  return typeof one === 'string' && typeof other === 'string' && one !== other;
}
