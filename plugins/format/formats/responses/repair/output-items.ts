import { ItemTracker, type TrackedItem } from '../reply/item-tracker.ts';
import { newItemId, textOr, typeOf } from './repair-item.ts';
import { StreamedItem } from './streamed-item.ts';
import type { ResponsesEvent, ResponsesItem } from '../../../wire/responses.ts';

/** The items of a repaired stream. */
export class OutputItems {
  readonly #id: string;
  readonly #tracker = new ItemTracker();
  readonly #byKey = new Map<number, StreamedItem>();
  readonly #all: StreamedItem[] = [];
  /** By the ids of items and calls. */
  readonly #byId = new Map<unknown, StreamedItem>();
  readonly #open = new Set<StreamedItem>();
  #announced = 0;

  /** @param id of the exchange, for items without one */
  constructor(id: string) {
    this.#id = id;
  }

  /** Items that are announced to the client, in its order. */
  get announced(): readonly StreamedItem[] {
    return this.#all
      .filter(({ isAnnounced }) => isAnnounced)
      .toSorted((one, other) => Number(one.index) - Number(other.index));
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** Items that are not finished. */
  get open(): readonly StreamedItem[] {
    for (const item of this.#open) if (item.isDone) this.#open.delete(item);
    return [...this.#open];
  }

  readonly nextIndex = (): number => this.#announced++;

  /** The item that an event announces. */
  announce(event: ResponsesEvent, item: ResponsesItem): StreamedItem {
    return this.#create(this.#tracker.open(event), typeOf(item), item);
  }

  /** The open item of a type that an event belongs to; an unannounced one begins with it. */
  find(event: ResponsesEvent, type: string): StreamedItem {
    const tracked = this.#tracker.find(event);
    const known = this.#byKey.get(tracked.key);
    if (known !== undefined && known.type === type && !known.isDone) return known;
    const given = { id: event.item_id };
    return this.#create(known === undefined ? tracked : this.#tracker.open(event), type, given);
  }

  /** The item that an event finishes, for the first time or again. */
  finishing(event: ResponsesEvent, item: ResponsesItem): StreamedItem {
    const type = typeOf(item);
    const tracked = this.#tracker.find(event);
    const known = this.#byKey.get(tracked.key);
    if (known?.type === type) return known;
    const begun = this.open.find((one) => one.type === type && !isOther(one, item));
    return begun ?? this.#create(known === undefined ? tracked : this.#tracker.open(event), type, item);
  }

  /** The item that the end of the reply repeats. @param others those that it has repeated before */
  recall(item: ResponsesItem, others: ReadonlySet<StreamedItem>): StreamedItem {
    const type = typeOf(item);
    const known = this.#byId.get(item.call_id) ?? this.#byId.get(item.id);
    if (known?.type === type && !others.has(known)) return known;
    const same = this.#all.find((one) => one.type === type && !others.has(one) && !isOther(one, item));
    return same ?? this.#create(this.#tracker.open({ item }), type, item);
  }

  #create(tracked: TrackedItem, type: string, item: ResponsesItem): StreamedItem {
    const names = {
      id: textOr(item.id, newItemId(type, this.#id, tracked.key)),
      callId: textOr(item.call_id, textOr(item.id, `call_${this.#id}_${tracked.key}`)),
    };
    const created = new StreamedItem(tracked, type, names);
    this.#byKey.set(tracked.key, created);
    this.#all.push(created);
    this.#open.add(created);
    for (const id of [names.id, item.call_id]) if (typeof id === 'string') this.#byId.set(id, created);
    return created;
  }
}

/** True when both calls have ids, and different ones. */
function isOther({ item: known }: StreamedItem, item: ResponsesItem): boolean {
  const [one, other] = [known.call_id, item.call_id];
  return typeof one === 'string' && typeof other === 'string' && one !== other;
}
