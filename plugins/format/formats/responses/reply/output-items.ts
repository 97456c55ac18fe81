import { UniqueIds } from '../../../canonical/call-ids.ts';
import { asFilledText, readMember, scalarToNumber } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesItem } from '../../../wire/responses.ts';
import { digestInput, type VendorNames, inputMemberOf, isSameCall, textOr, typeOf } from './repair-item.ts';
import { StreamedItem } from './streamed-item.ts';
import { createItemId } from './write-output.ts';

/**
 * Finds the item that an event belongs to. Some vendors omit `item_id` or `output_index`, change the id from event to event, give every
 * item the index 0, or give several calls in an answer the same id.
 */
export class OutputItems {
  readonly #exchangeId: string | undefined;
  readonly #items: StreamedItem[] = [];
  readonly #openItems = new Set<StreamedItem>();
  readonly #itemsById = new Map<unknown, StreamedItem>();
  readonly #itemsByIndex = new Map<number, StreamedItem>();
  readonly #callsById = new Map<unknown, StreamedItem[]>();
  readonly #callIds = new UniqueIds();
  #lastItem: StreamedItem | undefined;
  /** An item with neither an id nor an index. The next event that has either belongs to it. */
  #unidentifiedItem: StreamedItem | undefined;
  #announcedCount = 0;

  /** @param id id of the exchange, for items without an id; undefined to leave them without one */
  constructor(id: string | undefined) {
    this.#exchangeId = id;
  }

  /** Lists the items in the client's order. */
  listAnnouncedItems(): readonly StreamedItem[] {
    return this.#items
      .filter(({ isAnnounced }) => isAnnounced)
      .toSorted((first, second) => scalarToNumber(first.index) - scalarToNumber(second.index));
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  listOpenItems(): readonly StreamedItem[] {
    for (const item of this.#openItems) if (item.isDone) this.#openItems.delete(item);
    return [...this.#openItems];
  }

  isForFinishedItem({ item_id: id }: ResponsesEvent): boolean {
    return this.#itemsById.get(id)?.isDone === true;
  }

  /** Vendors may reuse an index, so this always creates an item. */
  startItem(event: ResponsesEvent, item: ResponsesItem): StreamedItem {
    const type = typeOf(item);
    const sameIdCalls = inputMemberOf(type) === undefined ? [] : (this.#callsById.get(item.call_id) ?? []);
    const possibleOriginal = sameIdCalls.find(
      (call) => call.isDone && call.type === type && call.item.name === item.name,
    );
    return this.#createItem(readVendorNames(event), type, item, possibleOriginal);
  }

  findOrCreate(event: ResponsesEvent, type: string): StreamedItem {
    const names = readVendorNames(event);
    const item = this.#findItem(names);
    return item?.type === type && !item.isDone ? item : this.#createItem(names, type, { id: event.item_id });
  }

  /** The event may finish the item for the second time. */
  findFinished(event: ResponsesEvent, item: ResponsesItem): StreamedItem {
    const names = readVendorNames(event);
    const type = typeOf(item);
    const namedItem = this.#findItem(names);
    const finishedItem =
      namedItem?.type === type
        ? namedItem
        : this.listOpenItems().find((openItem) => openItem.type === type && !hasDifferentCallId(openItem, item));
    return finishedItem === undefined ? this.#createItem(names, type, item) : this.#updateCallId(finishedItem, item);
  }

  groupByType(): Map<string, Set<StreamedItem>> {
    const itemsByType = Map.groupBy(this.#items, ({ type }) => type);
    return new Map(itemsByType.entries().map(([type, items]) => [type, new Set(items)]));
  }

  /** @param remainingItems items that the final response has not repeated yet, by type; the returned item is removed from it */
  matchFinalItem(item: ResponsesItem, remainingItems: ReadonlyMap<string, Set<StreamedItem>>): StreamedItem {
    const type = typeOf(item);
    const candidates = remainingItems.get(type) ?? new Set();
    const sameIdCalls = this.#callsById.get(item.call_id) ?? [];
    const calls = sameIdCalls.filter((call) => candidates.has(call));
    const call =
      calls.find(({ names }) => names.id === item.id) ?? calls.find((candidate) => candidate.item.name === item.name);
    const byId = this.#itemsById.get(item.id);
    const identifiedItem =
      call ?? (byId !== undefined && candidates.has(byId) && !hasDifferentCallId(byId, item) ? byId : undefined);
    const match =
      identifiedItem ??
      candidates.values().find((candidate) => !hasDifferentCallId(candidate, item)) ??
      sameIdCalls.find((finishedCall) => finishedCall.isDone && isSameCall(finishedCall.item, item));
    if (match === undefined) return this.#createItem(readVendorNames({ item }), type, item);
    candidates.delete(match);
    return this.#updateCallId(match, item);
  }

  assignCallId(item: StreamedItem): void {
    if (item.latestCallId !== undefined) item.names = { ...item.names, callId: this.#callIds.add(item.latestCallId) };
  }

  #findItem(names: VendorNames): StreamedItem | undefined {
    const item = this.#findIdentified(names) ?? this.#findCurrent(names);
    if (item !== undefined) this.#recordCall(names, item);
    return item;
  }

  #findIdentified(names: VendorNames): StreamedItem | undefined {
    const { id, index, callId } = names;
    const byCall = callId === undefined ? undefined : this.#findCall(names);
    if (byCall !== undefined) return byCall;
    const byId = id === undefined ? undefined : this.#itemsById.get(id);
    // OpenAI may change a call's id between opening it and finishing it.
    if (byId?.isDone === false && !hasDifferentName(byId, names)) return byId;
    const item = byId ?? this.#findOpenByIndex(index);
    const isDifferentCall = callId !== undefined && item?.firstCallId !== undefined;
    return isDifferentCall ? undefined : item;
  }

  #findCall(names: VendorNames): StreamedItem | undefined {
    const calls = this.#findCompatibleCalls(names);
    const openCalls = calls.filter(({ isDone }) => !isDone);
    const isSame = ({ vendorNames: { id, index } }: StreamedItem) =>
      (id !== undefined && id === names.id) || (index !== undefined && index === names.index);
    return (
      openCalls.find(isSame) ??
      openCalls[0] ??
      calls.find(({ isDone, inputDigest }) => isDone && inputDigest === names.inputDigest) ??
      calls.find(({ vendorNames: { id } }) => id !== undefined && id === names.id)
    );
  }

  #findCompatibleCalls({ callId, name }: VendorNames): readonly StreamedItem[] {
    const calls = callId === undefined ? [] : (this.#callsById.get(callId) ?? []);
    return calls.filter((candidate) => candidate.name === undefined || name === undefined || candidate.name === name);
  }

  #findCurrent({ id, index }: VendorNames): StreamedItem | undefined {
    const currentItem = id === undefined && index === undefined ? this.#lastItem : this.#unidentifiedItem;
    return currentItem?.isDone === false ? currentItem : undefined;
  }

  #findOpenByIndex(index: number | undefined): StreamedItem | undefined {
    const item = index === undefined ? undefined : this.#itemsByIndex.get(index);
    return item?.isDone === true ? undefined : item;
  }

  #updateCallId(item: StreamedItem, { call_id: vendorCallId }: ResponsesItem): StreamedItem {
    // Some endpoints change a call's id between opening it and finishing it.
    const hasNewId = vendorCallId !== item.latestCallId && !item.isDone && inputMemberOf(item.type) !== undefined;
    if (!hasNewId || typeof vendorCallId !== 'string' || vendorCallId === '') return item;
    item.latestCallId = vendorCallId;
    this.#addCall(vendorCallId, item);
    if (item.possibleOriginal === undefined) this.assignCallId(item);
    return item;
  }

  #createItem(
    vendorNames: VendorNames,
    type: string,
    item: ResponsesItem,
    possibleOriginal?: StreamedItem,
  ): StreamedItem {
    const position = this.#items.length;
    const names = {
      id: textOr(item.id, this.#exchangeId === undefined ? '' : createItemId(type, this.#exchangeId, position)),
      callId: textOr(item.id, this.#exchangeId === undefined ? '' : `call_${this.#exchangeId}_${position}`),
    };
    const streamedItem = new StreamedItem(type, names, () => this.#announcedCount++, vendorNames);
    streamedItem.possibleOriginal = possibleOriginal;
    this.#items.push(streamedItem);
    this.#openItems.add(streamedItem);
    for (const id of [names.id, vendorNames.id])
      if (id !== undefined && id !== '') this.#itemsById.set(id, streamedItem);
    if (vendorNames.index !== undefined) this.#itemsByIndex.set(vendorNames.index, streamedItem);
    if (vendorNames.id === undefined && vendorNames.index === undefined && vendorNames.callId === undefined)
      this.#unidentifiedItem = streamedItem;
    this.#recordCall(vendorNames, streamedItem);
    this.#lastItem = streamedItem;
    return this.#updateCallId(streamedItem, item);
  }

  #recordCall({ callId, name }: VendorNames, item: StreamedItem): void {
    item.firstCallId ??= callId;
    item.name ??= name;
    if (callId !== undefined) this.#addCall(callId, item);
  }

  #addCall(callId: string, item: StreamedItem): void {
    const calls = this.#callsById.get(callId) ?? [];
    if (!calls.includes(item)) this.#callsById.set(callId, [...calls, item]);
  }
}

function readVendorNames({ item, item_id: id, output_index: index }: ResponsesEvent): VendorNames {
  return {
    id: asFilledText(id) ?? asFilledText(readMember<ResponsesItem>(item, 'id')),
    index: typeof index === 'number' ? index : undefined,
    callId: asFilledText(readMember<ResponsesItem>(item, 'call_id')),
    name: asFilledText(readMember<ResponsesItem>(item, 'name')),
    inputDigest: digestInput(item),
  };
}

function hasDifferentName(item: StreamedItem, { callId, name }: VendorNames): boolean {
  return (
    callId !== undefined &&
    callId === item.firstCallId &&
    name !== undefined &&
    item.name !== undefined &&
    name !== item.name
  );
}

function hasDifferentCallId({ latestCallId: first }: StreamedItem, { call_id: second }: ResponsesItem): boolean {
  return typeof first === 'string' && typeof second === 'string' && first !== second;
}
