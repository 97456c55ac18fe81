import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { readMember } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';
import { itemTypeOf } from './events.ts';
import { OutputItems } from './output-items.ts';
import { inputMemberOf, readInputText, isSameCall, toOpeningForm, repairItem, withMembers } from './repair-item.ts';
import type { StreamedItem, GrowingText, StreamedPart } from './streamed-item.ts';
import { type TextPartKind, findPartKind, findEventPartKind } from './text-parts.ts';

type Events = readonly ResponsesEvent[];

/** Types of the items that the model writes. Items of other types come from the vendor's own tools. */
const modelItemTypes: ReadonlySet<string> = new Set(['message', 'reasoning', 'function_call', 'custom_tool_call']);

/** Repairs the events of items and their parts. Events have no number if the upstream sent none. */
export class RepairedOutput {
  readonly #items: OutputItems;
  /** The text that the last event appended to; undefined if it was not a delta. */
  lastText: GrowingText | undefined;

  /** @param id id of the exchange; undefined to leave items without an id as they are */
  constructor(id?: string) {
    this.#items = new OutputItems(id);
  }

  get isEmpty(): boolean {
    return this.#items.isEmpty;
  }

  /** Writes the output so far. */
  writePartialOutput(): JsonValue[] {
    return this.#items.listAnnouncedItems().map((item) => (item.isDone ? item.item : item.writePartial()));
  }

  /** Returns the client's events for an upstream event. A clean event is returned as the same object. */
  repairEvent(type: string, data: ResponsesEvent): Events {
    this.lastText = undefined;
    const { item } = data;
    if (type === 'response.output_item.added') return isJsonObject(item) ? this.#startItem(data, item) : [];
    if (type === 'response.output_item.done') return isJsonObject(item) ? this.#endItem(data, item) : [];
    const itemType = itemTypeOf(type);
    if (itemType !== undefined && !modelItemTypes.has(itemType)) return this.#repairHostedEvent(itemType, data);
    // A late event adds nothing to a finished item, but a late delta starts a new item.
    if (!type.endsWith('.delta') && this.#items.isDone(data)) return [];
    const kind = findEventPartKind(type);
    if (kind !== undefined) return type.endsWith('.delta') ? this.#appendDelta(data, kind) : this.#endText(data, kind);
    if (type.includes('_part.')) return this.#repairPartEvent(type, data);
    if (type === 'response.output_text.annotation.added') return this.#addCitation(data);
    return itemType === undefined ? [data] : this.#repairInput(type, itemType, data);
  }

  /**
   * Repairs the items of a non-streaming reply.
   *
   * @param status status for an item without a status
   */
  repairItems(vendorItems: readonly JsonValue[], status: string): JsonValue[] {
    const remainingItems = this.#items.groupByType();
    return vendorItems.filter(isJsonObject).flatMap((item) => {
      const streamedItem = this.#items.matchFinalItem(item, remainingItems);
      if (streamedItem.isDone) return [];
      streamedItem.item = repairItem(item, streamedItem.names, status);
      streamedItem.markDone(streamedItem.item);
      return [streamedItem.item as JsonObject];
    });
  }

  /** Returns the events for content that only the output of the final response has. */
  completeOutput(vendorItems: readonly JsonValue[]): Events {
    const remainingItems = this.#items.groupByType();
    return vendorItems.filter(isJsonObject).flatMap((item) => {
      const streamedItem = this.#items.matchFinalItem(item, remainingItems);
      if (!streamedItem.isDone)
        return this.#dropIfRepeat(streamedItem, item) ? [] : this.#finishItem(streamedItem, item, 'completed');
      streamedItem.item = repairItem(item, streamedItem.names, 'completed');
      return [];
    });
  }

  /** Returns the events that close all open items. The last item gets this status. */
  closeItems(status: string): Events {
    // A call without a name cannot be run.
    const openItems = this.#items.listOpenItems().filter(({ isAnnounced }) => isAnnounced);
    return openItems.flatMap((item) =>
      this.#finishItem(item, undefined, item === openItems.at(-1) ? status : 'completed'),
    );
  }

  /**
   * Drops a call that repeats the id, name and input of an earlier call. The client does not receive it.
   *
   * @returns true if the call was dropped
   */
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
    // The name may arrive only when the call ends.
    if (streamedItem.possibleOriginal !== undefined || (item.type === 'function_call' && typeof item.name !== 'string'))
      return [];
    const added = streamedItem.announce(this.#items.takeNextIndex(), item);
    return [withMembers(data, { output_index: added.output_index, item })];
  }

  #endItem(data: ResponsesEvent, vendorItem: ResponsesItem): Events {
    const streamedItem = this.#items.findFinished(data, vendorItem);
    if (streamedItem.isDone || this.#dropIfRepeat(streamedItem, vendorItem)) return [];
    const events = streamedItem.finish(vendorItem, 'completed', this.#items.takeNextIndex);
    return [...events, withMembers(data, { output_index: streamedItem.index, item: streamedItem.item })];
  }

  #finishItem(streamedItem: StreamedItem, vendorItem: ResponsesItem | undefined, status: string): Events {
    const events = streamedItem.finish(vendorItem, status, this.#items.takeNextIndex);
    return [
      ...events,
      { type: 'response.output_item.done', output_index: streamedItem.index, item: streamedItem.item },
    ];
  }

  /** Returns the item that an event belongs to, and the event that announces the item if it is new. */
  #ensureItem(type: string, data: ResponsesEvent): { readonly item: StreamedItem; readonly events: Events } {
    const item = this.#items.findOrCreate(data, type);
    if (item.isAnnounced) return { item, events: [] };
    const openingForm = toOpeningForm(repairItem({ type }, item.names, 'in_progress'));
    return { item, events: [item.announce(this.#items.takeNextIndex(), openingForm)] };
  }

  /** Returns the part that an event belongs to, and the events that announce the part and its item if they are new. */
  #ensurePart(
    data: ResponsesEvent,
    kind: TextPartKind,
  ): { readonly item: StreamedItem; readonly part: StreamedPart; readonly events: Events } {
    const { item, events } = this.#ensureItem(itemTypeOf(`${kind.events}.delta`) ?? 'message', data);
    const vendorIndex = data[kind.index];
    const knownPart = item.findPart(kind, vendorIndex);
    if (knownPart !== undefined) return { item, part: knownPart, events };
    const part = item.openPart(kind, vendorIndex);
    return { item, part, events: [...events, part.writeAdded(item.location)] };
  }

  #appendDelta(data: ResponsesEvent, kind: TextPartKind): Events {
    const { delta } = data;
    if (typeof delta !== 'string') return [];
    const { item, part, events } = this.#ensurePart(data, kind);
    part.receivedText.add(delta);
    this.lastText = part.receivedText;
    const locatedEvent = withMembers(data, part.locate(item.location));
    return events.length === 0 ? [locatedEvent] : [...events, locatedEvent];
  }

  #endText(data: ResponsesEvent, kind: TextPartKind): Events {
    const { item, part, events } = this.#ensurePart(data, kind);
    if (part.hasEndedText) return events;
    const fullText = data[kind.member];
    const remainder = typeof fullText === 'string' ? part.completeText(item.location, fullText, data.logprobs) : [];
    part.hasEndedText = true;
    const text = typeof fullText === 'string' ? fullText : part.receivedText.text;
    return [...events, ...remainder, withMembers(data, { ...part.locate(item.location), [kind.member]: text })];
  }

  #repairPartEvent(type: string, data: ResponsesEvent): Events {
    const { part: vendorPart } = data;
    const summary = type.includes('summary') ? 'summary_text' : 'output_text';
    const kind = findPartKind(isJsonObject(vendorPart) ? readMember<ResponsesPart>(vendorPart, 'type') : summary);
    if (kind === undefined) return [data];
    return type.endsWith('.added') ? this.#startPart(data, kind, vendorPart) : this.#endPart(data, kind, vendorPart);
  }

  #startPart(data: ResponsesEvent, kind: TextPartKind, vendorPart: JsonValue | undefined): Events {
    const { item, events } = this.#ensureItem(itemTypeOf(`${kind.events}.delta`) ?? 'message', data);
    // An earlier delta may already have opened the part.
    if (item.findPart(kind, data[kind.index]) !== undefined) return events;
    const openedPart = item.openPart(kind, data[kind.index]);
    const part: ResponsesPart = isJsonObject(vendorPart) ? vendorPart : openedPart.write();
    openedPart.receivedText.add(readInputText(part[kind.member]));
    return [...events, withMembers(data, { ...openedPart.locate(item.location), part })];
  }

  #endPart(data: ResponsesEvent, kind: TextPartKind, vendorPart: JsonValue | undefined): Events {
    const { item, part, events } = this.#ensurePart(data, kind);
    const partMembers: ResponsesPart = isJsonObject(vendorPart) ? vendorPart : {};
    const fullText = partMembers[kind.member];
    const remainder = typeof fullText === 'string' ? part.completeText(item.location, fullText) : [];
    const textEnd = part.endText(item.location);
    part.isClosed = true;
    const closedPart =
      typeof fullText === 'string'
        ? partMembers
        : { ...part.write(), ...partMembers, [kind.member]: part.receivedText.text };
    return [
      ...events,
      ...remainder,
      ...textEnd,
      withMembers(data, { ...part.locate(item.location), part: closedPart }),
    ];
  }

  #addCitation(data: ResponsesEvent): Events {
    const { item, part, events } = this.#ensurePart(data, findPartKind('output_text') as TextPartKind);
    const { annotation, annotation_index: vendorIndex } = data;
    if (annotation !== undefined) part.addAnnotation(annotation);
    const index = typeof vendorIndex === 'number' ? vendorIndex : item.citationCount;
    item.citationCount = index + 1;
    return [...events, withMembers(data, { ...part.locate(item.location), annotation_index: index })];
  }

  /** Repairs an event with input of a call. Input is held back until the call has a name. */
  #repairInput(type: string, itemType: string, data: ResponsesEvent): Events {
    const item = this.#items.findOrCreate(data, itemType);
    const name = inputMemberOf(itemType) ?? 'input';
    if (type.endsWith('.delta')) {
      const { delta } = data;
      if (typeof delta !== 'string') return [];
      const text = item.isAnnounced ? item.input : item.heldInput;
      text.add(delta);
      if (!item.isAnnounced) return [];
      this.lastText = text;
      return [withMembers(data, item.location)];
    }
    const fullInput = readInputText(data[name]) || item.input.text || (name === 'arguments' ? '{}' : '');
    if (!item.isAnnounced) item.heldInput.add(item.heldInput.findMissingEnd(fullInput));
    if (!item.isAnnounced || item.hasEndedInput) return [];
    const remainder = item.completeInput(fullInput);
    item.hasEndedInput = true;
    return [...remainder, withMembers(data, { ...item.location, [name]: fullInput })];
  }

  /** Repairs an event of a tool that the vendor runs itself. */
  #repairHostedEvent(type: string, data: ResponsesEvent): Events {
    const { item, events } = this.#ensureItem(type, data);
    return [...events, withMembers(data, item.location)];
  }
}

/** Removes the input of a starting call and holds it back, because clients append deltas to the opening input. */
function holdBackInput(item: ResponsesItem, streamedItem: StreamedItem): ResponsesItem {
  const name = inputMemberOf(streamedItem.type);
  if (name === undefined) return item;
  streamedItem.heldInput.add(readInputText(item[name]));
  return withMembers(item, { [name]: '' });
}
