import type { CollectedText } from '#core/platform/memory/collected-text.ts';
import { member } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesItem } from '../../../wire/responses.ts';

/** An open item of the output. */
export interface TrackedItem {
  /** Unique per call of a reply. */
  readonly key: number;
  /** Type and id of the call, once they are known. */
  type: string | undefined;
  call: string | undefined;
  /** The text so far of each part, by its kind and index. */
  readonly parts: Map<string, CollectedText>;
  lastPart: string | undefined;
  citations: number;
  /** Its reasoning state has been passed on, or can no longer be. */
  hasState: boolean;
  /** True once the call has a name and can take its input. */
  isNamed: boolean;
  isDone: boolean;
}

/**
 * Finds the item that an event belongs to. Vendors leave out `item_id` or `output_index`, change the id from event to
 * event, or give every item the index 0.
 */
export class ItemTracker {
  readonly #byId = new Map<string, TrackedItem>();
  readonly #byIndex = new Map<number, TrackedItem>();
  readonly #byCall = new Map<string, TrackedItem>();
  #last: TrackedItem | undefined;
  /** An item without id and index, which the next event with one identifies. */
  #nameless: TrackedItem | undefined;
  #count = 0;

  isLast(item: TrackedItem): boolean {
    return this.#last === item;
  }

  /** Begins an item, whatever had its index before. */
  open(event: ResponsesEvent): TrackedItem {
    const item = newItem(this.#count++);
    this.#learn(event, item);
    return item;
  }

  /** The item that an event belongs to; an unannounced one begins with it. */
  find(event: ResponsesEvent): TrackedItem {
    const names = namesOf(event);
    const known = this.#known(names) ?? this.#current(names);
    if (known === undefined) return this.open(event);
    this.#call(names, known);
    return known;
  }

  /** The item that the end of a reply repeats. */
  recall(event: ResponsesEvent): TrackedItem | undefined {
    const { id, index, call, type } = namesOf(event);
    const byCall = call === undefined ? undefined : this.#byCall.get(call);
    if (byCall !== undefined) return byCall;
    const byId = id === undefined ? undefined : this.#byId.get(id);
    if (call !== undefined) return byId?.isDone === false ? byId : undefined;
    if (byId !== undefined) return byId;
    const there = index === undefined ? undefined : this.#byIndex.get(index);
    return there !== undefined && (there.type === undefined || there.type === type) ? there : this.#nameless;
  }

  #known({ id, index, call }: Names): TrackedItem | undefined {
    const byCall = call === undefined ? undefined : this.#byCall.get(call);
    if (byCall !== undefined) return byCall;
    const byId = id === undefined ? undefined : this.#byId.get(id);
    // OpenAI names a call one way when it opens and another way when it is done: the item is the same.
    if (byId?.isDone === false) return byId;
    const item = byId ?? this.#openAt(index);
    const isAnother = call !== undefined && item?.call !== undefined;
    return isAnother ? undefined : item;
  }

  /** An event without id and index belongs to the open item, and so does the first one that identifies it. */
  #current({ id, index }: Names): TrackedItem | undefined {
    const isNameless = id === undefined && index === undefined;
    const current = isNameless ? this.#last : this.#nameless;
    return current?.isDone === false ? current : undefined;
  }

  #openAt(index: number | undefined): TrackedItem | undefined {
    const item = index === undefined ? undefined : this.#byIndex.get(index);
    return item?.isDone === true ? undefined : item;
  }

  #learn(event: ResponsesEvent, item: TrackedItem): void {
    const names = namesOf(event);
    const { id, index, call } = names;
    if (id !== undefined) this.#byId.set(id, item);
    if (index !== undefined) this.#byIndex.set(index, item);
    if (id === undefined && index === undefined && call === undefined) this.#nameless = item;
    this.#call(names, item);
    this.#last = item;
  }

  #call({ call, type }: Names, item: TrackedItem): void {
    item.type ??= type;
    item.call ??= call;
    if (call !== undefined) this.#byCall.set(call, item);
  }
}

function newItem(key: number): TrackedItem {
  return {
    key,
    type: undefined,
    call: undefined,
    parts: new Map(),
    lastPart: undefined,
    citations: 0,
    hasState: false,
    isNamed: false,
    isDone: false,
  };
}

interface Names {
  readonly id: string | undefined;
  readonly index: number | undefined;
  readonly call: string | undefined;
  readonly type: string | undefined;
}

function namesOf(event: ResponsesEvent): Names {
  const { item, item_id: id, output_index: index } = event;
  return {
    id: text(id) ?? text(member<ResponsesItem>(item, 'id')),
    index: typeof index === 'number' ? index : undefined,
    call: text(member<ResponsesItem>(item, 'call_id')),
    type: text(member<ResponsesItem>(item, 'type')),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
