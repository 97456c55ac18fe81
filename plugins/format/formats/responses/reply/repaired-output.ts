import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { readMember } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';
import { itemTypeOf } from './events.ts';
import { OutputItems } from './output-items.ts';
import { inputMemberOf, readInputText, isSameCall, toOpeningForm, repairItem, withMembers } from './repair-item.ts';
import type { StreamedItem, GrowingText, StreamedPart } from './streamed-item.ts';
import { type TextPartKind, findPartKind, findEventPartKind } from './text-parts.ts';

type Events = readonly ResponsesEvent[];

/** Items of all other types come from the vendor's own tools. */
const modelItemTypes: ReadonlySet<string> = new Set(['message', 'reasoning', 'function_call', 'custom_tool_call']);

/** Repairs events about items and their parts. Events have no number if the upstream sent none. */
export class RepairedOutput {
  readonly #items: OutputItems;
  /** The text that the last event appended to; undefined if it was not a delta. */
  lastText: GrowingText | undefined;

  /** @param id id of the exchange; undefined to leave items without an id unchanged */
  constructor(id?: string) {
    this.#items = new OutputItems(id);
  }

  get isEmpty(): boolean {
    return this.#items.isEmpty;
  }

  writePartialOutput(): JsonValue[] {
    return this.#items.listAnnouncedItems().map((item) => (item.isDone ? item.item : item.writePartial()));
  }

  /** A clean event is returned unchanged. */
  repairEvent(type: string, data: ResponsesEvent): Events {
    this.lastText = undefined;
    const { item } = data;
    if (type === 'response.output_item.added') return isJsonObject(item) ? this.#startItem(data, item) : [];
    if (type === 'response.output_item.done') return isJsonObject(item) ? this.#endItem(data, item) : [];
    const itemType = itemTypeOf(type);
    if (itemType !== undefined && !modelItemTypes.has(itemType)) return this.#repairHostedEvent(itemType, data);
    // A late event adds nothing to a finished item. A late delta, however, starts a new one.
    if (!type.endsWith('.delta') && this.#items.isForFinishedItem(data)) return [];
    const kind = findEventPartKind(type);
    if (kind !== undefined) return this.#repairText(type, data, kind);
    if (type.includes('_part.')) return this.#repairPartEvent(type, data);
    if (type === 'response.output_text.annotation.added') return this.#addCitation(data);
    return itemType === undefined ? [data] : this.#repairInput(type, itemType, data);
  }

  /** @param status status for an item that has none */
  repairItems(vendorItems: readonly JsonValue[], status: string): JsonValue[] {
    const remainingItems = this.#items.groupByType();
    return vendorItems.filter(isJsonObject).flatMap((item) => {
      const streamedItem = this.#items.matchFinalItem(item, remainingItems);
      if (streamedItem.isDone) return [];
      streamedItem.item = repairItem(item, streamedItem.names, status);
      streamedItem.markDone(streamedItem.item);
      return [streamedItem.item];
    });
  }

  /** Returns events for content that only the final response's output has. */
  completeOutput(vendorItems: readonly JsonValue[]): Events {
    const remainingItems = this.#items.groupByType();
    return vendorItems.filter(isJsonObject).flatMap((item) => {
      const streamedItem = this.#items.matchFinalItem(item, remainingItems);
      if (!streamedItem.isDone)
        return this.#dropIfRepeat(streamedItem, item) ? [] : streamedItem.finish(item, 'completed');
      streamedItem.item = repairItem(item, streamedItem.names, 'completed');
      return [];
    });
  }

  /** The last item gets this status. */
  closeItems(status: string): Events {
    // A call without a name cannot be run.
    const openItems = this.#items.listOpenItems().filter(({ isAnnounced }) => isAnnounced);
    return openItems.flatMap((item) => item.finish(undefined, item === openItems.at(-1) ? status : 'completed'));
  }

  /** Returns true if the call was dropped. */
  #dropIfRepeat(streamedItem: StreamedItem, vendorItem: ResponsesItem): boolean {
    const { possibleOriginal, isAnnounced, heldInput } = streamedItem;
    const input = inputMemberOf(streamedItem.type);
    if (possibleOriginal === undefined || isAnnounced || input === undefined) return false;
    streamedItem.possibleOriginal = undefined;
    const fullInput = readInputText(vendorItem[input]) || heldInput.text;
    streamedItem.isDone = isSameCall(
      { ...possibleOriginal.item, type: streamedItem.type },
      { ...vendorItem, type: streamedItem.type, [input]: fullInput },
    );
    if (streamedItem.isDone) streamedItem.markDone(vendorItem);
    else this.#items.assignCallId(streamedItem);
    return streamedItem.isDone;
  }

  #startItem(data: ResponsesEvent, vendorItem: ResponsesItem): Events {
    const streamedItem = this.#items.startItem(data, vendorItem);
    const item = holdBackInput(repairItem(vendorItem, streamedItem.names, 'in_progress'), streamedItem);
    // The name may not arrive until the call ends.
    if (streamedItem.possibleOriginal !== undefined || (item.type === 'function_call' && typeof item.name !== 'string'))
      return [];
    return [streamedItem.announce(item, data)];
  }

  #endItem(data: ResponsesEvent, vendorItem: ResponsesItem): Events {
    const streamedItem = this.#items.findFinished(data, vendorItem);
    if (streamedItem.isDone || this.#dropIfRepeat(streamedItem, vendorItem)) return [];
    return streamedItem.finish(vendorItem, 'completed', data);
  }

  #ensureItem(type: string, data: ResponsesEvent): { readonly item: StreamedItem; readonly events: Events } {
    const item = this.#items.findOrCreate(data, type);
    if (item.isAnnounced) return { item, events: [] };
    const openingForm = toOpeningForm(repairItem({ type }, item.names, 'in_progress'));
    return { item, events: [item.announce(openingForm)] };
  }

  #ensurePart(
    data: ResponsesEvent,
    kind: TextPartKind,
    openPart = (part: StreamedPart) => part.open(),
  ): { readonly part: StreamedPart; readonly events: Events } {
    const { item, events } = this.#ensureItem(itemTypeOf(`${kind.events}.delta`) ?? 'message', data);
    const vendorIndex = data[kind.index];
    const knownPart = item.findPart(kind, vendorIndex);
    if (knownPart !== undefined) return { part: knownPart, events };
    const part = item.openPart(kind, vendorIndex);
    return { part, events: [...events, openPart(part)] };
  }

  #repairText(type: string, data: ResponsesEvent, kind: TextPartKind): Events {
    const { delta } = data;
    const isDelta = type.endsWith('.delta');
    if (isDelta && typeof delta !== 'string') return [];
    const { part, events } = this.#ensurePart(data, kind);
    if (!isDelta) return [...events, ...part.endText(data, data)];
    this.lastText = part.receivedText;
    const locatedEvent = part.append(delta as string, undefined, data);
    return events.length === 0 ? [locatedEvent] : [...events, locatedEvent];
  }

  #repairPartEvent(type: string, data: ResponsesEvent): Events {
    const { part: vendorPart } = data;
    const summary = type.includes('summary') ? 'summary_text' : 'output_text';
    const kind = findPartKind(isJsonObject(vendorPart) ? readMember<ResponsesPart>(vendorPart, 'type') : summary);
    if (kind === undefined) return [data];
    // An earlier delta may already have opened the part.
    if (type.endsWith('.added')) return this.#ensurePart(data, kind, (part) => part.open(vendorPart, data)).events;
    const { part, events } = this.#ensurePart(data, kind);
    return [...events, ...part.close(vendorPart, data)];
  }

  #addCitation(data: ResponsesEvent): Events {
    const { part, events } = this.#ensurePart(data, findPartKind('output_text') as TextPartKind);
    return [...events, part.item.addCitation(part, data.annotation, data)];
  }

  #repairInput(type: string, itemType: string, data: ResponsesEvent): Events {
    const item = this.#items.findOrCreate(data, itemType);
    const name = inputMemberOf(itemType) ?? 'input';
    if (type.endsWith('.delta')) {
      const { delta } = data;
      if (typeof delta !== 'string') return [];
      this.lastText = item.isAnnounced ? item.input : undefined;
      if (item.isAnnounced) return [item.appendInput(delta, data)];
      // The input is held back until the call has a name.
      item.heldInput.add(delta);
      return [];
    }
    const fullInput = readInputText(data[name]) || item.input.text || (name === 'arguments' ? '{}' : '');
    if (item.isAnnounced) return item.hasEndedInput ? [] : item.endInput(fullInput, item.item.name, data);
    item.heldInput.add(item.heldInput.findMissingEnd(fullInput));
    return [];
  }

  #repairHostedEvent(type: string, data: ResponsesEvent): Events {
    const { item, events } = this.#ensureItem(type, data);
    return [...events, withMembers(data, item.location)];
  }
}

function holdBackInput(item: ResponsesItem, streamedItem: StreamedItem): ResponsesItem {
  const name = inputMemberOf(streamedItem.type);
  if (name === undefined) return item;
  // Clients append deltas to the opening input, so the input is held back.
  streamedItem.heldInput.add(readInputText(item[name]));
  return withMembers(item, { [name]: '' });
}
